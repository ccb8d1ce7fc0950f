"""A rollout as a generator of events: wave after wave, until all is done or something says stop.

The engine decides; the crew acts; whoever reads the events draws and records them. A run ends with Finished,
also when it was interrupted, and every node of the plan has its end there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from knowngood.model import ExitCode
from knowngood.rollout.crew import Crew
from knowngood.rollout.events import End, Event, Finished, NodeEnded, Stopped, WaveBegan
from knowngood.rollout.plan import NodePlan, NodeState, Plan
from knowngood.rollout.policy import Policy
from knowngood.rollout.wave_run import Instance, WaveRun
from knowngood.rollout.waves import Wave

Instances = Mapping[str, Mapping[str, str]]


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Options:
    """`interrupted` is asked between steps. `instances`: manifest → host → the value of its `together` data.

    `force`: a node that is red before the change is changed all the same. `restarts`: False leaves every
    restart pending, so nothing is drained. `skip_unreachable`: nodes that can't be seen count for nothing.
    """

    skip_unreachable: bool = False
    force: bool = False
    restarts: bool = True
    interrupted: Callable[[], bool] = _never
    instances: Instances = field(default_factory=dict)


@dataclass(slots=True)
class _Run:
    ends: dict[tuple[str, str], NodeEnded] = field(default_factory=dict)
    failures: dict[str, set[str]] = field(default_factory=dict)  # by manifest
    drained: dict[str, NodePlan] = field(default_factory=dict)
    stopped: str = ""
    interrupted: bool = False
    rolled_back: bool = False


def run(plan: Plan, crew: Crew, options: Options | None = None) -> Iterator[Event]:
    """Carry out a plan. Exit code 5 wins over 130, that over 4, and 4 over 6.

    A run that came to its end, with failures that the policy allows, ends with 1 where a node is still due,
    and with 3 where one could not be seen.

    Nodes that are blocked, and those that could not be seen, are failures before the first command.
    """
    options = options or Options()
    state = _Run()
    for event in _waves(plan, crew, options, state):
        if isinstance(event, NodeEnded):
            state.ends[event.host, event.manifest] = event
        yield event
    if state.stopped:
        yield Stopped(state.stopped)
    yield Finished(_exit_code(plan, state), tuple(_ends(plan, state)), tuple(state.drained))


def _waves(plan: Plan, crew: Crew, options: Options, state: _Run) -> Iterator[Event]:
    policies = {manifest.name: manifest.policy for manifest in plan.manifests}
    state.stopped = _why_not_begin(plan, policies, options, state)
    for number, wave in enumerate(plan.waves, 1):
        state.interrupted = state.interrupted or options.interrupted()
        if state.stopped or state.interrupted:
            break
        policy = policies[wave.manifest]
        if number > 1 and policy.pause:
            state.interrupted = _paused(crew, policy.pause) or options.interrupted()
            if state.interrupted:
                break
        yield WaveBegan(number, len(plan.waves), wave)
        yield from _wave(plan, wave, policy, crew, options, state)
    if state.interrupted and not state.stopped:
        state.stopped = "interrupted: the next run picks up"


def _paused(crew: Crew, seconds: float) -> bool:
    """Wait; whether that was interrupted."""
    try:
        crew.pause(seconds)
    except KeyboardInterrupt:
        return True
    return False


def _wave(
    plan: Plan, wave: Wave, policy: Policy, crew: Crew, options: Options, state: _Run
) -> Iterator[Event]:
    members = options.instances.get(wave.manifest, {})
    one = WaveRun(
        crew=crew,
        instances=_instances([plan.node(host, wave.manifest) for host in wave.hosts], members),
        interrupted=options.interrupted,
        hooks=(policy.before_restart is not None, policy.after_healthy is not None),
        force=options.force,
        restarts=options.restarts,
    )
    try:
        yield from one.run()
    except KeyboardInterrupt:
        state.interrupted = True
        yield from one.abandon()
    state.interrupted = state.interrupted or options.interrupted()
    state.drained |= one.drained
    failed = state.failures.setdefault(wave.manifest, set())
    failed |= one.failures
    state.rolled_back = state.rolled_back or any(ended.end is End.FORMER for ended in one.ends.values())
    state.stopped = _why_stop(plan, wave, policy, one, failed)


def _instances(nodes: Sequence[NodePlan], members: Mapping[str, str]) -> list[Instance]:
    groups: dict[tuple[bool, str], list[NodePlan]] = {}
    for node in nodes:
        shared = node.host in members
        groups.setdefault((shared, members[node.host] if shared else node.host), []).append(node)
    return [tuple(group) for group in groups.values()]


def _why_not_begin(plan: Plan, policies: Mapping[str, Policy], options: Options, state: _Run) -> str:
    for name, policy in policies.items():
        bad = [NodeState.BLOCKED]
        if not options.skip_unreachable:
            bad += [NodeState.UNREACHABLE, NodeState.INCOMPLETE]
        failed = {node.host for node in plan.of(*bad) if node.manifest == name}
        state.failures[name] = failed
        if len(failed) > _allowed(plan, name, policy):
            return f"{_named(failed)} can't be changed, and {name} allows {policy.max_failures} failures"
    return ""


def _why_stop(plan: Plan, wave: Wave, policy: Policy, one: WaveRun, failed: set[str]) -> str:
    if one.refusal:
        return one.refusal
    if wave.kind == "canary" and one.failures:
        return f"the canary failed: {_named(one.failures)}"
    if len(failed) > _allowed(plan, wave.manifest, policy):
        return f"{_named(failed)} failed, and {wave.manifest} allows {policy.max_failures} failures"
    return ""


def _allowed(plan: Plan, manifest: str, policy: Policy) -> int:
    """How many nodes may fail: a percentage is one of all that are due."""
    return policy.max_failures.of(sum(len(wave.hosts) for wave in plan.waves if wave.manifest == manifest))


def _named(hosts: set[str]) -> str:
    return ", ".join(sorted(hosts))


def _ends(plan: Plan, state: _Run) -> Iterator[NodeEnded]:
    """Every node that had something due, or could not be seen, in the plan's order."""
    for node in plan.nodes:
        if (node.host, node.manifest) in state.ends:
            yield state.ends[node.host, node.manifest]
        elif node.status is not NodeState.IN_SYNC:
            why = node.error or "; ".join(blocker.reason for blocker in node.blockers)
            yield NodeEnded(node.host, node.manifest, End.UNTOUCHED, why or "not begun")


def _exit_code(plan: Plan, state: _Run) -> ExitCode:
    if state.drained or any(ended.end is End.PERSON for ended in state.ends.values()):
        return ExitCode.NEEDS_PERSON
    if state.interrupted:
        return ExitCode.INTERRUPTED
    if state.rolled_back:
        return ExitCode.ROLLED_BACK
    if state.stopped:
        return ExitCode.NOT_STARTED
    if any(ended.end is End.UNTOUCHED for ended in state.ends.values()) or any(plan.of(NodeState.BLOCKED)):
        return ExitCode.DRIFT
    unseen = any(plan.of(NodeState.UNREACHABLE, NodeState.INCOMPLETE))
    return ExitCode.INCOMPLETE if unseen else ExitCode.OK
