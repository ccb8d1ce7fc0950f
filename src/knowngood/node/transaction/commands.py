"""The commands of the node's program: a JSON object in, a JSON object out. docs/node-program.md tells each.

Every answer has "ok"; where that is false, "reason" says why, for people.
"""

import time

from knowngood.node.ground import Problem
from knowngood.node.transaction import journal as journals
from knowngood.node.transaction import switch
from knowngood.node.transaction.contents import is_secret
from knowngood.node.transaction.durable import Mutex
from knowngood.node.transaction.evidence import evidence
from knowngood.node.transaction.generations import Current, Generations, Refused
from knowngood.node.transaction.generations import summary as set_summary
from knowngood.node.transaction.installed import install, own_program
from knowngood.node.transaction.journal import OPEN, Journal, open_journal
from knowngood.node.transaction.lock import Lock
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.prepare import Mismatch, prepare
from knowngood.node.transaction.reasons import why
from knowngood.node.transaction.request import Wanted
from knowngood.node.transaction.staging import need as needed
from knowngood.node.transaction.store import Store
from knowngood.node.transaction.transaction import Transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Request = dict[str, Any]
    Answer = dict[str, Any]

_PATIENCE = 20.0
_KEEP = 5
_WINDOW = 900.0
_LONGEST_WINDOW = 86400.0
_FOLLOW = 0.02
_LOST = 1.0  # seconds between looks whether the transaction's unit is still there


def lock(home: Home, asked: "Request") -> "Answer":
    """Take the node's lock; with it comes what is to be ended first."""
    held = Lock(home).take(asked)
    pending = _pending(home)
    if held is not None:
        reason = "locked by %s on %s" % (held["user"], held["host"])
        return {"ok": False, "reason": reason, "held_by": held, "pending": pending}
    return {"ok": True, "held_by": None, "pending": pending}


def renew(home: Home, asked: "Request") -> "Answer":
    """Lengthen the lock's lease."""
    Lock(home).renew(asked["token"], asked)
    return {"ok": True}


def unlock(home: Home, asked: "Request") -> "Answer":
    """Give the lock back, or with `force` take it away."""
    return {"ok": True, "was_locked": Lock(home).release(asked.get("token"), bool(asked.get("force")))}


def need(home: Home, asked: "Request") -> "Answer":
    """What the store lacks, and whether there is room."""
    return dict(needed(home, asked["blobs"], asked.get("targets", [])), ok=True)


def keep(home: Home, asked: "Request") -> "Answer":
    """Take an upload into the store, or several: [{"incoming", "sha256"}]."""
    for each in asked.get("uploads", [asked]):
        Store(home).keep(each["incoming"], each["sha256"])
    return {"ok": True}


def activate(home: Home, asked: "Request") -> "Answer":
    """Begin a transaction; it goes on in a unit of its own. See `wait`."""
    wanted = Wanted(home, asked["set"])
    with Mutex(home.transaction_mutex, _PATIENCE):
        _check_turn(home, asked)
        refused = Refused(home).find(wanted.content)
        if refused is not None and not asked.get("again"):
            return {"ok": False, "reason": "this content was rolled back from here", "refused": refused}
        journal = _begin(home, wanted, asked, None)
        if refused is not None:
            Refused(home).forget(wanted.content)
    return _follow(home, journal.number, asked)


def restore(home: Home, asked: "Request") -> "Answer":
    """Go back: undo the open transaction, or without one bring an older generation by a new transaction."""
    pending = open_journal(home)
    if pending is not None and asked.get("generation") in (None, pending.read()["former"]):
        return _undo(home, pending, asked)
    with Mutex(home.transaction_mutex, _PATIENCE):
        _check_turn(home, asked)
        number = _former_of(home, asked)
        older = Generations(home).read(number)
        wanted = Wanted(home, _as_request(home, older))
        journal = _begin(home, wanted, dict(asked, start=asked.get("start", False)), number)
        if asked.get("refuse", True):
            _refuse_current(
                home, older["manifest"], str(asked.get("why") or "restored generation %d" % number)
            )
    return _follow(home, journal.number, asked)


def _begin(home: Home, wanted: Wanted, asked: "Request", restores: "int | None") -> Journal:
    program = own_program()
    install(home, program, wanted.unit)
    options = {
        "restart": bool(asked.get("restart", False)),
        "start": bool(asked.get("start", False)),
        "reload": bool(asked.get("reload", False)),
        "window_s": _window(asked),
        "restores": restores,
        "program": program,
    }
    journal = prepare(home, wanted, options)
    try:
        switch.launch(journal.number, program)
    except (OSError, Problem) as error:
        Transaction(home, journal.number).turn_back(why(error))
    return journal


def _undo(home: Home, journal: Journal, asked: "Request") -> "Answer":
    Lock(home).check(asked.get("token"))
    switch.stop_activation(journal.number)
    with Mutex(home.transaction_mutex, _PATIENCE):
        record = journal.read()
        if record["state"] in journals.NOTHING_LIVE:
            Transaction(home, journal.number).turn_back(str(asked.get("why") or "taken back"))
        elif journal.begin_restoring(str(asked.get("why") or "taken back"), only_if_expired=False):
            switch.launch(journal.number, record["program"])
    return _follow(home, journal.number, asked)


def _check_turn(home: Home, asked: "Request") -> None:
    Lock(home).check(asked.get("token"))
    pending = open_journal(home)
    if pending is not None:
        raise Problem("generation %d is %s: end that first" % (pending.number, pending.read()["state"]))


def _former_of(home: Home, asked: "Request") -> int:
    """The generation that is asked for, or the one before the role's present one."""
    if asked.get("generation") is not None:
        return int(asked["generation"])
    roles = Current(home).roles()
    manifest = asked.get("manifest") or (next(iter(roles)) if len(roles) == 1 else None)
    if manifest not in roles:
        raise Problem("which manifest? Activated here: " + (", ".join(sorted(roles)) or "none"))
    former = Generations(home).read(roles[manifest]["generation"]).get("former")
    if former is None:
        raise Problem("there is no generation before the present one")
    return int(former)


def _as_request(home: Home, older: "dict[str, Any]") -> "dict[str, Any]":
    asked = dict(older)
    asked["entries"] = [
        dict(entry, owner=entry.get("uid"), group=entry.get("gid"))
        for entry in older["entries"]
        if not is_secret(entry)
    ]
    asked["secrets"] = {}
    for entry in older["entries"]:
        if is_secret(entry):
            name = entry["path"].rpartition("/")[2]
            asked["secrets"][name] = None if entry["kept"] is None else _kept_text(home, entry["kept"], name)
    return asked


def _kept_text(home: Home, number: int, name: str) -> str:
    with open(home.kept_secrets + b"/%d/" % number + name.encode("utf-8", "surrogateescape"), "rb") as file:
        return file.read().decode("utf-8", "surrogateescape")


def _refuse_current(home: Home, manifest: str, reason: str) -> None:
    role = Current(home).role(manifest)
    if role:
        present = Generations(home).read(role["generation"])
        if present.get("content"):
            Refused(home).add(present, reason)


def wait(home: Home, asked: "Request") -> "Answer":
    """Follow a transaction until it waits for its confirmation or is closed, or the time is up."""
    return _follow(home, int(asked["generation"]), dict(asked, follow_s=asked.get("timeout_s", 60)))


def _follow(home: Home, number: int, asked: "Request") -> "Answer":
    journal = Journal(home, number)
    ends = time.monotonic() + float(asked.get("follow_s", 0))
    looked = time.monotonic()
    while True:
        record = journal.read()
        goes_on = record["state"] in OPEN and record["state"] != "active"
        if not goes_on or time.monotonic() >= ends:
            return _told(record, interrupted=False)
        if time.monotonic() - looked > _LOST:
            looked = time.monotonic()
            if not switch.is_running(number) and journal.read()["state"] == record["state"]:
                return _told(journal.read(), interrupted=True)
        time.sleep(_FOLLOW)


def _told(record: "dict[str, Any]", interrupted: bool) -> "Answer":
    told = journals.summary(record)
    told["ok"] = record["state"] in ("prepared", "armed", "live", "active", "confirmed") and not interrupted
    told["interrupted"] = interrupted
    if not told["ok"]:
        cut = "nothing is at work on it" if interrupted else None
        told["reason"] = cut or record["error"] or record["why"] or record["state"]
    return told


def heartbeat(home: Home, asked: "Request") -> "Answer":
    """Move the deadline of an open transaction, and the lock's lease with it."""
    Lock(home).check(asked.get("token"))
    journal = Journal(home, int(asked["generation"]))
    if not journal.extend(_window(asked)):
        record = journal.read()
        return dict(_told(record, False), ok=False, reason="it is %s" % record["state"])
    if "lease_s" in asked:
        Lock(home).renew(asked["token"], asked)
    record = journal.read()
    if record["state"] != "prepared":
        switch.arm(journal.number, _window(asked), record["program"])
    return _told(journal.read(), False)


def confirm(home: Home, asked: "Request") -> "Answer":
    """Close a transaction as good. It answers so only when the journal on disk does."""
    Lock(home).check(asked.get("token"))
    number = int(asked["generation"])
    with Mutex(home.transaction_mutex, _PATIENCE):
        done = Transaction(home, number).confirm(int(asked.get("keep_generations", _KEEP)))
    record = Journal(home, number).read()
    told = _told(record, False)
    if not done:
        told.update(ok=False, reason="it can't be confirmed: it is %s" % record["state"])
    return told


def status(home: Home, asked: "Request") -> "Answer":
    """All that the node knows of itself as a target of changes. Reads only."""
    generations = Generations(home)
    pending = open_journal(home)
    return {
        "ok": True,
        "lock": Lock(home).holder(),
        "pending": _pending(home),
        "armed": pending is not None and switch.is_armed(pending.number),
        "current": Current(home).roles(),
        "generations": [set_summary(generations.read(number)) for number in generations.numbers()],
        "journals": [journals.summary(Journal(home, number).read()) for number in journals.numbers(home)],
        "refused": Refused(home).all(),
    }


def evidence_of(home: Home, asked: "Request") -> "Answer":
    """The end of a unit's log, and its processes."""
    return dict(evidence(home, asked["unit"], int(asked.get("lines", 100))), ok=True)


def _pending(home: Home) -> "dict[str, Any] | None":
    journal = open_journal(home)
    if journal is None:
        return None
    told = journals.summary(journal.read())
    told["running"] = switch.is_running(journal.number)
    return told


def _window(asked: "Request") -> float:
    return min(_LONGEST_WINDOW, max(1.0, float(asked.get("confirm_within_s", _WINDOW))))


def mismatch(error: Problem) -> "Answer":
    """The answer where something is refused."""
    told = {"ok": False, "reason": str(error)}  # type: dict[str, Any]
    if isinstance(error, Mismatch):
        told["paths"] = error.paths
    return told


COMMANDS = {
    "lock": lock,
    "renew": renew,
    "unlock": unlock,
    "need": need,
    "keep": keep,
    "activate": activate,
    "wait": wait,
    "heartbeat": heartbeat,
    "confirm": confirm,
    "restore": restore,
    "status": status,
    "evidence": evidence_of,
}
