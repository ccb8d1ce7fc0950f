"""What no writing of ours would mend: no such unit, a drop-in that sorts after ours, and the like."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from knowngood.model import Desired, Finding, Observation, Setting, Unknown
from knowngood.rollout.plan import Blocker
from knowngood.rollout.told import told

_BAD_LOADS = ("error", "bad-setting", "masked", "not-found")


def is_unusable(observation: Observation) -> bool:
    """Whether systemd has no such unit, or would not start it whatever else is right."""
    return observation.unit.load_state in _BAD_LOADS


def unit_blockers(
    desired: Desired, observation: Observation, findings: Sequence[Finding]
) -> Iterator[Blocker]:
    """What is wrong with the unit itself."""
    unit = observation.unit
    if not findings:
        return
    if unit.load_state == "not-found":
        if desired.active:
            yield Blocker("unit:active", f"no such unit: {unit.name}", "install the unit's file first")
    elif unit.load_state == "masked":
        yield Blocker("unit:active", "the unit is masked", f"systemctl unmask {unit.name}")
    elif is_unusable(observation):
        reason = f"systemd refuses the unit: {unit.load_state}"
        yield Blocker("unit:active", reason, f"systemd-analyze verify {unit.name}, on the node, says why")
    for finding in findings:
        if "stop" in finding.mend and not finding.accepted:
            yield Blocker("unit:active", "the unit runs, and should not", f"systemctl stop {unit.name}")


def after_writing(desired: Desired, due: Collection[Setting], after: Sequence[Finding]) -> Iterator[Blocker]:
    """Settings that would still not be as wanted on disk, were all the plan's contents there."""
    for finding in after:
        disk = finding.layers.disk
        if finding.accepted or finding.setting.kind == "unit":
            continue
        if "write" in finding.mend or (finding.setting in due and isinstance(disk, Unknown)):
            yield _still_wrong(desired, finding)


def _still_wrong(desired: Desired, finding: Finding) -> Blocker:
    where = finding.evidence[0] if finding.evidence else ""
    path = where.rpartition(":")[0]
    address, value = str(finding.setting), told(finding.layers.disk)
    by_unit = finding.setting.kind == "systemd" or finding.setting.name in desired.unit_env
    if by_unit and path.endswith(".conf"):
        reason = f"{where} sorts after our {desired.dropin} and wins with {value}"
        return Blocker(address, reason, f"take the line out of {path}, or give systemd: dropin a later name")
    if by_unit and path:
        return Blocker(address, f"{where} still says {value}", f"take the line out of {path} by hand")
    source = desired.script.source if desired.script is not None else None
    if finding.setting.kind in ("env", "arg") and source is not None:
        advice = "put it into the script's source, or take it out of the manifest"
    else:
        advice = "mend it by hand, or take it out of the manifest"
    at = f" ({where})" if where else ""
    return Blocker(address, f"it would still be {value} after writing{at}", advice)
