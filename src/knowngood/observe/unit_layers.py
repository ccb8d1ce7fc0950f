"""`unit:active` and `unit:enabled`: whether the unit runs, and whether it starts at boot."""

from __future__ import annotations

from knowngood.model import Desired, Known, Observation, Setting, UnitState, Unknown, Value
from knowngood.observe.draft import Draft

ACTIVE = Setting("unit", "active")
ENABLED = Setting("unit", "enabled")


def add_unit(draft: Draft, desired: Desired, observation: Observation) -> None:
    """Enter both settings. A unit that does not exist has no layer at all, only the evidence."""
    unit = observation.unit
    if unit.load_state == "not-found":
        draft.add(ACTIVE, notes=[f"no such unit: {unit.name}"])
        return
    draft.add(ACTIVE, running=_activity(unit, wanted=desired.active), notes=_how_it_fares(unit))
    if desired.enabled is not None:
        state = unit.unit_file_state
        value: Value = Known(state) if state else Unknown("systemd does not say whether the unit is enabled")
        draft.add(ENABLED, disk=value)


def _activity(unit: UnitState, *, wanted: bool) -> Value:
    """The active state, as far as it can be compared with the wish for one."""
    state = unit.active_state
    if not state:
        return Unknown("systemd did not answer for the unit")
    if unit.load_state == "masked":
        return Known("masked")
    if state == "reloading":
        return Known("active")
    if state == "activating":
        # Between the tries of a restart loop there is no process, whatever the state is called.
        waiting = unit.sub_state.startswith("auto-restart")
        return Known(f"activating ({unit.sub_state})") if waiting else Unknown("the unit is still starting")
    if state == "failed" and not wanted:
        return Known("inactive")
    return Known(state)


def _how_it_fares(unit: UnitState) -> list[str]:
    told = unit.properties.get
    notes = [f"{unit.active_state or '?'} ({unit.sub_state or '?'}), load state {unit.load_state or '?'}"]
    result, status = told("Result", ""), told("ExecMainStatus", "")
    if result not in ("", "success"):
        notes.append(f"last result: {result}" + (f", exit status {status}" if status else ""))
    if unit.n_restarts:
        notes.append(f"restarted {unit.n_restarts} times by systemd")
    return notes
