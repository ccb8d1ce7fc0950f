"""Where the project is: a directory with inventory/ and state/ in it, and .knowngood/ for what we keep."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

FOLDERS = ("inventory", "state")
VARIABLE = "KNOWNGOOD_PROJECT"
KEPT = ".knowngood"


class ProjectError(Exception):
    """There is no project where one was looked for; the text says what to do."""


def find(
    directory: str | None = None, environ: Mapping[str, str] = os.environ, start: Path | None = None
) -> Path:
    """The project's absolute path: `directory` (-C), else $KNOWNGOOD_PROJECT, else the nearest ancestor.

    `start` is where the search for an ancestor begins: the working directory. Raises ProjectError.
    """
    if directory is not None:
        return _named(directory, "-C")
    if named := environ.get(VARIABLE):
        return _named(named, f"${VARIABLE}")
    try:
        here = (start or Path.cwd()).resolve()
    except OSError as error:
        raise ProjectError(
            f"the working directory can't be read: {error.strerror}; name a project with -C"
        ) from None
    for candidate in (here, *here.parents):
        if is_project(candidate):
            return candidate
    raise ProjectError(
        f"no project: neither {here} nor a directory above it has inventory/ and state/ in it;"
        f" name one with -C or ${VARIABLE}, or make one with `knowngood init`"
    )


def is_project(directory: Path) -> bool:
    """Whether a directory has all that makes it a project."""
    return not _lacks(directory)


def kept(project: Path) -> Path:
    """The project's .knowngood/, made where it is missing, with a .gitignore. OSError if it can't be."""
    folder = project / KEPT
    folder.mkdir(mode=0o700, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="ascii")
    return folder


def _named(name: str, by: str) -> Path:
    project = Path(name).expanduser()
    if not project.is_dir():
        raise ProjectError(f"no project: {by} names {name}, which is no directory")
    if lacks := _lacks(project):
        raise ProjectError(f"no project: {name}, named by {by}, has no {' and no '.join(lacks)} in it")
    return project.resolve()


def _lacks(directory: Path) -> list[str]:
    return [f"{name}/" for name in FOLDERS if not (directory / name).is_dir()]
