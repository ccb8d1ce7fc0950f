"""One round of a gate: the unit runs as it should, answers, and it is the unit's own process that answers."""

import time

from knowngood.node.cgroup import Cgroup
from knowngood.node.ground import Problem
from knowngood.node.transaction import listeners
from knowngood.node.transaction.asking import Answer, ask, judge
from knowngood.node.transaction.lock import start_ticks
from knowngood.node.transaction.reasons import why
from knowngood.node.transaction.unit import Unit, is_unit_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def gate(asked: "dict[str, Any]") -> "dict[str, Any]":
    """{"ok", "reason", "response", "status", "listener_pid", "unit", "took_s"}.

    `asked`: unit, health (as in the manifest; {} asks systemd alone), seconds, and what must not have changed
    since: invocation_id, restarts, pid with start_ticks; each only where it is given.
    """
    if not is_unit_name(asked["unit"]):
        raise Problem("not the name of a unit")
    began = time.monotonic()
    unit = Unit(asked["unit"])
    shown = unit.show()
    told = {"unit": shown, "response": None, "status": None, "listener_pid": None}  # type: dict[str, Any]
    try:
        _check_unit(shown, asked)
        health = asked.get("health") or {}
        if health:
            answer = ask(health, float(asked.get("seconds", 10)))
            told.update(response=answer.text, status=answer.status)
            judge(health, answer)
            if answer.peer is not None:
                told["listener_pid"] = _listener(unit, shown, answer)
            _check_unit(unit.show(), asked)
        told.update(ok=True, reason=None)
    except (OSError, Problem) as error:
        told.update(ok=False, reason=why(error))
    told["took_s"] = round(time.monotonic() - began, 3)
    return told


def _check_unit(shown: "dict[str, Any]", asked: "dict[str, Any]") -> None:
    if shown["active"] != "active":
        raise Problem("the unit is %s (%s)" % (shown["active"], shown["sub"] or shown["result"]))
    if "restarts" in asked and shown["restarts"] > int(asked["restarts"]):
        raise Problem("the unit was restarted %d times since" % (shown["restarts"] - int(asked["restarts"])))
    if asked.get("invocation_id") and shown["invocation_id"] != asked["invocation_id"]:
        raise Problem("the unit was started anew since")
    if "start_ticks" in asked and start_ticks(int(asked["pid"])) != asked["start_ticks"]:
        raise Problem("process %d is gone" % int(asked["pid"]))


def _listener(unit: Unit, shown: "dict[str, Any]", answer: Answer) -> int:
    """The unit's process that listens where the answer came from; Problem where another one does."""
    address, port = answer.peer or ("", 0)
    inodes = listeners.listening_inodes(address, port)
    if not inodes:
        raise Problem("nothing on this node listens at %s port %d" % (address, port))
    pids = Cgroup(unit.control_group(), shown["main_pid"]).pids()
    for inode in inodes:
        if listeners.owner_among(pids, {inode}) is None:
            other = listeners.owner_among(listeners.everyone(), {inode})
            named = "a process outside the unit"
            if other is not None:
                named = "process %d (%s), which is not of the unit," % (other, listeners.name_of(other))
            raise Problem("%s listens at %s port %d" % (named, address, port))
    return listeners.owner_among(pids, inodes) or 0
