"""knowngood drift: the three sources of truth compared, for every node."""

from __future__ import annotations

import shutil
import sys

import click

from knowngood.cli.audit import Deadlines, look, scope
from knowngood.cli.common import (
    deadline_options,
    inventory_options,
    json_option,
    out,
    project_option,
    verbose_option,
    wants_color,
)


@click.command("drift")
@project_option
@inventory_options
@deadline_options
@json_option
@verbose_option
@click.option("--rehash", is_flag=True, help="Hash every file anew; trust no node's cache of hashes.")
def command(
    directory: str | None,
    inventory: str | None,
    limits: tuple[str, ...],
    timeout: float,
    connect_timeout: float,
    as_json: bool,
    verbose: int,
    rehash: bool,
) -> None:
    """Compare manifest, disk and running process on every node.

    Exit codes: 0 all in sync, 1 drift, 2 usage or bad input, 3 no drift seen but a node could not be fully
    observed.
    """
    from knowngood.report.progress import Progress

    view = scope(directory, inventory, limits)
    with Progress() as progress:
        report = look(view, Deadlines(connect_timeout, timeout), progress, rehash=rehash)
    if as_json:
        from knowngood.report.json import drift_json

        out(drift_json(report))
    else:
        from knowngood.report.terminal import render_drift

        width = (
            shutil.get_terminal_size((100, 24)).columns
            if sys.stdout is not None and sys.stdout.isatty()
            else 100
        )
        out(
            render_drift(
                report, width=width, color=wants_color(), verbose=verbose, next_command="knowngood plan"
            )
        )
    raise SystemExit(int(report.exit_code))
