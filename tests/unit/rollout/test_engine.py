"""The engine against a fleet that keeps its own books, for any sequence of failures."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_fleet import FakeFleet, due_plan

from knowngood.model import ExitCode
from knowngood.rollout.crew import Done, Failed, Lost, Outcome, Refused
from knowngood.rollout.engine import Options, run
from knowngood.rollout.events import End, Event, Finished, WaveBegan
from knowngood.rollout.plan import NodePlan, NodeState
from knowngood.rollout.policy import Hook, Policy, Share

HOSTS = [f"n{number}" for number in range(1, 7)]
HOOKS = {"before_restart": Hook("drain"), "after_healthy": Hook("undrain")}
CHANGES = ("stage", "drain", "activate", "confirm", "restore", "undrain")


def rollout(
    said: dict[tuple[str, str], Outcome] | None = None,
    *,
    hosts: int = 6,
    policy: Policy | None = None,
    pods: dict[str, str] | None = None,
    others: tuple[NodePlan, ...] = (),
    fleet: dict[str, Any] | None = None,
    **options: Any,
) -> tuple[list[Event], FakeFleet]:
    crew = FakeFleet(lambda step, host: (said or {}).get((step, host), Done()), **(fleet or {}))
    plan = due_plan(HOSTS[:hosts], policy or Policy(batch=Share(2)), pods, *others)
    events = [*run(plan, crew, Options(instances={"m": pods or {}}, **options))]
    return events, crew


def finished(events: list[Event]) -> Finished:
    assert isinstance(events[-1], Finished)
    assert sum(isinstance(event, Finished) for event in events) == 1
    return events[-1]


def ends(events: list[Event]) -> dict[str, End]:
    return {ended.host: ended.end for ended in finished(events).ends}


def asked(crew: FakeFleet, *steps: str) -> set[str]:
    return {host for step, hosts in crew.calls if not steps or step in steps for host in hosts}


def test_all_goes_well_wave_by_wave() -> None:
    events, crew = rollout()
    assert finished(events).exit_code is ExitCode.OK
    assert [e.wave.hosts for e in events if isinstance(e, WaveBegan)] == [
        ("n1",),
        ("n2", "n3"),
        ("n4", "n5"),
        ("n6",),
    ]
    assert [step for step, hosts in crew.calls if "n1" in hosts] == [
        *("lock", "check", "stage", "activate", "verify", "confirm", "unlock")
    ]
    assert set(ends(events).values()) == {End.DESIRED}


def test_a_red_canary_is_restored_and_no_other_node_hears_a_word() -> None:
    events, crew = rollout({("verify", "n1"): Failed("503")})
    assert finished(events).exit_code is ExitCode.ROLLED_BACK
    assert ends(events) == {"n1": End.FORMER, **dict.fromkeys(HOSTS[1:], End.UNTOUCHED)}
    assert asked(crew) == {"n1"}


def test_a_node_that_is_red_before_is_not_touched_unless_forced() -> None:
    red = {("check", "n1"): Failed("503")}
    events, crew = rollout(red)
    assert finished(events).exit_code is ExitCode.NOT_STARTED
    assert asked(crew, *CHANGES) == set()
    events, crew = rollout(red, force=True)
    assert finished(events).exit_code is ExitCode.OK


def test_a_lock_that_another_holds_stops_before_anything_and_gives_the_wave_s_locks_back() -> None:
    events, crew = rollout(
        {("lock", "n3"): Failed("held by ada on ops-1")}, policy=Policy(Share(0), Share(4))
    )
    assert finished(events).exit_code is ExitCode.NOT_STARTED
    assert asked(crew, *CHANGES) == set()
    assert not any(node.locked for node in crew.nodes.values())
    assert "ada" in finished(events).ends[0].reason


def test_a_canary_out_of_reach_stops() -> None:
    events, crew = rollout({("lock", "n1"): Lost("ssh: no answer")})
    assert finished(events).exit_code is ExitCode.NOT_STARTED
    assert asked(crew) == {"n1"}


def test_a_node_that_moved_since_the_plan_is_not_changed() -> None:
    events, crew = rollout({("activate", "n1"): Refused("serve.sh has another content")})
    assert finished(events).exit_code is ExitCode.NOT_STARTED
    assert ends(events)["n1"] is End.UNTOUCHED
    assert asked(crew, "restore") == set()


def test_a_node_that_cannot_be_restored_is_named_and_wins_over_all() -> None:
    events, _ = rollout({("verify", "n1"): Failed("503"), ("restore", "n1"): Lost("ssh: no answer")})
    assert finished(events).exit_code is ExitCode.NEEDS_PERSON
    assert ends(events)["n1"] is End.PERSON


def test_one_failure_is_allowed_and_two_are_not() -> None:
    policy = Policy(batch=Share(2), max_failures=Share(1))
    events, _ = rollout({("verify", "n2"): Failed("503")}, policy=policy)
    assert ends(events) == {**dict.fromkeys(HOSTS, End.DESIRED), "n2": End.FORMER}
    assert finished(events).exit_code is ExitCode.ROLLED_BACK
    events, crew = rollout(
        {("verify", "n2"): Failed("503"), ("stage", "n4"): Failed("disk full")}, policy=policy
    )
    assert ends(events)["n6"] is End.UNTOUCHED
    assert "n6" not in asked(crew)


def test_an_instance_goes_back_together() -> None:
    pods = {"n1": "a", "n2": "a"}
    events, crew = rollout({("verify", "n2"): Failed("503")}, pods=pods)
    assert (ends(events)["n1"], ends(events)["n2"]) == (End.FORMER, End.FORMER)
    assert asked(crew, "confirm") == set()


def test_unreachable_and_blocked_nodes_are_failures_unless_skipped() -> None:
    away = NodePlan("n9", "m", "m.service", NodeState.UNREACHABLE, error="ssh: no answer")
    events, crew = rollout(others=(away,))
    assert (finished(events).exit_code, crew.calls) == (ExitCode.NOT_STARTED, [])
    events, _ = rollout(others=(away,), skip_unreachable=True)
    assert (finished(events).exit_code, ends(events)["n9"]) == (ExitCode.INCOMPLETE, End.UNTOUCHED)
    assert ends(events)["n6"] is End.DESIRED
    blocked = NodePlan("n9", "m", "m.service", NodeState.BLOCKED)
    events, crew = rollout(others=(blocked,), skip_unreachable=True)
    assert (finished(events).exit_code, crew.calls) == (ExitCode.NOT_STARTED, [])


def test_drained_nodes_get_their_traffic_back_also_when_they_were_restored() -> None:
    events, crew = rollout({("verify", "n1"): Failed("503")}, policy=Policy(**HOOKS))  # type: ignore[arg-type]
    assert not crew.nodes["n1"].drained
    assert finished(events).drained == ()
    events, _ = rollout({("undrain", "n1"): Failed("lb: 500")}, policy=Policy(**HOOKS))  # type: ignore[arg-type]
    assert finished(events).drained == ("n1",)
    assert finished(events).exit_code is ExitCode.NEEDS_PERSON


@pytest.mark.parametrize("step", ["lock", "check", "stage", "activate", "verify", "confirm", "unlock"])
def test_ctrl_c_ends_what_was_begun_and_begins_nothing(step: str) -> None:
    seen: list[str] = []
    events, crew = rollout(fleet={"before": seen.append}, interrupted=lambda: step in seen)
    assert finished(events).exit_code is ExitCode.INTERRUPTED
    assert set(ends(events).values()) <= {End.DESIRED, End.UNTOUCHED}
    assert asked(crew) == {"n1"}
    assert not any(node.armed or node.locked for node in crew.nodes.values())


@pytest.mark.parametrize(
    ("step", "end"),
    [("stage", End.UNTOUCHED), ("activate", End.LEFT), ("verify", End.LEFT), ("confirm", End.LEFT)],
)
def test_a_second_ctrl_c_stops_following_and_says_where_it_stands(step: str, end: End) -> None:
    def before(now: str) -> None:
        if now == step:
            raise KeyboardInterrupt

    events, _ = rollout(fleet={"before": before})
    assert finished(events).exit_code is ExitCode.INTERRUPTED
    assert ends(events) == {"n1": end, **dict.fromkeys(HOSTS[1:], End.UNTOUCHED)}


outcomes = st.sampled_from([Failed("red"), Lost("no answer")])
steps = st.sampled_from(
    ["lock", "check", "stage", "drain", "activate", "verify", "confirm", "restore", "undrain"]
)
refusals = st.tuples(st.just("activate"), st.sampled_from(HOSTS)).map(lambda key: (key, Refused("it moved")))
troubles = st.lists(
    st.one_of(st.tuples(st.tuples(steps, st.sampled_from(HOSTS)), outcomes), refusals), max_size=8
).map(dict)


@settings(max_examples=200, deadline=None)
@given(
    said=troubles,
    did=st.sets(st.tuples(steps, st.sampled_from(HOSTS))),
    hosts=st.integers(0, 6),
    pods=st.dictionaries(st.sampled_from(HOSTS), st.sampled_from("ab")),
    canary=st.integers(0, 3),
    batch=st.integers(1, 4),
    allowed=st.integers(0, 3),
    hooks=st.booleans(),
    stop_at=st.one_of(st.none(), st.integers(1, 30)),
)
def test_whatever_fails_no_promise_is_broken(
    said: dict[tuple[str, str], Outcome],
    did: set[tuple[str, str]],
    hosts: int,
    pods: dict[str, str],
    canary: int,
    batch: int,
    allowed: int,
    hooks: bool,
    stop_at: int | None,
) -> None:
    pods = {host: pod for host, pod in pods.items() if host in HOSTS[:hosts]}
    policy = Policy(Share(canary), Share(batch), Share(allowed), **(HOOKS if hooks else {}))  # type: ignore[arg-type]
    seen: list[str] = []
    events, crew = rollout(
        said,
        hosts=hosts,
        policy=policy,
        pods=pods,
        fleet={"did": lambda *key: key in did, "before": seen.append},
        interrupted=lambda: stop_at is not None and len(seen) >= stop_at,
    )
    told, done = ends(events), finished(events)
    # Every due node has one end, and it is the truth.
    assert [*told] == HOSTS[:hosts]
    for host, end in told.items():
        node = crew.nodes.get(host)
        if end is End.DESIRED:
            assert node is not None
            assert (node.holds, node.armed, node.up) == ("desired", False, True)
        elif end is not End.PERSON and node is not None:
            assert (node.holds, node.armed, node.up) == ("former", False, True)
    # Never more down than a wave holds, and the failures that were allowed.
    waves = [event.wave.hosts for event in events if isinstance(event, WaveBegan)]
    assert crew.most_down <= max([len(wave) for wave in waves], default=0) + allowed
    # No node of an instance alone.
    for host in pods:
        group = {other for other in told if pods.get(other) == pods[host]}
        assert len({told[other] for other in group} - {End.PERSON, End.FORMER, End.UNTOUCHED}) <= 1
        if any(told[other] is End.DESIRED for other in group):
            assert all(told[other] is End.DESIRED for other in group)
    # Waves that did not begin heard nothing.
    assert asked(crew) <= {host for wave in waves for host in wave}
    if not allowed:
        assert all(told[host] is End.DESIRED for wave in waves[:-1] for host in wave)
    # Who is still drained is named.
    drained = {host for host, node in crew.nodes.items() if node.drained}
    assert drained <= set(done.drained)
    # Exit code 5 over 130 over 4 over 6.
    if End.PERSON in told.values() or done.drained:
        expected = {ExitCode.NEEDS_PERSON}
    elif stop_at is not None and len(seen) >= stop_at:
        expected = {ExitCode.INTERRUPTED}
    elif End.FORMER in told.values():
        expected = {ExitCode.ROLLED_BACK}
    elif End.UNTOUCHED in told.values():
        expected = {ExitCode.NOT_STARTED, ExitCode.DRIFT}
    else:
        expected = {ExitCode.OK}
    assert done.exit_code in expected
