"""Who does the work on the nodes, as the engine knows it: a few commands, each for several nodes at once.

Each command answers for every node that it was given, within a deadline of its own, and raises nothing for
what a node does. The commands of one step may run at the same time on all its nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from knowngood.rollout.plan import NodePlan


@dataclass(frozen=True, slots=True)
class Done:
    """The node says that the step is done. `note` is for people."""

    note: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The node says that the step was not done, and that it is as it was before the step."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Of `activate` alone: the node changed nothing, because it is not as the plan saw it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The node did not answer: what it did is not known. Whatever was armed on it ends by itself."""

    reason: str


Outcome: TypeAlias = Done | Refused | Failed | Lost
Outcomes: TypeAlias = Mapping[str, Outcome]  # by host
Nodes: TypeAlias = Sequence[NodePlan]


class Crew(Protocol):
    """The commands, in the order in which a wave sees them."""

    def lock(self, nodes: Nodes) -> Outcomes:
        """Take each node's lock, in order; Failed says who holds it.

        What a dead holder left open is ended first.
        """

    def check(self, nodes: Nodes) -> Outcomes:
        """Ask each node's gate before anything changes: Failed is a node that is red already."""

    def stage(self, nodes: Nodes) -> Outcomes:
        """Bring contents to each node's store. Nothing live is touched."""

    def drain(self, nodes: Nodes) -> Outcomes:
        """Run before_restart for each node."""

    def activate(self, nodes: Nodes) -> Outcomes:
        """Carry out each node's plan, its switch armed. Failed: it restored its former state by itself."""

    def verify(self, nodes: Nodes) -> Outcomes:
        """See each node again, and wait for its gate. Failed: drift, or red."""

    def confirm(self, nodes: Nodes) -> Outcomes:
        """Disarm each node's switch. Done only once the node says so."""

    def evidence(self, nodes: Nodes) -> Outcomes:
        """Save what tells why a node is red, before that is gone."""

    def restore(self, nodes: Nodes) -> Outcomes:
        """Bring each node back to its former generation. Done only once that was read back."""

    def undrain(self, nodes: Nodes) -> Outcomes:
        """Run after_healthy for each node."""

    def unlock(self, nodes: Nodes) -> Outcomes:
        """Give each node's lock back."""

    def pause(self, seconds: float) -> None:
        """Wait between waves."""
