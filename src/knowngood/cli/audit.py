"""The road that every look at the fleet takes: project → manifests × inventory → observations → results.

Here, on the top floor, because it joins the rooms that must not know each other.
"""

from __future__ import annotations

import difflib
import os
import secrets
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from knowngood.cli.common import say, stop
from knowngood.model import (
    Desired,
    DriftReport,
    Failure,
    Host,
    HostResult,
    ManifestInfo,
    Observation,
    Secret,
    Seen,
)

if TYPE_CHECKING:
    from knowngood.fleet.inventory import Inventory
    from knowngood.manifest import Manifest
    from knowngood.report.progress import Progress


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run looks at: the project, its manifests, the hosts, and what each host should be."""

    project: Path
    manifests: tuple[Manifest, ...]
    inventory: Inventory
    hosts: tuple[Host, ...]
    desired: Mapping[str, tuple[Desired, ...]]  # by host name


@dataclass(slots=True)
class Deadlines:
    """Seconds."""

    connect: float = 10
    whole: float = 30


def find_project(directory: str | None) -> Path:
    """The project's folder; stops with exit code 2 where there is none."""
    from knowngood.store.project import ProjectError, find

    try:
        return find(directory)
    except ProjectError as error:
        stop(str(error))


def load_manifests(project: Path) -> tuple[Manifest, ...]:
    """All manifests of the project; stops with every mistake told."""
    from knowngood.manifest import load_manifests as load

    manifests, mistakes = load(project)
    if mistakes:
        stop_with(mistakes)
    if not manifests:
        stop(f"no manifest in {project / 'state'}: `knowngood capture HOST --unit UNIT` writes one")
    return tuple(manifests)


def load_inventory(project: Path, source: str | None) -> Inventory:
    """The inventory that -i names, else the project's; stops where it can't be read."""
    from knowngood.fleet.inventory import InventoryError
    from knowngood.fleet.inventory import load_inventory as load

    if source is None:
        path = project / "inventory" / "fleet.py"
        if not path.is_file():
            stop(f"no inventory: {path} does not exist; write one, or name hosts with -i")
        source = str(path)
    try:
        inventory = load(source, cwd=project)
    except InventoryError as error:
        stop(str(error))
    for warning in inventory.warnings:
        say(warning)
    return inventory


def choose_hosts(inventory: Inventory, limits: Sequence[str]) -> tuple[Host, ...]:
    """The hosts that --limit leaves; stops where a pattern matches nothing."""
    from knowngood.fleet.inventory import InventoryError, limit

    try:
        return (limit(inventory, limits) if limits else inventory).hosts
    except InventoryError as error:
        stop(str(error))


def scope(directory: str | None, inventory_source: str | None, limits: Sequence[str]) -> Scope:
    """Everything that is known before a node is contacted; stops with exit code 2 at any mistake."""
    project = find_project(directory)
    manifests = load_manifests(project)
    inventory = load_inventory(project, inventory_source)
    if inventory_source is None:  # another inventory need not know every group of the project
        _check_names(manifests, inventory)
    hosts = choose_hosts(inventory, limits)
    desired = _resolve(manifests, hosts)
    if not any(desired.values()):
        stop("no manifest applies to these hosts: see `hosts:` in state/*.yaml")
    return Scope(project, manifests, inventory, hosts, desired)


def _check_names(manifests: Iterable[Manifest], inventory: Inventory) -> None:
    names = {host.name for host in inventory.hosts} | {g for host in inventory.hosts for g in host.groups}
    for manifest in manifests:
        for name in manifest.hosts:
            if name not in names:
                near = difflib.get_close_matches(name, names, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                stop(f"{manifest.path}: hosts: {name!r} is no host or group of the inventory{hint}")


def _resolve(manifests: Iterable[Manifest], hosts: Iterable[Host]) -> dict[str, tuple[Desired, ...]]:
    from knowngood.manifest import ManifestError, check_claims

    resolved: dict[str, tuple[Desired, ...]] = {}
    mistakes = []
    for host in hosts:
        mine = []
        for manifest in manifests:
            if not manifest.applies_to(host):
                continue
            try:
                mine.append(manifest.resolve(host, os.environ))
            except ManifestError as error:
                mistakes += error.diagnostics
        resolved[host.name] = tuple(mine)
    mistakes += check_claims([desired for roles in resolved.values() for desired in roles])
    if mistakes:
        stop_with(mistakes)
    _check_secrets(resolved)
    return resolved


def _check_secrets(resolved: Mapping[str, tuple[Desired, ...]]) -> None:
    unset = {}
    for desireds in resolved.values():
        for desired in desireds:
            for name, want in (*desired.env.items(), *desired.unit_env.items(), *desired.args.items()):
                if isinstance(want, Secret) and want.text is None:
                    unset[want.source] = f"{desired.manifest}: {name}"
    if unset:
        told = ", ".join(f"{variable} (for {where})" for variable, where in sorted(unset.items()))
        stop(f"secret variables are not set in this environment: {told}")


def stop_with(mistakes: Iterable[object]) -> None:
    """Print every mistake to stderr, each once, and stop with exit code 2."""
    rendered = dict.fromkeys(mistake.render() for mistake in mistakes)  # type: ignore[attr-defined]
    stop("\n" + "\n".join(rendered))


def look(
    scope: Scope,
    deadlines: Deadlines,
    progress: Progress,
    *,
    rehash: bool = False,
    each: Callable[[Desired, Observation, Seen, HostResult], None] | None = None,
) -> DriftReport:
    """Ask every node once and judge what it said. One connection and one command per node.

    `each` also gets what a result was made of, for every role of a host that answered.
    """
    from knowngood.drift.judge import failed, judge
    from knowngood.fleet.gather import gather
    from knowngood.fleet.inventory import InventoryError
    from knowngood.observe.answer import read_answer
    from knowngood.observe.ask import ask
    from knowngood.observe.see import see

    started, clock = datetime.now(UTC), time.monotonic()
    nonce = secrets.token_bytes(32)
    asked = {name: roles for name, roles in scope.desired.items() if roles}
    # The node answers with what it has before our own deadline for it runs out.
    deadline = max(1.0, min(25.0, deadlines.whole - 3))
    programs = {name: ask(roles, nonce, rehash=rehash, deadline=deadline) for name, roles in asked.items()}
    results: dict[str, list[HostResult]] = {}

    def on_answer(name: str, raw: str | bytes | Failure) -> None:
        roles = asked[name]
        answer: dict[str, Observation] | Failure = (
            raw if isinstance(raw, Failure) else read_answer(name, raw, roles, nonce)
        )
        if isinstance(answer, Failure):
            results[name] = [failed(desired, answer) for desired in roles]
        else:
            results[name] = []
            for desired in roles:
                observation = answer[desired.manifest]
                try:
                    with bounded():
                        seen = see(desired, observation)
                        result = judge(desired, observation, seen)
                except _TakesTooLong:
                    results[name].append(failed(desired, _TOO_LONG))
                    continue
                except Exception as error:
                    # A fault of ours in reading one node's texts must not cost the others their report. Only
                    # the error's kind is told: its text may quote what the node said.
                    kind = type(error).__name__
                    reason = f"a fault of ours ({kind}): what the node said could not be read"
                    results[name].append(failed(desired, Failure("incomplete", reason)))
                    continue
                results[name].append(result)
                if each is not None:
                    each(desired, observation, seen, result)
        progress.answered(name, ok=not isinstance(answer, Failure))

    progress.start(len(programs), programs)
    try:
        gather(
            scope.inventory,
            programs,
            connect_timeout=deadlines.connect,
            timeout=deadlines.whole,
            on_answer=on_answer,
        )
    except InventoryError as error:
        stop(str(error))
    progress.done()
    never = Failure("unreachable", "no answer")
    hosts = [
        result
        for name, roles in asked.items()
        for result in results.get(name) or [failed(desired, never) for desired in roles]
    ]
    return DriftReport(
        manifests=_manifest_infos(scope),
        started_at=started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        duration_s=round(time.monotonic() - clock, 3),
        hosts=tuple(hosts),
    )


_LONGEST_READING = 5.0  # seconds of CPU; a usual node takes a few thousandths


_TOO_LONG = Failure("incomplete", "its scripts and units take too long to read")


class _TakesTooLong(Exception):
    """What a node sent costs more to read than any honest text does."""


@contextmanager
def bounded() -> Iterator[None]:
    """One node's texts must not hold up the report of all others: after some CPU time, _TakesTooLong."""

    def give_up(number: int, frame: object) -> None:
        raise _TakesTooLong

    former = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, _LONGEST_READING)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)


def _manifest_infos(scope: Scope) -> tuple[ManifestInfo, ...]:
    from knowngood.store.git import manifest_info

    in_use = {desired.manifest for roles in scope.desired.values() for desired in roles}
    return tuple(manifest_info(scope.project, m) for m in scope.manifests if m.name in in_use)
