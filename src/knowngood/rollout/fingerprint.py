"""What a plan was made from, so that a saved one can be told from the present: wishes, and what was seen.

Neither holds a secret: of one that is compared by digest only the verdict goes in, and the digests' key is
gone when the run ends.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from knowngood.model import Absent, Desired, Finding, Known, Observation, Text, Want
from knowngood.rollout.plan import NodePlan, NodeState, Plan

_SHOWN = 8  # hex digits


def wants_of(desired: Desired) -> str:
    """A sha256 of what the manifest wants of a host, with overrides and host data, without secrets."""
    script = desired.script
    wishes = [
        (desired.unit, desired.active, desired.enabled, desired.server, desired.dropin, desired.cache_dirs),
        [(f.path, f.sha256, f.mode, f.owner, f.group, f.loaded) for f in desired.files],
        None if script is None else (script.path, script.mode, script.owner, script.group),
        None if script is None or script.source_text is None else _sha256(script.text or script.source_text),
        *(sorted(_wishes(wants)) for wants in (desired.env, desired.unit_env, desired.args)),
        desired.aliases,
        sorted((k, [] if isinstance(v, Absent) else [*v]) for k, v in desired.directives.items()),
        desired.health,
    ]
    return _sha256(json.dumps(wishes, sort_keys=True, default=str).encode())


def _wishes(wants: Mapping[str, Want]) -> Iterator[tuple[str, object]]:
    for name, want in wants.items():
        if isinstance(want, Known):
            plain = want.value
            yield name, plain if isinstance(plain, str) else [*plain.words]
        else:
            yield name, {} if isinstance(want, Absent) else {"secret": want.source}


def state_of(desired: Desired, observation: Observation, findings: Iterable[Finding]) -> dict[str, str]:
    """What was seen of a node as far as its plan depends on it: by name, a short text."""
    unit = observation.unit
    state = {"unit": f"{unit.load_state}, {unit.active_state}, {unit.unit_file_state}"}
    for path, file in sorted(observation.files.items()):
        content = file.sha256 or file.kind
        attributes = f"{file.mode} {file.owner}:{file.group}"
        state[path] = content if file.kind == "missing" else f"{content} {attributes}"
        if file.symlink is not None:
            state[path] += f" → {file.symlink}"
    for text in (unit.fragment, *unit.dropins):
        if text is not None:
            state[text.path] = _text(text)
    for finding in findings:
        steps = f" ({', '.join(finding.mend)})" if finding.mend else ""
        state[str(finding.setting)] = f"{finding.verdict.value}{steps}"
    return state


def _text(text: Text) -> str:
    return text.error or "unread" if text.data is None else _sha256(text.data)


def moved(plan: Plan, fresh: Plan) -> list[str]:
    """What is another than when the plan was made, in words; none where it still holds."""
    return [*_manifests_moved(plan, fresh), *_nodes_moved(plan, fresh)]


def _manifests_moved(plan: Plan, fresh: Plan) -> Iterator[str]:
    now = {manifest.name: manifest for manifest in fresh.manifests}
    for manifest in plan.manifests:
        if manifest.name not in now:
            yield f"{manifest.path}: the manifest {manifest.name} is gone"
        elif now[manifest.name].content != manifest.content:
            yield f"{manifest.path}: the manifest or a file that it names has changed"
    for name in now.keys() - {manifest.name for manifest in plan.manifests}:
        yield f"{now[name].path}: the manifest {name} is new"


def _nodes_moved(plan: Plan, fresh: Plan) -> Iterator[str]:
    then = {(node.host, node.manifest): node for node in plan.nodes}
    now = {(node.host, node.manifest): node for node in fresh.nodes}
    for key in then.keys() - now.keys():
        yield f"{key[0]}: it is no longer among the nodes of {key[1]}"
    for key, node in now.items():
        if key not in then:
            yield f"{key[0]}: it is new among the nodes of {key[1]}"
        else:
            yield from (f"{node.host}: {change}" for change in _node_moved(then[key], node))


def _node_moved(then: NodePlan, now: NodePlan) -> Sequence[str]:
    told = ["what the manifest wants of it has changed"] if then.wants != now.wants else []
    unseen = (NodeState.UNREACHABLE, NodeState.INCOMPLETE)
    if then.status != now.status and (then.error or now.error) and {then.status, now.status} & {*unseen}:
        return [*told, f"it was {then.status.value} and is {now.status.value}"]
    names = [*dict.fromkeys((*then.state, *now.state))]
    return told + [
        f"{name}: was {_short(then.state.get(name))}, is {_short(now.state.get(name))}"
        for name in names
        if then.state.get(name) != now.state.get(name)
    ]


def _short(text: str | None) -> str:
    """The text with long hashes cut to their first digits."""
    if text is None:
        return "as wanted or not there"
    words = (word[:_SHOWN] if len(word) == 64 and word.isalnum() else word for word in text.split(" "))
    return " ".join(words)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
