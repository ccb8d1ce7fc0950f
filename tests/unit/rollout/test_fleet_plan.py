"""Instances are kept whole: one restarts with the other, and none changes while another can't."""

from __future__ import annotations

from typing import Any

from knowngood.model import ExitCode
from knowngood.rollout.fleet_plan import fleet_plan
from knowngood.rollout.plan import Because, Blocker, NodePlan, NodeState, Plan, PlannedManifest
from knowngood.rollout.policy import Policy, Share

POLICY = Policy(together="pod", batch=Share(2))
MANIFEST = PlannedManifest("m", "state/m.yaml", None, False, "c" * 64, POLICY)
PODS = {"a1": "a", "a2": "a", "b1": "b"}
RESTART = (Because("env:X", "the process has 1, not 2"),)


def node(host: str, status: NodeState = NodeState.IN_SYNC, **given: Any) -> NodePlan:
    return NodePlan(host, "m", "m.service", status, **given)


def plan(*nodes: NodePlan, pods: dict[str, str] | None = None) -> Plan:
    return fleet_plan([MANIFEST], nodes, {"m": PODS if pods is None else pods}, "2026-03-01T02:00:00.000Z")


def hosts(found: Plan) -> list[tuple[str, ...]]:
    return [wave.hosts for wave in found.waves]


def test_a_restart_takes_the_instance_along() -> None:
    found = plan(node("a1"), node("a2", NodeState.DUE, restart=RESTART), node("b1"))
    assert hosts(found) == [("a1", "a2")]
    assert found.node("a1", "m").status is NodeState.DUE
    assert "together with a2 (pod a)" in found.node("a1", "m").restart[0].reason
    assert found.node("b1", "m").status is NodeState.IN_SYNC
    assert found.exit_code is ExitCode.DRIFT


def test_a_change_without_a_restart_leaves_the_others_alone() -> None:
    found = plan(node("a1"), node("a2", NodeState.DUE, reload=RESTART))
    assert hosts(found) == [("a2",)]
    assert not found.node("a1", "m").has_work


def test_a_node_that_cannot_change_holds_its_instance_and_no_other() -> None:
    blocker = (Blocker("env:X", "set under a condition", "edit it by hand"),)
    found = plan(
        node("a1", NodeState.DUE, restart=RESTART),
        node("a2", NodeState.BLOCKED, restart=RESTART, blockers=blocker),
        node("b1", NodeState.DUE, restart=RESTART),
    )
    assert hosts(found) == [("b1",)]
    assert "a2 of pod a is blocked" in found.node("a1", "m").blockers[0].reason


def test_an_unreachable_node_holds_its_instance() -> None:
    found = plan(
        node("a1", NodeState.DUE, restart=RESTART), node("a2", NodeState.UNREACHABLE, error="ssh: no answer")
    )
    assert hosts(found) == []
    assert "could not be reached" in found.node("a1", "m").blockers[0].reason


def test_a_node_that_limit_leaves_out_holds_its_instance() -> None:
    found = plan(node("a1", NodeState.DUE, restart=RESTART))
    assert "add a2 to --limit" in found.node("a1", "m").blockers[0].advice


def test_hosts_without_the_key_stand_alone() -> None:
    found = plan(node("a1", NodeState.DUE, restart=RESTART), node("a2"), pods={})
    assert hosts(found) == [("a1",)]


def test_exit_codes() -> None:
    assert plan(node("a1"), node("b1")).exit_code is ExitCode.OK
    assert plan(node("a1"), node("b1", NodeState.UNREACHABLE, error="x")).exit_code is ExitCode.INCOMPLETE
    assert plan(node("a1", NodeState.INCOMPLETE)).exit_code is ExitCode.INCOMPLETE
    assert plan().exit_code is ExitCode.INCOMPLETE
    assert plan(node("b1", NodeState.BLOCKED), node("a1", NodeState.UNREACHABLE)).exit_code is ExitCode.DRIFT
