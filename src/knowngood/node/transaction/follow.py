"""Following a transaction from outside: by its journal, and by whether anything is still at work on it."""

import time

from knowngood.node.transaction import switch
from knowngood.node.transaction.journal import OPEN, Journal, open_journal, summary
from knowngood.node.transaction.places import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LOOK = 0.02  # seconds between looks at the journal
_LOOK_AT_UNIT = 1.0
_LOST = 3  # looks in a row without a unit at work: a unit that was asked for may take a moment to start
_FORWARD = ("prepared", "armed", "live", "active", "confirmed")


def follow(home: Home, number: int, seconds: float) -> "dict[str, Any]":
    """The answer once a transaction waits for its confirmation or is closed, or the time is up."""
    journal = Journal(home, number)
    ends = time.monotonic() + seconds
    next_look = time.monotonic() + _LOOK_AT_UNIT
    lost = 0
    while True:
        record = journal.read()
        goes_on = record["state"] in OPEN and record["state"] != "active"
        if not goes_on or time.monotonic() >= ends:
            return told(record)
        if time.monotonic() >= next_look:
            next_look = time.monotonic() + _LOOK_AT_UNIT
            lost = 0 if switch.is_running(number) else lost + 1
            if lost == _LOST:
                return told(journal.read(), interrupted=True)
        time.sleep(_LOOK)


def told(record: "dict[str, Any]", interrupted: bool = False) -> "dict[str, Any]":
    """The answer about one transaction. It is "ok" while it goes forward, and when it is confirmed."""
    answer = summary(record)
    answer["ok"] = record["state"] in _FORWARD and not interrupted
    answer["interrupted"] = interrupted
    if not answer["ok"]:
        said = record["error"] or record["why"] or record["state"]
        answer["reason"] = "nothing is at work on it: %s" % said if interrupted else said
    return answer


def pending(home: Home) -> "dict[str, Any] | None":
    """The transaction that is to be ended first; None where there is none."""
    journal = open_journal(home)
    if journal is None:
        return None
    answer = summary(journal.read())
    answer["running"] = switch.is_running(journal.number)
    return answer
