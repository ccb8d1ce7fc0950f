"""What makes systemd refuse a service whose every line it could read.

Source: systemd.service(5); src/core/service.c (service_verify).
"""

from __future__ import annotations

from knowngood.model import Known
from knowngood.syntax.systemd.lint import Lint
from knowngood.syntax.systemd.unit import Unit


def why_refused(unit: Unit) -> Lint | None:
    """The reason, if there is one. It speaks of the unit as a whole: line 0 of its fragment."""
    if unit.name.kind != "service" or not unit.texts:
        return None
    reason = _reason(unit)
    message = f"systemd loads no such service: {reason}."
    return None if reason is None else Lint(0, "refused", message, unit.texts[0].path)


def _reason(unit: Unit) -> str | None:
    starts = len(unit.commands("ExecStart"))
    oneshot = _type(unit, starts) in ("oneshot", "?")
    acts = _text(unit, "SuccessAction", "Unit") not in ("", "none")
    lasts = acts or (unit.commands("ExecStop") and _text(unit, "RemainAfterExit") in ("yes", "?"))
    if not starts and not (oneshot and lasts):
        return "it has no ExecStart="
    if starts > 1 and not oneshot:
        return "it has more than one command in ExecStart=, which only Type=oneshot may have"
    if oneshot and _text(unit, "Restart") in ("always", "on-success"):
        return f"Restart={_text(unit, 'Restart')} does not go with Type=oneshot"
    if oneshot and _text(unit, "ExitType") == "cgroup":
        return "ExitType=cgroup does not go with Type=oneshot"
    if _type(unit, starts) == "dbus" and not _text(unit, "BusName"):
        return "Type=dbus needs BusName="
    if _text(unit, "PAMName") and _text(unit, "KillMode") not in ("", "control-group", "mixed"):
        return "PAMName= needs KillMode=control-group or mixed"
    return None


def _type(unit: Unit, starts: int) -> str:
    given = _text(unit, "Type")
    if given:
        return given
    return "dbus" if _text(unit, "BusName") else "simple" if starts else "oneshot"


def _text(unit: Unit, directive: str, section: str = "Service") -> str:
    """The known value; "" where nothing sets it, "?" where it can't be told."""
    reading = unit.value(section, directive)
    if isinstance(reading.value, Known):
        return str(reading.value.value)
    return "" if not unit.in_force(f"{section}.{directive}") else "?"
