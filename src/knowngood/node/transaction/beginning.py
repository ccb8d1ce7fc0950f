"""Beginning a transaction: with a new set, with an older one, or back from one that is open.

The three are one: an older set is brought as a new one is, and undoing brings the former set.
"""

from knowngood.node.ground import Problem, raw
from knowngood.node.transaction import switch
from knowngood.node.transaction.contents import is_secret
from knowngood.node.transaction.durable import Mutex
from knowngood.node.transaction.generations import Current, Generations, Refused
from knowngood.node.transaction.installed import install, own_program
from knowngood.node.transaction.journal import NOTHING_LIVE, Journal, open_journal
from knowngood.node.transaction.lock import Lock
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.prepare import prepare
from knowngood.node.transaction.reasons import why as reason_of
from knowngood.node.transaction.recovery import settle_confirmed
from knowngood.node.transaction.request import Wanted, window
from knowngood.node.transaction.transaction import Transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PATIENCE = 20.0


class RefusedContent(Problem):
    """The content was rolled back from here; the answer's "refused" says when and why."""

    def __init__(self, record: "dict[str, Any]") -> None:
        Problem.__init__(self, "this content was rolled back from here: %s" % record["why"])
        self.more = {"refused": record}


def begin(home: Home, asked: "dict[str, Any]") -> int:
    """Begin with a new set; the transaction's number."""
    wanted = Wanted(home, asked["set"])
    with Mutex(home.transaction_mutex, _PATIENCE):
        _check_turn(home, asked)
        refused = Refused(home).find(wanted.content)
        if refused is not None and not asked.get("again"):
            raise RefusedContent(refused)
        return _begin(home, wanted, asked, None)


def begin_older(home: Home, asked: "dict[str, Any]") -> int:
    """Begin with the set of an older generation; the transaction's number."""
    with Mutex(home.transaction_mutex, _PATIENCE):
        _check_turn(home, asked)
        older = Generations(home).read(_older(home, asked))
        return _begin(home, Wanted(home, _as_request(home, older)), asked, older["generation"])


def undo(home: Home, journal: Journal, asked: "dict[str, Any]") -> int:
    """Turn an open transaction back; its number."""
    Lock(home).check(asked.get("token"))
    if journal.read()["state"] == "restoring" and switch.is_running(journal.number):
        return journal.number
    switch.stop_activation(journal.number)
    why, refuse = str(asked.get("why") or "taken back"), bool(asked.get("refuse", True))
    with Mutex(home.transaction_mutex, _PATIENCE):
        record = journal.read()
        if record["state"] in NOTHING_LIVE:
            Transaction(home, journal.number).turn_back(why, refuse)
        elif journal.begin_restoring(why, refuse, only_if_expired=False):
            switch.launch(journal.number, record["program"], back=True)
    return journal.number


def _begin(home: Home, wanted: Wanted, asked: "dict[str, Any]", restores: "int | None") -> int:
    program = own_program()
    settle_confirmed(home)
    install(home, program, wanted.unit, [entry["path"] for entry in wanted.entries])
    options = {name: bool(asked.get(name, False)) for name in ("restart", "start", "reload")}
    more = {"window_s": window(asked), "restores": restores, "program": program}  # type: dict[str, Any]
    if restores is not None and asked.get("refuse", True):
        more["refuses"] = str(asked.get("why") or "generation %d was restored" % restores)
    journal = prepare(home, wanted, dict(options, **more))
    try:
        switch.launch(journal.number, program)
    except (OSError, Problem) as error:
        Transaction(home, journal.number).turn_back(reason_of(error), refuse=False)
    return journal.number


def _check_turn(home: Home, asked: "dict[str, Any]") -> None:
    Lock(home).check(asked.get("token"))
    pending = open_journal(home)
    if pending is not None:
        raise Problem("generation %d is %s: end that first" % (pending.number, pending.read()["state"]))


def _older(home: Home, asked: "dict[str, Any]") -> int:
    """The generation that is asked for, or the one before the role's present one."""
    if asked.get("generation") is not None:
        return int(asked["generation"])
    roles = Current(home).roles()
    manifest = asked.get("manifest") or (next(iter(roles)) if len(roles) == 1 else None)
    if manifest not in roles:
        raise Problem("which manifest? Activated here: " + (", ".join(sorted(roles)) or "none"))
    return _before(Generations(home), int(roles[manifest]["generation"]))


def _before(generations: Generations, number: int) -> int:
    """The one before a generation; before a restored one, that is the one before what it restored."""
    present = generations.read(number)
    if present.get("restores") is not None:
        present = generations.read(present["restores"])
    if present["former"] is None:
        raise Problem("there is no generation before the present one")
    return int(present["former"])


def _as_request(home: Home, older: "dict[str, Any]") -> "dict[str, Any]":
    """A kept set as it would be asked for."""
    entries = [entry for entry in older["entries"] if not is_secret(entry)]
    secrets = {}  # type: dict[str, str | None]
    for entry in older["entries"]:
        if is_secret(entry):
            name = entry["path"].rpartition("/")[2]
            secrets[name] = None if entry["kept"] is None else _kept_text(home, entry["kept"], name)
    plain = [dict(entry, owner=entry.get("uid"), group=entry.get("gid")) for entry in entries]
    return dict(older, entries=plain, secrets=secrets)


def _kept_text(home: Home, number: int, name: str) -> str:
    with open(home.kept_secrets + b"/%d/" % number + raw(name), "rb") as file:
        return file.read().decode("utf-8", "surrogateescape")
