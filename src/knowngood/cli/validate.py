"""knowngood validate: the manifests checked, offline."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from knowngood.cli.common import json_option, out, project_option, stop
from knowngood.model import ExitCode

if TYPE_CHECKING:
    from knowngood.manifest import Diagnostic, Manifest, WrittenHash


@click.command("validate")
@project_option
@json_option
@click.option(
    "--write-hashes",
    is_flag=True,
    help="Write the sha256 of every source into the manifests, where it differs.",
)
def command(directory: str | None, as_json: bool, write_hashes: bool) -> None:
    """Check the manifests, offline.

    Every mistake of every manifest is told with its file, line and column. Exit codes: 0 all are valid,
    2 mistakes, or no project.
    """
    from knowngood import manifest
    from knowngood.store.project import ProjectError, find

    try:
        project = find(directory)
    except ProjectError as error:
        stop(str(error))
    written: Sequence[WrittenHash] = ()
    unwritten: Sequence[Diagnostic] = ()
    try:
        if write_hashes:
            written, unwritten = manifest.write_hashes(project)
    except OSError as error:
        stop(f"{error.filename}: {error.strerror}")
    manifests, diagnostics = manifest.load_manifests(project)
    mistakes = [*unwritten, *diagnostics]
    code = ExitCode.OK if manifests and not mistakes else ExitCode.USAGE
    out(_json(manifests, mistakes, written, code) if as_json else _text(manifests, mistakes, written))
    if code and not mistakes:
        stop(f"no manifest in {project / 'state'}: `knowngood init` shows what one looks like")
    raise SystemExit(int(code))


def _text(
    manifests: Sequence[Manifest], mistakes: Sequence[Diagnostic], written: Sequence[WrittenHash]
) -> str:
    lines = [f"{one.path}:{one.line}: {one.source}: {_change(one)}" for one in written]
    for mistake in mistakes:
        lines += [mistake.render(), ""]
    if mistakes:
        files = len({mistake.path for mistake in mistakes})
        lines.append(f"{_count(len(mistakes), 'mistake')} in {_count(files, 'manifest')}")
    elif manifests:
        lines.append(f"{_count(len(manifests), 'manifest')} checked: no mistakes")
    return "".join(f"{line}\n" for line in lines)


def _change(one: WrittenHash) -> str:
    return f"sha256 {one.former} → {one.sha256}" if one.former else f"sha256 {one.sha256} added"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _json(
    manifests: Sequence[Manifest],
    mistakes: Sequence[Diagnostic],
    written: Sequence[WrittenHash],
    code: ExitCode,
) -> str:
    answer = {
        "schema_version": 1,
        "manifests": [{"name": one.name, "path": one.path} for one in manifests],
        "diagnostics": [
            {
                "path": mistake.path,
                "line": mistake.line,
                "column": mistake.column,
                "message": mistake.message,
                "hint": mistake.hint or None,
            }
            for mistake in mistakes
        ],
        "written": [
            {
                "path": one.path,
                "line": one.line,
                "source": one.source,
                "former": one.former,
                "sha256": one.sha256,
            }
            for one in written
        ],
        "exit_code": int(code),
    }
    return json.dumps(answer, indent=2) + "\n"
