"""A fleet's plan from its nodes' plans: instances kept whole, waves laid out.

The nodes of a multi-node instance depend on each other: where one restarts, all do; where one can't be
changed, none is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from knowngood.rollout.plan import Because, Blocker, NodePlan, NodeState, Plan, PlannedManifest
from knowngood.rollout.waves import waves

_STUCK = {
    NodeState.BLOCKED: "is blocked",
    NodeState.INCOMPLETE: "could not be fully observed",
    NodeState.UNREACHABLE: "could not be reached",
}


def fleet_plan(
    manifests: Sequence[PlannedManifest],
    nodes: Iterable[NodePlan],
    instances: Mapping[str, Mapping[str, str]],
    made_at: str,
) -> Plan:
    """The plan for these nodes, which come in inventory order.

    `instances`: for a manifest with `together`, host → the value of that host data, for every host that the
    manifest applies to, also those that are not among the nodes.
    """
    planned = [*nodes]
    for manifest in manifests:
        members = instances.get(manifest.name, {})
        mine = {node.host: node for node in planned if node.manifest == manifest.name}
        whole = {host: _with_partners(node, mine, members, manifest) for host, node in mine.items()}
        planned = [whole[n.host] if n.manifest == manifest.name else n for n in planned]
    laid_out = [
        wave
        for manifest in manifests
        for wave in waves(
            manifest.name,
            [n.host for n in planned if n.manifest == manifest.name and n.status is NodeState.DUE],
            manifest.policy,
            instances.get(manifest.name, {}),
        )
    ]
    return Plan(tuple(manifests), tuple(planned), tuple(laid_out), made_at)


def _with_partners(
    node: NodePlan, mine: Mapping[str, NodePlan], members: Mapping[str, str], manifest: PlannedManifest
) -> NodePlan:
    """The node's plan, with what follows from the other nodes of its instance."""
    if node.host not in members:
        return node
    name = f"{manifest.policy.together} {members[node.host]}"
    others = [host for host, value in members.items() if value == members[node.host] and host != node.host]
    restarting = [host for host in others if host in mine and mine[host].restart]
    if restarting and not node.restart and not node.start and node.status is not NodeState.UNREACHABLE:
        because = Because("unit:active", f"restarts together with {', '.join(restarting)} ({name})")
        node = replace(node, restart=(because,))
        if node.status in (NodeState.IN_SYNC, NodeState.INCOMPLETE):
            node = replace(node, status=NodeState.DUE)
    if node.status is not NodeState.DUE:
        return node
    stuck = [*_stuck(others, mine, name)]
    return replace(node, status=NodeState.BLOCKED, blockers=(*node.blockers, *stuck)) if stuck else node


def _stuck(others: Iterable[str], mine: Mapping[str, NodePlan], name: str) -> Iterator[Blocker]:
    for host in others:
        if host not in mine:
            advice = f"add {host} to --limit: the nodes of an instance change together"
            yield Blocker("unit:active", f"{host} of {name} is left out", advice)
        elif mine[host].status in _STUCK and not _only_by_partners(mine[host]):
            reason = f"{host} of {name} {_STUCK[mine[host].status]}"
            yield Blocker(
                "unit:active", reason, f"mend {host} first: the nodes of an instance change together"
            )


def _only_by_partners(node: NodePlan) -> bool:
    """An incomplete node that a restart of its instance would touch is in nobody's way."""
    return node.status is NodeState.INCOMPLETE and node.error is None
