"""What one node lacks for one manifest, and what is in the way of it.

Contents are chosen from the findings; all else is decided by looking at the node as it would be with those
contents on its disk (predict.py), with the same eyes that drift has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from knowngood.drift.compare import compare, secret_texts
from knowngood.drift.wanted import wanted
from knowngood.model import Desired, Failure, Finding, Known, Observation, Seen, Setting, Verdict
from knowngood.observe.see import see
from knowngood.rollout.blockers import after_writing, is_unusable, unit_blockers
from knowngood.rollout.contents import file_changes, is_due, script_change
from knowngood.rollout.diff import masked_diff
from knowngood.rollout.dropin import (
    dropin_path,
    dropin_text,
    leftovers,
    present,
    secret_variables,
    secrets_path,
    secrets_text,
)
from knowngood.rollout.fingerprint import state_of, wants_of
from knowngood.rollout.plan import Because, Blocker, FileChange, NodePlan, NodeState
from knowngood.rollout.policy import health_of
from knowngood.rollout.predict import sha256_of, written
from knowngood.rollout.told import told_loaded, told_running, told_whole
from knowngood.syntax.systemd import CannotCarry

ACTIVE = Setting("unit", "active")
_ATTRIBUTES = ("mode", "owner", "group")


@dataclass(frozen=True, slots=True)
class Ways:
    """How plans are carried out. `python`: the interpreter of the node that writes receipts.

    `vouch`: activation enters what is known of the running process into its receipt. Without it, a file that
    is written while the process already has that content costs a restart, for nothing would prove it then.
    """

    python: str = "/usr/bin/python3"
    vouch: bool = True


def plan_node(
    desired: Desired,
    observation: Observation,
    seen: Seen,
    findings: Sequence[Finding],
    ways: Ways | None = None,
) -> NodePlan:
    """The plan for a node that answered; `seen` and `findings` are of the same observation."""
    ways = ways or Ways()
    blockers = [*unit_blockers(desired, observation, findings)]
    # Without a unit there is nothing to judge contents by.
    steps = _steps(desired, observation, findings, ways) if not is_unusable(observation) else []
    changes = tuple(step for step in steps if isinstance(step, FileChange))
    blockers += [step for step in steps if isinstance(step, Blocker)]
    secrets = _secrets(desired, findings)
    vouched = _vouched(changes, observation, seen) if ways.vouch else {}
    try:
        text = secrets_text(secrets) if secrets else None
    except CannotCarry as error:
        text, secrets = None, {}
        blockers.append(Blocker(secrets_path(desired), str(error), "deliver another text as the secret"))
    then = written(desired, observation, changes, text, vouched)
    after = compare(desired, wanted(desired, then.nonce), see(desired, then), then.activated)
    if not blockers:
        blockers += after_writing(desired, [f.setting for f in findings if is_due(f)], after)
    gone = leftovers(desired, present(desired, observation))
    plan = NodePlan(
        host=desired.host,
        manifest=desired.manifest,
        unit=desired.unit,
        status=NodeState.DUE,
        differs=tuple(Because(str(f.setting), told_whole(f)) for f in _counting(findings)),
        changes=changes,
        secrets=tuple(secrets),
        empties=desired.cache_dirs
        if any(c.kind == "file" and c.loaded and c.writes for c in changes)
        else (),
        reload=tuple(_reloads(after, changes)),
        restart=tuple(_restarts(desired, (*findings, *after), changes, gone, seen)),
        start=tuple(_starts(findings)),
        enable=_enable(findings),
        blockers=tuple(blockers),
        unproved=tuple(Because(str(f.setting), told_whole(f)) for f in after if f.verdict is Verdict.UNKNOWN),
        vouched=tuple(vouched.items()),
        health=health_of(desired.health),
        wants=wants_of(desired),
        state=state_of(desired, observation, findings),
        secret_texts=secrets,
    )
    return replace(plan, status=_status(plan))


def unseen(desired: Desired, failure: Failure) -> NodePlan:
    """The plan for a node that did not answer, or not usefully."""
    return NodePlan(
        host=desired.host,
        manifest=desired.manifest,
        unit=desired.unit,
        status=NodeState(failure.kind),
        error=failure.reason,
        health=health_of(desired.health),
        wants=wants_of(desired),
        state={"observed": failure.kind},
    )


def _status(plan: NodePlan) -> NodeState:
    if plan.blockers:
        return NodeState.BLOCKED
    if plan.has_work:
        return NodeState.DUE
    return NodeState.INCOMPLETE if plan.unproved else NodeState.IN_SYNC


def _steps(
    desired: Desired, observation: Observation, findings: Sequence[Finding], ways: Ways
) -> list[FileChange | Blocker]:
    due = {finding.setting for finding in findings if is_due(finding)}
    steps: list[FileChange | Blocker] = [*file_changes(desired, observation, due)]
    steps += script_change(desired, observation, due, secret_texts(desired))
    ours = present(desired, observation)
    needed = any(
        setting.kind == "systemd" or (setting.kind == "env" and setting.name in desired.unit_env)
        for setting in due
    ) or bool(leftovers(desired, ours))
    # The receipt hook comes along with any change of what the unit loads; it is no reason for one.
    if needed or any(isinstance(step, FileChange) and step.writes for step in steps):
        steps += _dropin(desired, observation, ways)
    return steps


def _dropin(desired: Desired, observation: Observation, ways: Ways) -> list[FileChange | Blocker]:
    path, ours = dropin_path(desired), present(desired, observation)
    if ours is not None and ours.data is None and ours.error != "missing":
        reason = f"our drop-in can't be read: {ours.error}"
        return [Blocker(path, reason, "let root read it, so that it can be brought back")]
    old = None if ours is None else ours.data
    try:
        new = dropin_text(desired, ways.python)
    except CannotCarry as error:
        return [Blocker(path, str(error), "change the value in the manifest to one that systemd can hold")]
    if new == old:
        return []
    diff = masked_diff(old, new, path, secret_texts(desired))
    return [FileChange(path, "dropin", sha256_of(old), sha256_of(new), mode="0644", diff=diff, data=new)]


def _secrets(desired: Desired, findings: Sequence[Finding]) -> dict[str, str]:
    """All secrets of the unit's file, where one of them has to be written."""
    secrets = secret_variables(desired)
    due = {finding.setting.name for finding in findings if finding.setting.kind == "env" and is_due(finding)}
    return secrets if due & secrets.keys() else {}


def _vouched(changes: Sequence[FileChange], observation: Observation, seen: Seen) -> dict[str, str]:
    """Files that the process is known to have as they will be, by evidence that writing them would end."""
    if not observation.unit.invocation_id:
        return {}
    return {
        change.path: change.new
        for change in changes
        if change.loaded
        and change.new
        and seen.running.get(Setting("file", change.path)) == Known(change.new)
    }


def _counting(findings: Sequence[Finding]) -> list[Finding]:
    return [f for f in findings if not f.accepted and f.verdict is not Verdict.UNKNOWN]


def _reloads(after: Sequence[Finding], changes: Sequence[FileChange]) -> list[Because]:
    told = [Because(change.path, "written") for change in changes if change.kind == "dropin"]
    stale = [f for f in after if not f.accepted and "daemon-reload" in f.mend]
    return told + [Because(str(f.setting), told_loaded(f)) for f in stale]


def _restarts(
    desired: Desired,
    findings: Sequence[Finding],
    changes: Sequence[FileChange],
    gone: Sequence[str],
    seen: Seen,
) -> list[Because]:
    """Why a restart is due: what the process has otherwise now, or could not be shown to have then.

    `findings`: those of the node as it is, and as it would be once all is written.
    """
    if not desired.active:
        return []
    telling = [f for f in findings if not f.accepted and ("restart" in f.mend or _has_failed(f))]
    due = {f.setting: f for f in reversed(telling)}.values()
    files = {str(Setting("file", change.path)) for change in changes if change.writes}
    told = [Because(str(f.setting), told_running(f, written=str(f.setting) in files)) for f in due]
    if seen.server is not None:
        reason = "no longer declared; the process may have it from its start"
        told += [Because(address, reason) for address in gone]
    return told


def _starts(findings: Sequence[Finding]) -> list[Because]:
    stopped = [f for f in findings if f.verdict is Verdict.STOPPED and _was_stopped(f)]
    return [Because(str(f.setting), "the unit is stopped: it is started only with --start") for f in stopped]


def _was_stopped(finding: Finding) -> bool:
    """Whether someone may have stopped the unit on purpose: it did not fail, and is in no restart loop."""
    state = finding.layers.running
    return isinstance(state, Known) and state.value in ("inactive", "deactivating")


def _has_failed(finding: Finding) -> bool:
    state = finding.layers.running
    if finding.verdict is not Verdict.STOPPED or not isinstance(state, Known):
        return False
    return state.value == "failed" or str(state.value).startswith("activating")


def _enable(findings: Sequence[Finding]) -> bool | None:
    mends = [f.mend for f in findings if f.setting == Setting("unit", "enabled") and not f.accepted]
    if not mends or not mends[0] or not {"enable", "disable"} & set(mends[0]):
        return None
    return "enable" in mends[0]
