"""Ending what was left open: after a boot, and when the dead man's switch fires."""

import time

from knowngood.node.ground import Problem
from knowngood.node.transaction import clock, switch
from knowngood.node.transaction.collect import KEEP
from knowngood.node.transaction.durable import Busy, Mutex
from knowngood.node.transaction.journal import OPEN, Journal, confirmed_journals, open_journal
from knowngood.node.transaction.lock import Lock
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.transaction import Transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PATIENCE = 120.0
_RETRY = 15.0
_CUT_OFF = "the node went down during the activation"
_UNCONFIRMED = "nobody confirmed it in time"


def recover_after_boot(home: Home) -> None:
    """Finish or undo what the last boot left open. What belongs to this boot is somebody's work."""
    with Mutex(home.transaction_mutex, _PATIENCE):
        journal = open_journal(home)
        if journal is not None and journal.read()["boot_id"] != clock.boot_id():
            _recover(home, journal)
        settle_confirmed(home)
        Lock(home).rebase()


def _recover(home: Home, journal: Journal) -> None:
    transaction = Transaction(home, journal.number, booting=True)
    record = journal.read()
    try:
        if record["state"] == "restoring":
            transaction.back()
        elif record["state"] != "active":
            transaction.turn_back(_CUT_OFF, refuse=False)
        elif not transaction.turn_back(_UNCONFIRMED, refuse=True, only_if_expired=True):
            _await_confirmation(journal, record)
    except (OSError, Problem):
        switch.arm(journal.number, _RETRY, record["program"])  # perhaps the disk can be written by then
        raise


def _await_confirmation(journal: Journal, record: "dict[str, Any]") -> None:
    """What is left of the deadline by the wall clock is counted by the boot clock from now on."""
    seconds = max(1.0, clock.left(record["until"]))
    switch.arm(journal.number, seconds, record["program"])
    journal.change(boot_id=clock.boot_id(), until=clock.deadline(seconds))


def settle_confirmed(home: Home) -> None:
    """A confirmation holds once the journal has it; what follows from it may have been cut off."""
    for journal in confirmed_journals(home):
        Transaction(home, journal.number).settle(KEEP)


def revert_if_unconfirmed(home: Home, number: int) -> None:
    """What the switch fires: wait out a deadline that was moved, then undo, unless it is closed by then."""
    journal = Journal(home, number)
    while True:
        record = journal.read()
        if record["state"] not in OPEN:
            switch.disarm(number, from_within=True)
            return
        seconds = clock.left(record["until"])
        if seconds > 0 and record["state"] != "restoring":
            time.sleep(min(seconds, 1.0))
        elif _revert(home, number):
            return


def _revert(home: Home, number: int) -> bool:
    """Undo under the mutex; False where that is not possible yet, or the deadline was moved just now."""
    try:
        with Mutex(home.transaction_mutex, 2.0):
            transaction = Transaction(home, number, switch_fired=True)
            if transaction.journal.read()["state"] == "restoring":
                transaction.back()
                return True
            return transaction.turn_back(_UNCONFIRMED, refuse=True, only_if_expired=True)
    except Busy:
        record = Journal(home, number).read()
        if record["state"] in OPEN and record["state"] != "restoring" and clock.left(record["until"]) <= 0:
            switch.stop_activation(number)  # it hangs: its deadline is over
        return False
