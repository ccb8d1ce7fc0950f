"""Which nodes change at the same time: the canary first, then batches, and no instance torn apart.

Nodes that share the host data named by `together` are one multi-node instance: they are in the same wave, and
count as many nodes as they are. A host without that data is an instance by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from knowngood.rollout.policy import Policy


@dataclass(frozen=True, slots=True)
class Wave:
    """Nodes of one manifest that change at the same time, in inventory order of their instances."""

    manifest: str
    kind: Literal["canary", "batch"]
    hosts: tuple[str, ...]


def waves(
    manifest: str, due: Sequence[str], policy: Policy, instances: Mapping[str, str] | None = None
) -> tuple[Wave, ...]:
    """The waves for the hosts that are due, which come in inventory order.

    `instances`: host → the value of its `together` data; hosts that it lacks stand alone.

    The canary is the first instances that hold at least `canary` nodes. A batch takes instances as long as it
    holds at most `batch` nodes (a percentage is one of all that are due, rounded down), and always one.
    """
    groups = _groups(due, instances or {})
    first, rest = _canary(groups, policy.canary.of(len(due)) or min(policy.canary.number, 1))
    size = max(policy.batch.of(len(due)), 1)
    canary = [Wave(manifest, "canary", first)] if first else []
    return (*canary, *(Wave(manifest, "batch", hosts) for hosts in _batches(rest, size)))


def _groups(due: Sequence[str], instances: Mapping[str, str]) -> list[tuple[str, ...]]:
    members: dict[tuple[str, str], list[str]] = {}
    for host in due:
        key = ("instance", instances[host]) if host in instances else ("host", host)
        members.setdefault(key, []).append(host)
    return [tuple(hosts) for hosts in members.values()]


def _canary(groups: list[tuple[str, ...]], size: int) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    hosts: tuple[str, ...] = ()
    for number, group in enumerate(groups):
        if len(hosts) >= size:
            return hosts, groups[number:]
        hosts += group
    return hosts, []


def _batches(groups: list[tuple[str, ...]], size: int) -> list[tuple[str, ...]]:
    batches: list[tuple[str, ...]] = []
    for group in groups:
        if batches and len(batches[-1]) + len(group) <= size:
            batches[-1] += group
        else:
            batches.append(group)
    return batches
