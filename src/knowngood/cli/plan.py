"""knowngood plan: what an apply would do to each node, and in which waves. It reads only."""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from knowngood.cli.audit import Deadlines, Scope, look, scope
from knowngood.cli.common import (
    deadline_options,
    inventory_options,
    json_option,
    out,
    project_option,
    stop,
    verbose_option,
    wants_color,
)
from knowngood.model import (
    Desired,
    DriftReport,
    Failure,
    HostResult,
    ManifestInfo,
    Observation,
    Seen,
    Status,
)

if TYPE_CHECKING:
    from knowngood.manifest import Manifest
    from knowngood.report.progress import Progress
    from knowngood.rollout.plan import NodePlan, Plan, PlannedManifest


@click.command("plan")
@project_option
@inventory_options
@deadline_options
@json_option
@verbose_option
@click.option("--rehash", is_flag=True, help="Hash every file anew; trust no node's cache of hashes.")
@click.option(
    "--out", "saved", metavar="FILE", type=click.Path(dir_okay=False), help="Save the plan, for apply."
)
def command(
    directory: str | None,
    inventory: str | None,
    limits: tuple[str, ...],
    timeout: float,
    connect_timeout: float,
    as_json: bool,
    verbose: int,
    rehash: bool,
    saved: str | None,
) -> None:
    """Tell what an apply would do to each node, and in which waves.

    Nothing is changed, on no node. Exit codes: 0 nothing to do, 1 changes due, 2 usage or bad input, 3
    nothing due as far as could be seen, but a node could not be fully observed.
    """
    from knowngood.report.progress import Progress
    from knowngood.rollout.saved import dumps, to_json

    view = scope(directory, inventory, limits)
    with Progress() as progress:
        plan = make_plan(view, Deadlines(connect_timeout, timeout), progress, rehash=rehash)
    if saved is not None:
        _save(Path(saved), dumps(plan))
    if as_json:
        out(dumps(plan))
    else:
        from knowngood.report.planned import render_plan

        width = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100
        out(render_plan(to_json(plan), width=width, color=wants_color(), verbose=verbose))
    raise SystemExit(int(plan.exit_code))


def make_plan(view: Scope, deadlines: Deadlines, progress: Progress, *, rehash: bool = False) -> Plan:
    """Look at every node of the scope once, and plan what each lacks."""
    from knowngood.rollout.fleet_plan import fleet_plan
    from knowngood.rollout.node_plan import plan_node, unseen

    nodes: dict[tuple[str, str], NodePlan] = {}

    def each(desired: Desired, observation: Observation, seen: Seen, result: HostResult) -> None:
        nodes[desired.host, desired.manifest] = plan_node(desired, observation, seen, result.findings)

    report = look(view, deadlines, progress, rehash=rehash, each=each)
    desired = {(d.host, d.manifest): d for roles in view.desired.values() for d in roles}
    for result in report.hosts:
        key = (result.host, result.manifest)
        if key not in nodes:
            nodes[key] = unseen(desired[key], _failure(result))
    return fleet_plan(
        _planned_manifests(view, report),
        [nodes[result.host, result.manifest] for result in report.hosts],
        {manifest.name: _instances(view, manifest) for manifest in view.manifests},
        report.started_at,
    )


def _failure(result: HostResult) -> Failure:
    kind = "unreachable" if result.status is Status.UNREACHABLE else "incomplete"
    return Failure(kind, result.error or "no answer")  # type: ignore[arg-type]


def _planned_manifests(view: Scope, report: DriftReport) -> list[PlannedManifest]:
    infos = {info.name: info for info in report.manifests}
    return [_planned(view.project, m, infos[m.name]) for m in view.manifests if m.name in infos]


def _planned(project: Path, manifest: Manifest, info: ManifestInfo) -> PlannedManifest:
    from knowngood.rollout.plan import PlannedManifest
    from knowngood.rollout.policy import PolicyError, policy_of

    try:
        policy = policy_of(manifest.rollout)
    except PolicyError as error:
        stop(f"{manifest.path}: rollout: {error}")
    content = _content(project, (manifest.path, *manifest.sources))
    return PlannedManifest(info.name, info.path, info.commit, info.dirty, content, policy)


def _content(project: Path, paths: tuple[str, ...]) -> str:
    """A sha256 of files by their names and contents."""
    whole = hashlib.sha256()
    for path in paths:
        try:
            data = (project / path).read_bytes()
        except OSError as error:
            stop(f"{path}: can't be read: {error.strerror}")
        whole.update(f"{path}\0{hashlib.sha256(data).hexdigest()}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _instances(view: Scope, manifest: Manifest) -> dict[str, str]:
    """Host → the value of its `together` data, for all hosts that the manifest applies to."""
    key = manifest.rollout.get("together")
    if key is None:
        return {}
    mine = (host for host in view.inventory.hosts if manifest.applies_to(host))
    return {host.name: str(host.data[str(key)]) for host in mine if host.data.get(str(key)) is not None}


def _save(path: Path, text: str) -> None:
    """Write the plan whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_text(text, "ascii")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        stop(f"the plan can't be saved: {path}: {error.strerror}")
