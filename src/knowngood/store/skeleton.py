"""A new project: the three folders, with an example that is valid as it stands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from knowngood.store.project import ProjectError, is_project, kept

_TEMPLATES = Path(__file__).with_name("templates")
_FOLDERS = ("inventory", "deploys", "state/files")


def write_skeleton(directory: Path, schema: str) -> list[Path]:
    """Write a new project into a directory, made where it is missing; returns the files, relative to it.

    `schema` is the manifest's JSON Schema; it goes beside the manifest, where editors find it. Nothing is
    ever overwritten: ProjectError where a project or one of the files is there, or can't be written, and then
    nothing is left behind.
    """
    contents = {
        "inventory/fleet.py": _template("fleet.txt"),
        "deploys/.gitkeep": "",
        "state/decode.yaml": _template("decode.yaml"),
        "state/manifest.schema.json": schema,
        "state/files/.gitkeep": "",
    }
    if is_project(directory):
        raise ProjectError(f"{directory} is a project already; nothing was written")
    for name in contents:
        if (directory / name).exists():
            raise ProjectError(f"{directory / name} exists already; nothing was written")
    made: list[Path] = []
    try:
        _write(directory, contents, made)
        kept(directory)
    except OSError as error:
        _take_back(made)
        raise ProjectError(f"{error.filename or directory}: {error.strerror}; nothing was written") from None
    return [Path(name) for name in contents]


def _write(directory: Path, contents: Mapping[str, str], made: list[Path]) -> None:
    for folder in (directory, *(directory / name for name in _FOLDERS)):
        for missing in [path for path in (*reversed(folder.parents), folder) if not path.exists()]:
            missing.mkdir()
            made.append(missing)
    for name, text in contents.items():
        with (directory / name).open("x", encoding="utf-8") as file:
            made.append(directory / name)
            file.write(text)


def _take_back(made: list[Path]) -> None:
    for path in reversed(made):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
