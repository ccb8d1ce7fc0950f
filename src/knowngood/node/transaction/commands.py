"""The commands of the node's program: a JSON object in, a JSON object out. docs/node-program.md tells each.

Every answer has "ok"; where that is false, "reason" says why, for people. What only some commands need is
imported by them: a command costs the node little more than its Python's start.
"""

import os

from knowngood.node.ground import Problem
from knowngood.node.transaction import switch
from knowngood.node.transaction.collect import KEEP
from knowngood.node.transaction.durable import Mutex
from knowngood.node.transaction.follow import follow, pending, told
from knowngood.node.transaction.generations import Current, Generations, Refused
from knowngood.node.transaction.generations import summary as set_summary
from knowngood.node.transaction.journal import Journal, numbers, open_journal, summary
from knowngood.node.transaction.lock import Lock
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.request import window
from knowngood.node.transaction.store import Store
from knowngood.node.transaction.transaction import Transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Request = dict[str, Any]
    Answer = dict[str, Any]

_PATIENCE = 20.0
_TIMEOUT = 60.0


def _lock(home: Home, asked: "Request") -> "Answer":
    """Take the node's lock; with it comes what is to be ended first."""
    held = Lock(home).take(asked)
    answer = {"ok": held is None, "held_by": held, "pending": pending(home)}  # type: dict[str, Any]
    if held is not None:
        answer["reason"] = "locked by %s on %s" % (held["user"], held["host"])
    return answer


def _renew(home: Home, asked: "Request") -> "Answer":
    Lock(home).renew(asked["token"], asked)
    return {"ok": True}


def _unlock(home: Home, asked: "Request") -> "Answer":
    return {"ok": True, "was_locked": Lock(home).release(asked.get("token"), bool(asked.get("force")))}


def _install(home: Home, asked: "Request") -> "Answer":
    from knowngood.node.transaction.installed import install, own_program

    with Mutex(home.transaction_mutex, _PATIENCE):
        changed = install(home, own_program(), asked.get("unit"), asked.get("paths", []))
    return {"ok": True, "changed": changed}


def _need(home: Home, asked: "Request") -> "Answer":
    from knowngood.node.transaction.staging import need

    return dict(need(home, asked["blobs"], asked.get("targets", [])), ok=True)


def _keep(home: Home, asked: "Request") -> "Answer":
    """Take an upload into the store, or several."""
    for each in asked.get("uploads", [asked]):
        Store(home).keep(each["incoming"], each["sha256"])
    return {"ok": True}


def _activate(home: Home, asked: "Request") -> "Answer":
    """Begin a transaction, which goes on in a unit of its own, and follow it for a while."""
    from knowngood.node.transaction.beginning import begin

    return follow(home, begin(home, asked), float(asked.get("follow_s", 0)))


def _restore(home: Home, asked: "Request") -> "Answer":
    """Undo the open transaction; where none is open, bring an older set by a new transaction."""
    from knowngood.node.transaction.beginning import begin_older, undo

    journal = open_journal(home)
    if journal is not None and asked.get("generation") in (None, journal.read()["former"]):
        number = undo(home, journal, asked)
    else:
        number = begin_older(home, asked)
    return follow(home, number, float(asked.get("follow_s", 0)))


def _wait(home: Home, asked: "Request") -> "Answer":
    return follow(home, int(asked["generation"]), float(asked.get("timeout_s", _TIMEOUT)))


def _heartbeat(home: Home, asked: "Request") -> "Answer":
    """Move the deadline of an open transaction, and the lock's lease with it."""
    Lock(home).check(asked.get("token"))
    journal = Journal(home, int(asked["generation"]))
    if not journal.extend(window(asked)):
        record = journal.read()
        return dict(told(record), ok=False, reason="it is %s" % record["state"])
    if "lease_s" in asked:
        Lock(home).renew(asked["token"], asked)
    record = journal.read()
    if record["state"] != "prepared":
        switch.arm(journal.number, window(asked), record["program"])
    return told(journal.read())


def _confirm(home: Home, asked: "Request") -> "Answer":
    """Close a transaction as good. It answers so only when the journal on disk does."""
    Lock(home).check(asked.get("token"))
    number = int(asked["generation"])
    with Mutex(home.transaction_mutex, _PATIENCE):
        done = Transaction(home, number).confirm(int(asked.get("keep_generations", KEEP)))
    record = Journal(home, number).read()
    answer = told(record)
    if not done:
        answer.update(ok=False, reason="it can't be confirmed: it is %s" % record["state"])
    return answer


def _status(home: Home, asked: "Request") -> "Answer":
    """All that the node knows of itself as a target of changes. Reads only."""
    if not os.path.isdir(home.root):
        nothing = {"lock": None, "pending": None, "armed": False, "current": {}}  # type: dict[str, Any]
        return dict(nothing, ok=True, generations=[], journals=[], refused=[])
    generations = Generations(home)
    journal = open_journal(home)
    return {
        "ok": True,
        "lock": Lock(home).holder(),
        "pending": pending(home),
        "armed": journal is not None and switch.is_armed(journal.number),
        "current": Current(home).roles(),
        "generations": [set_summary(generations.read(number)) for number in generations.numbers()],
        "journals": [summary(Journal(home, number).read()) for number in numbers(home)],
        "refused": Refused(home).all(),
    }


def _gate(home: Home, asked: "Request") -> "Answer":
    from knowngood.node.transaction.gate import gate

    return gate(asked)


def _evidence(home: Home, asked: "Request") -> "Answer":
    from knowngood.node.transaction.evidence import evidence

    return dict(evidence(home, asked["unit"], int(asked.get("lines", 100))), ok=True)


READING = ("status", "gate", "evidence")  # these leave a node without knowngood as it is
COMMANDS = {
    "lock": _lock,
    "renew": _renew,
    "unlock": _unlock,
    "install": _install,
    "need": _need,
    "keep": _keep,
    "activate": _activate,
    "wait": _wait,
    "heartbeat": _heartbeat,
    "confirm": _confirm,
    "restore": _restore,
    "status": _status,
    "gate": _gate,
    "evidence": _evidence,
}


def refusal(error: Problem) -> "Answer":
    """The answer where something is refused."""
    return dict({"ok": False, "reason": str(error)}, **getattr(error, "more", {}))
