"""Ending what was left open: after a boot, and when the dead man's switch fires."""

import time

from knowngood.node.transaction import clock, switch
from knowngood.node.transaction.durable import Busy, Mutex
from knowngood.node.transaction.generations import Current, Generations
from knowngood.node.transaction.journal import OPEN, Journal, numbers
from knowngood.node.transaction.lock import Lock
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.transaction import Transaction

_PATIENCE = 120.0
_CUT_OFF = "the node went down during the activation"
_UNCONFIRMED = "nobody confirmed it in time"


def recover_after_boot(home: Home) -> None:
    """Finish or undo what the last boot left open. What belongs to this boot is somebody's work."""
    with Mutex(home.transaction_mutex, _PATIENCE):
        for number in numbers(home):
            journal = Journal(home, number)
            record = journal.read()
            if record["state"] in OPEN and record["boot_id"] != clock.boot_id():
                _recover(home, journal, record["state"])
        _finish_confirmed(home)
        Lock(home).rebase()


def _recover(home: Home, journal: Journal, state: str) -> None:
    transaction = Transaction(home, journal.number, booting=True)
    if state == "restoring":
        transaction.back()
    elif state != "active":
        transaction.turn_back(_CUT_OFF)
    elif not transaction.turn_back(_UNCONFIRMED, only_if_expired=True):
        record = journal.read()
        seconds = max(1.0, clock.left(record["until"]))
        switch.arm(journal.number, seconds, record["program"])
        journal.change(boot_id=clock.boot_id(), until=clock.deadline(seconds))


def _finish_confirmed(home: Home) -> None:
    """A confirmation holds once the journal has it; what follows from it may have been cut off."""
    generations = Generations(home)
    for number in numbers(home)[-1:]:
        record = Journal(home, number).read()
        if record["state"] == "confirmed" and number in generations.numbers():
            fields = generations.read(number)
            generations.mark(number, "confirmed")
            Current(home).enter(fields["manifest"], number, fields["settings"], confirmed=True)


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
            return transaction.turn_back(_UNCONFIRMED, only_if_expired=True)
    except Busy:
        record = Journal(home, number).read()
        if record["state"] in OPEN and record["state"] != "restoring" and clock.left(record["until"]) <= 0:
            switch.stop_activation(number)  # it hangs: its deadline is over
        return False
