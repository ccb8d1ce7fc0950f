"""knowngood capture: a manifest written from what a node runs now."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from knowngood.cli.audit import Deadlines, find_project, load_inventory
from knowngood.cli.common import deadline_options, out, project_option, stop
from knowngood.model import Desired, DesiredFile, DesiredScript, ExitCode, Host, Observation

if TYPE_CHECKING:
    from knowngood.cli.capture_node import CapturedNode
    from knowngood.fleet.inventory import Inventory
    from knowngood.observe.proposal import Proposal

_UNIT = re.compile(r"[A-Za-z0-9:_.\\-]+(@[A-Za-z0-9:_.\\-]+)?\.service")
_MOST_QUESTIONS = 3  # with names; each shows what the one before could not
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be captured, and where to."""

    project: Path
    host: Host
    unit: str
    name: str
    paths: tuple[str, ...]
    own_script: bool
    force: bool

    @property
    def manifest(self) -> Path:
        return self.project / "state" / f"{self.name}.yaml"


@click.command("capture")
@click.argument("host", metavar="HOST")
@click.option("--unit", required=True, metavar="UNIT", help="The systemd service, as sglang-decode.service.")
@click.option(
    "--file",
    "paths",
    metavar="PATH",
    multiple=True,
    help="A file of the node whose content is known-good; may be repeated.",
)
@click.option("--name", metavar="NAME", help="The manifest's name [default: the unit's, without .service].")
@click.option("--force", is_flag=True, help="Overwrite what is there already.")
@click.option("--own-script", is_flag=True, help="Fetch the serve script too, and manage the whole of it.")
@click.option(
    "-i",
    "--inventory",
    metavar="FILE|HOSTS",
    help="A pyinfra inventory file, or host names separated by commas [default: inventory/fleet.py].",
)
@project_option
@deadline_options
def command(
    host: str,
    unit: str,
    paths: tuple[str, ...],
    name: str | None,
    force: bool,
    own_script: bool,
    inventory: str | None,
    directory: str | None,
    timeout: float,
    connect_timeout: float,
) -> None:
    """Write a manifest from what a node runs now.

    Writes state/NAME.yaml, and the files into state/files/. What the process confirms becomes a setting; what
    it can't is left out, and stands as a comment with the reason. Secrets are named, and never written.

    Exit codes: 0 done, 2 usage or bad input, 3 the node could not be observed. Nothing is written but for 0.
    """
    from knowngood.cli.capture_node import CapturedNode

    project = find_project(directory)
    fleet = load_inventory(project, inventory)
    wish = _wish(project, _one_host(fleet, host), unit, name, paths, own_script, force)
    _check_free(wish)
    _capture(wish, CapturedNode(fleet, wish.host, Deadlines(connect_timeout, timeout)))


def _wish(
    project: Path,
    host: Host,
    unit: str,
    name: str | None,
    paths: Sequence[str],
    own_script: bool,
    force: bool,
) -> Wish:
    if not unit.endswith(".service") and "." not in unit.rpartition("@")[2]:
        unit += ".service"
    if not _UNIT.fullmatch(unit):
        stop(f"--unit {unit!r} is no service's name, as sglang-decode.service")
    if name is None:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", unit.removesuffix(".service")).lstrip("-._") or "captured"
    if not _NAME.fullmatch(name):
        stop(f"--name {name!r}: a name is letters, digits, dots, dashes and underscores")
    for path in paths:
        if not path.startswith("/") or posixpath.normpath(path) != path or not path.isprintable():
            stop(f"--file {path!r} is no absolute path on the node, without '.', '..' and '//'")
    return Wish(project, host, unit, name, tuple(dict.fromkeys(paths)), own_script, force)


def _one_host(inventory: Inventory, pattern: str) -> Host:
    from knowngood.cli.audit import choose_hosts

    hosts = choose_hosts(inventory, [pattern])
    if len(hosts) > 1:
        some = ", ".join(host.name for host in hosts[:3])
        stop(f"{pattern} means {len(hosts)} hosts ({some}, …): capture one of them")
    return hosts[0]


def _check_free(wish: Wish) -> None:
    """Stop where the manifest would take another's place, name or unit."""
    from knowngood.manifest import ManifestError, load_manifests

    if wish.manifest.exists() and not wish.force:
        stop(f"{wish.manifest} exists already: --force overwrites it, --name writes another")
    manifests, _ = load_manifests(wish.project)
    for manifest in manifests:
        if wish.project / manifest.path == wish.manifest:
            continue
        if manifest.name == wish.name:
            stop(f"the name {wish.name} is taken by {manifest.path}: choose another with --name")
        try:
            claimed = manifest.applies_to(wish.host) and manifest.resolve(wish.host, {}).unit == wish.unit
        except ManifestError:
            continue
        if claimed:
            stop(f"{manifest.path} claims {wish.unit} on {wish.host.name} already")


def _capture(wish: Wish, node: CapturedNode) -> None:
    from knowngood.cli.capture_proof import Trial, masked
    from knowngood.manifest.captured import Capture
    from knowngood.report.captured import render_captured
    from knowngood.store.placing import place

    proposal, observation = _look(wish, node)
    sources = _sources(wish, proposal.desired)
    contents = _contents(wish, node, observation, sources, proposal)
    schema = "manifest.schema.json"
    capture = Capture(
        proposal.desired,
        [wish.host.name],
        sources,
        heading=list(_heading(observation)),
        schema=schema if (wish.project / "state" / schema).is_file() else "",
    )
    proved = Trial(wish.host, observation, capture, contents).prove(proposal)
    files = {wish.project / "state" / source: data for source, data in contents.items()}
    changed = {path: data for path, data in files.items() if not _has(path, data)}
    try:
        place({**changed, wish.manifest: proved.text.encode()})
    except OSError as error:
        stop(f"{error.filename or wish.project}: {error.strerror}; nothing was written")
    done = proved.proposal
    written = [path.relative_to(wish.project) for path in (wish.manifest, *changed)]
    left_out = {setting: masked(reason, done) for setting, reason in done.left_out.items()}
    remarks = [masked(remark, done) for remark in done.remarks]
    out(render_captured(done.desired, written, left_out, remarks, _declared_secrets(done.desired)))


def _look(wish: Wish, node: CapturedNode) -> tuple[Proposal, Observation]:
    """Ask until all is known: the script that the unit starts, the names it sets, what the process has."""
    from knowngood.cli.capture_node import check_files
    from knowngood.observe.captured import asked_with, propose
    from knowngood.observe.captured_script import is_shell_script, script_candidates, server_text

    files = tuple(DesiredFile(path, sha256="", source="") for path in wish.paths)
    role = Desired(wish.name, wish.host.name, wish.unit, files=files)
    observation = node.observe(role)
    check_files(wish.host.name, observation, wish.paths)
    for path in script_candidates(role, observation):
        with_script = replace(role, script=DesiredScript(path))
        seen = node.observe(with_script)
        if is_shell_script(seen.script):
            role, observation = with_script, seen
            break
    if wish.own_script and role.script is None:
        stop(f"{wish.host.name}: {wish.unit} starts no serve script that --own-script could fetch")
    server = server_text(role, observation)
    role = replace(role, server=server if isinstance(server, str) else None)
    for _ in range(_MOST_QUESTIONS):
        asked = asked_with(role, propose(role, observation))
        observation = node.observe(asked)
        proposal = propose(asked, observation)
        if _alike(asked_with(role, proposal), asked):
            check_files(wish.host.name, observation, wish.paths)
            return _with_script(wish, proposal, observation), observation
        role = replace(role, env=asked.env)
    return stop(f"{wish.host.name}: its texts change while they are read; try again", ExitCode.INCOMPLETE)


def _alike(one: Desired, other: Desired) -> bool:
    """Whether two roles ask a node the same: the same names, the same of them sealed."""
    from knowngood.model import Secret

    def names(wants: Mapping[str, object]) -> Mapping[str, bool]:
        return {name: isinstance(want, Secret) for name, want in wants.items()}

    return (names(one.env), names(one.args)) == (names(other.env), names(other.args))


def _with_script(wish: Wish, proposal: Proposal, observation: Observation) -> Proposal:
    """The proposal with the serve script's own attributes, where the whole of it is wanted."""
    script = proposal.desired.script
    if script is None or not wish.own_script:
        return proposal
    state = observation.files[script.path]
    script = DesiredScript(script.path, source="", mode=state.mode, owner=state.owner, group=state.group)
    return replace(proposal, desired=replace(proposal.desired, script=script))


def _sources(wish: Wish, desired: Desired) -> Mapping[str, str]:
    """Where each content goes, relative to state/: by its name, and the folders that tell it apart."""
    paths = list(wish.paths)
    if desired.script is not None:
        if desired.script.path in paths:
            stop(f"{desired.script.path} is the serve script: --own-script fetches it")
        if wish.own_script:
            paths.append(desired.script.path)
    return {path: f"files/{_telling_name(path, paths)}" for path in paths}


def _telling_name(path: str, paths: Sequence[str]) -> str:
    parts = path.strip("/").split("/")
    for count in range(1, len(parts) + 1):
        name = "-".join(parts[-count:])
        if not any(
            other != path and ("/" + other.strip("/")).endswith("/" + "/".join(parts[-count:]))
            for other in paths
        ):
            return name
    return "-".join(parts)


def _contents(
    wish: Wish, node: CapturedNode, observation: Observation, sources: Mapping[str, str], proposal: Proposal
) -> Mapping[str, bytes]:
    """The files' contents by source. One that lies in state/files/ already is not fetched."""
    contents = {}
    for path, source in sources.items():
        place = wish.project / "state" / source
        sha256 = observation.files[path].sha256 or ""
        here = _read_known(place, sha256)
        if here is not None:
            contents[source] = here
            continue
        if place.exists() and not wish.force:
            stop(f"state/{source} exists with another content than {path} has: --force overwrites it")
        data = node.content(path, sha256)
        _refuse_secrets(wish, path, source, data, proposal)
        contents[source] = data
    return contents


def _read_known(place: Path, sha256: str) -> bytes | None:
    """What lies there, when it has this hash."""
    import hashlib

    try:
        data = place.read_bytes()
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == sha256 else None


def _has(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


def _refuse_secrets(wish: Wish, path: str, source: str, data: bytes, proposal: Proposal) -> None:
    """Stop before a file is written that holds a secret: state/ is committed, and read by many."""
    from knowngood.syntax.secret_texts import secret_lines

    found = [f"line {line} ({name})" for line, name in secret_lines(data, path)]
    known = [text.encode("utf-8", "surrogateescape") for text in proposal.secrets.values() if len(text) >= 6]
    if not found and any(secret in data for secret in known):
        found = ["a secret that a knob or flag holds"]
    if found:
        some = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        stop(
            f"{wish.host.name}: {path} seems to hold a secret: {some}. It was not fetched into state/."
            f" If it holds none, copy it to state/{source} by hand, and capture again"
        )


def _heading(observation: Observation) -> Iterator[str]:
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(observation.now_ns // 10**9, UTC).strftime("%Y-%m-%d %H:%M UTC")
    yield f"Captured from {observation.host} on {moment}: every setting here was in sync with what ran there."
    yield "What could not be confirmed is no setting; it stands as a comment with the reason."


def _declared_secrets(desired: Desired) -> set[str]:
    from knowngood.model import Secret

    wants = (*desired.env.values(), *desired.unit_env.values(), *desired.args.values())
    return {want.source for want in wants if isinstance(want, Secret)}
