"""A fleet that keeps its own books: what each node has, and every promise that a rollout could break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from knowngood.rollout.crew import Done, Failed, Lost, Nodes, Outcome, Refused
from knowngood.rollout.fleet_plan import fleet_plan
from knowngood.rollout.plan import Because, NodePlan, NodeState, Plan, PlannedManifest
from knowngood.rollout.policy import Policy

WHY = (Because("env:X", "the process has 1, not 2"),)


@dataclass
class Node:
    """`holds`: former or desired. `armed`: a switch waits to restore it."""

    holds: str = "former"
    armed: bool = False
    up: bool = True
    locked: bool = False
    drained: bool = False


@dataclass
class FakeFleet:
    """A crew. `says(step, host)` is each node's outcome; its books follow what the outcome means.

    Of a Lost step it depends on `did(step, host)` whether the node did it before it fell silent.
    """

    says: Callable[[str, str], Outcome]
    did: Callable[[str, str], bool] = lambda step, host: False
    before: Callable[[str], None] = lambda step: None
    nodes: dict[str, Node] = field(default_factory=dict)
    calls: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    most_down: int = 0

    def _step(self, step: str, nodes: Nodes, effect: Callable[[Node], None]) -> dict[str, Outcome]:
        self.before(step)
        self.calls.append((step, tuple(node.host for node in nodes)))
        outcomes = {node.host: self.says(step, node.host) for node in nodes}
        for host, outcome in outcomes.items():
            node = self.nodes.setdefault(host, Node())
            lost_but_did = isinstance(outcome, Lost) and self.did(step, host)
            if isinstance(outcome, Done) or lost_but_did:
                effect(node)
        self.most_down = max(self.most_down, sum(not node.up for node in self.nodes.values()))
        return outcomes

    def lock(self, nodes: Nodes) -> dict[str, Outcome]:
        return self._step("lock", nodes, lambda node: setattr(node, "locked", True))

    def check(self, nodes: Nodes) -> dict[str, Outcome]:
        return self._step("check", nodes, lambda node: None)

    def stage(self, nodes: Nodes) -> dict[str, Outcome]:
        return self._step("stage", nodes, lambda node: None)

    def drain(self, nodes: Nodes) -> dict[str, Outcome]:
        return self._step("drain", nodes, lambda node: setattr(node, "drained", True))

    def activate(self, nodes: Nodes) -> dict[str, Outcome]:
        for node in nodes:
            assert self.nodes[node.host].locked, "a change without its lock"

        def effect(node: Node) -> None:
            node.holds, node.armed, node.up = "desired", True, False

        return self._step("activate", nodes, effect)

    def verify(self, nodes: Nodes) -> dict[str, Outcome]:
        return self._step("verify", nodes, lambda node: setattr(node, "up", True))

    def confirm(self, nodes: Nodes) -> dict[str, Outcome]:
        for node in nodes:
            assert self.nodes[node.host].up, "confirmed before it was verified"
        return self._step("confirm", nodes, lambda node: setattr(node, "armed", False))

    def evidence(self, nodes: Nodes) -> dict[str, Outcome]:
        return self._step("evidence", nodes, lambda node: None)

    def restore(self, nodes: Nodes) -> dict[str, Outcome]:
        assert self.calls[-1] == ("evidence", tuple(node.host for node in nodes)), "evidence comes first"

        def effect(node: Node) -> None:
            node.holds, node.armed, node.up = "former", False, True

        return self._step("restore", nodes, effect)

    def undrain(self, nodes: Nodes) -> dict[str, Outcome]:
        return self._step("undrain", nodes, lambda node: setattr(node, "drained", False))

    def unlock(self, nodes: Nodes) -> dict[str, Outcome]:
        return self._step("unlock", nodes, lambda node: setattr(node, "locked", False))

    def pause(self, seconds: float) -> None:
        self.before("pause")


def due_plan(hosts: list[str], policy: Policy, pods: dict[str, str] | None = None, *others: NodePlan) -> Plan:
    """A plan in which all these hosts are due for a restart."""
    manifest = PlannedManifest("m", "state/m.yaml", None, False, "c" * 64, policy)
    nodes = [NodePlan(host, "m", "m.service", NodeState.DUE, restart=WHY) for host in hosts]
    return fleet_plan([manifest], [*nodes, *others], {"m": pods or {}}, "2026-03-01T02:00:00.000Z")


OUTCOMES: tuple[Outcome, ...] = (Done(), Failed("red"), Lost("no answer"), Refused("it moved"))
