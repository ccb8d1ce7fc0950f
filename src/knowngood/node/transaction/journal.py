"""The write-ahead journal: what a transaction is about to do, on disk before it is done.

journal/N.json holds all that it takes to end the transaction, either way. `state` goes

    prepared → armed → live → active → confirmed
       ↓ failed          ↘       ↘ restoring → restored

where up to `armed` nothing live has changed. Only the holder of the transaction's mutex moves the state; the
deadline may be moved by anyone under the journal's own, so that a heartbeat never waits for a restart.
"""

import os

from knowngood.node.ground import Problem
from knowngood.node.transaction import clock
from knowngood.node.transaction.durable import Mutex, read_json, write_json
from knowngood.node.transaction.places import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPEN = ("prepared", "armed", "live", "active", "restoring")
NOTHING_LIVE = ("prepared", "armed")
_PATIENCE = 10.0
_KEPT = 20  # closed journals, for those who ask what happened


class Journal:
    """The journal of one transaction, by its generation's number."""

    def __init__(self, home: Home, number: int) -> None:
        self._home = home
        self._path = home.journal + b"/%d.json" % number
        self.number = number

    def read(self) -> "dict[str, Any]":
        """The record as it is; Problem where there is none."""
        record = read_json(self._path)
        if record is None:
            raise Problem("this node knows of no transaction %d" % self.number)
        return record

    def create(self, fields: "dict[str, Any]", seconds: float) -> None:
        """Open the journal: from here on the transaction is to be ended."""
        record = dict(fields, version=1, generation=self.number, state="prepared", steps=[], attempts=0)
        record.update(why=None, error=None, refuse=False, settled=False, unit_after=None)
        record.update(made_folders=[], touched=[], overwrote=[])
        record.update(boot_id=clock.boot_id(), window_s=seconds, until=clock.deadline(seconds))
        write_json(self._path, record)

    def change(self, **fields: "Any") -> "dict[str, Any]":
        """Set some fields; the record as it is now."""
        with Mutex(self._home.journal_mutex, _PATIENCE):
            record = dict(self.read(), **fields)
            write_json(self._path, record)
            return record

    def step(self, text: str, **fields: "Any") -> "dict[str, Any]":
        """Say what comes next, and set some fields with it."""
        with Mutex(self._home.journal_mutex, _PATIENCE):
            record = dict(self.read(), **fields)
            record["steps"] = record["steps"] + [{"step": text, "at": clock.wall_time()}]
            write_json(self._path, record)
            return record

    def has_step(self, *names: str) -> bool:
        """Whether one of these steps was begun."""
        return any(each["step"] in names for each in self.read()["steps"])

    def extend(self, seconds: float) -> bool:
        """Move the deadline, where the transaction still goes forward. Whether it does."""
        with Mutex(self._home.journal_mutex, _PATIENCE):
            record = self.read()
            if record["state"] not in OPEN or record["state"] == "restoring":
                return False
            write_json(self._path, dict(record, window_s=seconds, until=clock.deadline(seconds)))
            return True

    def begin_restoring(self, why: str, refuse: bool, only_if_expired: bool) -> bool:
        """Turn back, unless it is closed, or the deadline has been moved. Whether it is restoring now.

        `refuse`: the content is to blame, and not to be activated again unasked.
        """
        with Mutex(self._home.journal_mutex, _PATIENCE):
            record = self.read()
            if record["state"] == "restoring":
                return True
            if record["state"] not in OPEN or (only_if_expired and clock.left(record["until"]) > 0):
                return False
            steps = record["steps"] + [{"step": "restore", "at": clock.wall_time()}]
            write_json(self._path, dict(record, state="restoring", why=why, refuse=refuse, steps=steps))
            return True


def numbers(home: Home) -> "list[int]":
    """All transactions that the node has a journal of, oldest first."""
    names = [name[:-5] for name in os.listdir(home.journal) if name.endswith(b".json")]
    return sorted(int(name) for name in names if name.isdigit())


def open_journal(home: Home) -> "Journal | None":
    """The transaction that is to be ended, where there is one."""
    for number in reversed(numbers(home)):
        journal = Journal(home, number)
        if journal.read()["state"] in OPEN:
            return journal
    return None


def confirmed_journals(home: Home) -> "list[Journal]":
    """What is confirmed, but was cut off before all that follows from it was done."""
    journals = [Journal(home, number) for number in numbers(home)]
    records = [(journal, journal.read()) for journal in journals]
    return [each for each, record in records if record["state"] == "confirmed" and not record["settled"]]


def drop_old(home: Home) -> None:
    """Forget what closed long ago."""
    for number in numbers(home)[:-_KEPT]:
        if Journal(home, number).read()["state"] not in OPEN:
            os.unlink(home.journal + b"/%d.json" % number)


def summary(record: "dict[str, Any]") -> "dict[str, Any]":
    """A transaction as others need to know it."""
    names = (
        "generation",
        "former",
        "manifest",
        "unit",
        "commit",
        "content",
        "state",
        "steps",
        "why",
        "error",
    )
    told = {name: record.get(name) for name in names}
    told.update({name: record.get(name) for name in ("restores", "before", "unit_after", "overwrote")})
    told["left_s"] = round(clock.left(record["until"]), 1) if record["state"] in OPEN else None
    told["this_boot"] = record["boot_id"] == clock.boot_id()
    return told
