"""The process side of a transaction: restart what calls for it, and bring back what ran before."""

from knowngood.node.ground import Problem
from knowngood.node.transaction.journal import Journal
from knowngood.node.transaction.unit import Unit, runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST = 3600.0  # seconds for systemd to call a service started; the dead man's switch comes first
RESTARTS = ("restart", "start")


def go_on(journal: Journal, record: "dict[str, Any]") -> None:
    """Restart the unit where the transaction calls for it.

    One that was stopped on purpose is started only where that was asked for. Problem where systemd says no.
    """
    unit = Unit(record["unit"])
    shown = unit.show()
    stopped = not runs(shown) and shown["active"] != "failed"
    if stopped and not record["start"]:
        if record["restart"]:
            journal.step("not restarted: the unit is stopped")
    elif record["restart"] or (record["start"] and not runs(shown)):
        if journal.has_step(*RESTARTS) and runs(shown) and _is_new(record["before"], shown):
            return  # it was restarted before this process took over
        unit.reset_failed()
        if stopped:
            journal.step("start")
            unit.start(_LONGEST)
        else:
            journal.step("restart")
            unit.restart(_LONGEST)


def go_back(journal: Journal, record: "dict[str, Any]", booting: bool) -> None:
    """Let the unit run as it did before, where it may have started with anything else since."""
    unit = Unit(record["unit"])
    before, shown = record["before"], unit.show()
    if booting:
        if runs(shown) and shown["main_pid"]:
            unit.queue("restart")
        return
    touched = journal.has_step(*RESTARTS) or _is_new(before, shown)
    if before["active"] in ("inactive", ""):
        if touched and runs(shown):
            journal.step("restore: stop")
            unit.stop(_LONGEST)
        if touched:
            unit.reset_failed()
    elif touched or (runs(before) and not runs(shown)):
        unit.reset_failed()
        journal.step("restore: restart")
        _restart_as_before(unit, before)


def _restart_as_before(unit: Unit, before: "dict[str, Any]") -> None:
    try:
        unit.restart(_LONGEST)
    except Problem:
        if runs(before):
            raise  # else it failed before as it does now


def _is_new(before: "dict[str, Any]", shown: "dict[str, Any]") -> bool:
    """Whether the unit was started since: each start has an invocation ID of its own (systemd.exec(5))."""
    return bool(before["invocation_id"] != shown["invocation_id"])


def check_no_worse(record: "dict[str, Any]", after: "dict[str, Any]") -> None:
    """Problem where the unit ran before and does not now."""
    if runs(record["before"]) and not runs(after):
        raise Problem("%s ran before and is %s now" % (record["unit"], after["active"]))
