"""The files that a manifest names: inside the project, there, and with the content it says."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from knowngood.manifest.diagnostic import Diagnostic
from knowngood.manifest.fill import refers
from knowngood.manifest.source import Source
from knowngood.manifest.tree import Mapping, Node, Scalar

LARGEST_SCRIPT = 1_000_000  # bytes; it is read into memory and parsed
WRITE_HASHES = "`knowngood validate --write-hashes` writes it"


def named_entries(tree: Mapping) -> Iterator[tuple[Mapping, bool]]:
    """Each file entry, of the manifest and its overrides, that names a source; True for a serve script."""
    overrides = tree.map("overrides").entries.values()
    for part in (tree, *(entry.value for entry in overrides)):
        if not isinstance(part, Mapping):
            continue
        for file in part.items("files"):
            if isinstance(file, Mapping) and file.text("source"):
                yield file, False
        if part.map("serve_script").text("source"):
            yield part.map("serve_script"), True


def check_sources(source: Source, tree: Mapping, directory: Path, project: Path) -> list[Diagnostic]:
    """Every named source must be a regular file inside the project, and have the hash that stands with it."""
    return [
        diagnostic
        for entry, is_script in named_entries(tree)
        for diagnostic in _check(source, entry, is_script, directory, project)
    ]


def hash_of(path: Path) -> str:
    """The SHA-256 of a file's content, in lower-case hex. OSError when it can't be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def locate(text: str, directory: Path, project: Path) -> Path | str:
    """The regular file that a source means; else what is wrong with it, in words."""
    if refers(text):
        return "a source can't hold host data, for it is checked without hosts: use overrides"
    path = directory / text
    try:
        resolved = path.resolve(strict=True)
        if not resolved.is_relative_to(project.resolve()):
            leads = f", it leads to {resolved}" if resolved != Path(os.path.normpath(path)) else ""
            return f"{text} is outside the project{leads}"
        if not stat.S_ISREG(resolved.stat().st_mode):
            return f"{text} is not a regular file"
    except FileNotFoundError:
        outside = not Path(os.path.normpath(path)).is_relative_to(project)
        return f"{text} is outside the project" if outside else f"{text} does not exist"
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
        return f"{text} can't be read: {getattr(error, 'strerror', None) or 'a loop of symbolic links'}"
    return resolved


def _check(
    source: Source, entry: Mapping, is_script: bool, directory: Path, project: Path
) -> Iterator[Diagnostic]:
    named = entry.get("source")
    if not isinstance(named, Scalar):
        return
    path = locate(named.text, directory, project)
    if isinstance(path, str):
        yield source.diagnostic(named.start, path)
    elif is_script:
        yield from _check_script(source, named, path)
    else:
        yield from _check_hash(source, entry, named, path)


def _check_script(source: Source, named: Scalar, path: Path) -> Iterator[Diagnostic]:
    try:
        if path.stat().st_size > LARGEST_SCRIPT:
            yield source.diagnostic(named.start, f"{named.text} is larger than 1 MB: no serve script is")
        path.open("rb").close()
    except OSError as error:
        yield source.diagnostic(named.start, f"{named.text} can't be read: {error.strerror}")


def _check_hash(source: Source, entry: Mapping, named: Scalar, path: Path) -> Iterator[Diagnostic]:
    try:
        actual = hash_of(path)
    except OSError as error:
        yield source.diagnostic(named.start, f"{named.text} can't be read: {error.strerror}")
        return
    declared: Node | None = entry.get("sha256")
    if entry.text("sha256") in (None, "") or not isinstance(declared, Scalar):
        yield source.diagnostic(named.start, f"the sha256 of {named.text} is missing", WRITE_HASHES)
    elif declared.text != actual:
        message = f"{named.text} has the sha256 {actual}, and {declared.text} stands here"
        yield source.diagnostic(declared.start, message, f"if the file is right, {WRITE_HASHES}")
