"""knowngood explain: what a serve script or a unit would start, offline."""

from __future__ import annotations

from pathlib import Path

import click

from knowngood.cli.common import json_option, out, stop

_LARGEST = 10 * 1024 * 1024  # bytes


@click.command("explain")
@click.argument("file", metavar="FILE")
@json_option
def command(file: str, as_json: bool) -> None:
    """Tell what the server would get from a serve script or a unit: every knob and flag with its line.

    What can't be told without running it is unknown, with the reason. Nothing is run, nothing is contacted.
    Values of secret-looking names are masked. Exit codes: 0, or 2 when FILE can't be read.
    """
    from knowngood.report.explained import explained_json, render_explained
    from knowngood.syntax.explanation import explain

    text = _read(Path(file))
    explanation = explain(file, text)
    out(explained_json(explanation) if as_json else render_explained(explanation, file, text))


def _read(path: Path) -> bytes:
    try:
        if not path.is_file():
            stop(f"{path}: no such file" if not path.exists() else f"{path}: not a regular file")
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
    except OSError as error:
        stop(f"{path}: can't be read: {error.strerror}")
    if len(text) > _LARGEST:
        stop(f"{path}: larger than {_LARGEST // 1024 // 1024} MB, which no serve script is")
    return text
