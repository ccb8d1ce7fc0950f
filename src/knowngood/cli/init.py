"""knowngood init: a new project."""

from __future__ import annotations

from pathlib import Path

import click

from knowngood.cli.common import out, stop

_STEPS = """\
  1. list your nodes in inventory/fleet.py
  2. edit state/decode.yaml, or write a manifest from what a node runs: knowngood capture HOST --unit UNIT
  3. knowngood validate
  4. knowngood drift
"""


@click.command("init")
@click.argument("directory", metavar="[DIR]", default=".", type=click.Path(file_okay=False))
def command(directory: str) -> None:
    """Write inventory/, deploys/ and state/ for a new project, with an example.

    DIR is the working directory where it is not named. Nothing is overwritten. Exit codes: 0 done, 2 nothing
    was written.
    """
    from knowngood.manifest import schema_text
    from knowngood.store.project import ProjectError
    from knowngood.store.skeleton import write_skeleton

    project = Path(directory)
    try:
        files = write_skeleton(project, schema_text())
    except ProjectError as error:
        stop(str(error))
    out("".join(f"wrote {project / file}\n" for file in files if file.name != ".gitkeep"))
    where = "" if project == Path() else f", in {project}"
    out(f"next{where}:\n{_STEPS}")
