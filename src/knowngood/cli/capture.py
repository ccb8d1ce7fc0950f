"""knowngood capture: a manifest written from what a node runs now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from knowngood.cli.audit import Deadlines, find_project, load_inventory
from knowngood.cli.capture_wish import Wish, check_free, manifest_name, node_paths, one_host, unit_name
from knowngood.cli.common import deadline_options, out, project_option, stop
from knowngood.model import Desired, Host, Observation, Secret

if TYPE_CHECKING:
    from knowngood.cli.capture_node import CapturedNode


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
@click.option(
    "--server",
    metavar="TEXT",
    help="Text in the command line of the process that serves, where several could be meant.",
)
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
    server: str | None,
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
    wish = Wish(
        project,
        one_host(fleet, host),
        unit := unit_name(unit),
        manifest_name(name, unit),
        node_paths(paths),
        server,
        own_script,
        force,
    )
    check_free(wish)
    _capture(wish, CapturedNode(fleet, wish.host, Deadlines(connect_timeout, timeout)))


def _capture(wish: Wish, node: CapturedNode) -> None:
    from knowngood.cli.capture_files import contents_of, has, sources_of
    from knowngood.cli.capture_look import look
    from knowngood.cli.capture_proof import Trial, masked
    from knowngood.manifest.captured import Capture
    from knowngood.report.captured import render_captured
    from knowngood.store.placing import place

    proposal, observation = look(wish, node)
    sources = sources_of(wish, proposal.desired)
    contents = contents_of(wish, node, observation, sources, proposal)
    schema = "manifest.schema.json"
    capture = Capture(
        proposal.desired,
        [wish.host.name],
        sources,
        heading=list(_heading(observation)),
        address=_address(wish.host),
        schema=schema if (wish.project / "state" / schema).is_file() else "",
    )
    proved = Trial(wish.host, observation, capture, contents).prove(proposal)
    files = {wish.project / "state" / source: data for source, data in contents.items()}
    changed = {path: data for path, data in files.items() if not has(path, data)}
    try:
        place({**changed, wish.manifest: proved.text.encode()})
    except OSError as error:
        stop(f"{error.filename or wish.project}: {error.strerror}; nothing was written")
    done = proved.proposal
    written = [path.relative_to(wish.project) for path in (wish.manifest, *changed)]
    left_out = {setting: masked(reason, done) for setting, reason in done.left_out.items()}
    remarks = [masked(remark, done) for remark in done.remarks]
    out(render_captured(done.desired, written, left_out, remarks, _declared_secrets(done.desired)))


def _address(host: Host) -> str:
    """What {host.address} stands for, where the inventory gives the host an address of its own."""
    address = host.data.get("ssh_hostname")
    return address if isinstance(address, str) and address != host.name else ""


def _heading(observation: Observation) -> Iterator[str]:
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(observation.now_ns // 10**9, UTC).strftime("%Y-%m-%d %H:%M UTC")
    yield f"Captured from {observation.host} on {moment}: every setting here was in sync with what ran there."
    yield "What could not be confirmed is no setting; it stands as a comment with the reason."


def _declared_secrets(desired: Desired) -> set[str]:
    wants = (*desired.env.values(), *desired.unit_env.values(), *desired.args.values())
    return {want.source for want in wants if isinstance(want, Secret)}
