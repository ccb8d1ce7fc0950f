"""Writing the sha256 of sources into manifests, touching no other byte of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from knowngood.manifest.diagnostic import Diagnostic
from knowngood.manifest.load import manifest_files, read_text
from knowngood.manifest.read import read
from knowngood.manifest.source import Source
from knowngood.manifest.sources import hash_of, locate, named_entries
from knowngood.manifest.tree import Entry, Mapping, Scalar


@dataclass(frozen=True, slots=True)
class WrittenHash:
    """One sha256 that was written: where, of which source, and what stood there before."""

    path: str  # of the manifest, relative to the project
    line: int
    source: str  # as the manifest names it
    former: str | None
    sha256: str


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str
    written: WrittenHash


def write_hashes(project: Path) -> tuple[list[WrittenHash], list[Diagnostic]]:
    """Fill in and correct every sha256 of a project's manifests: what was written, and what can't be.

    Manifests that can't be read as YAML, and sources that are missing or outside the project, are left to
    load_manifests to tell. A manifest is replaced as a whole or not at all. OSError when it can't be.
    """
    written: list[WrittenHash] = []
    diagnostics: list[Diagnostic] = []
    project = project.resolve()
    for path in manifest_files(project):
        source = read_text(path, project)
        tree = read(source)[0] if isinstance(source, Source) else None
        if not isinstance(source, Source) or tree is None:
            continue
        edits, mistakes = _edits(source, tree, path.parent, project)
        diagnostics += mistakes
        if edits:
            _replace(path.resolve(), _edited(source.text, edits))
            written += [edit.written for edit in edits]
    return written, diagnostics


def _edits(
    source: Source, tree: Mapping, directory: Path, project: Path
) -> tuple[list[_Edit], list[Diagnostic]]:
    edits: dict[tuple[int, int], _Edit] = {}
    mistakes = []
    for named, is_script in named_entries(tree):
        text = named.text("source") or ""
        located = locate(text, directory, project)
        if is_script or isinstance(located, str):
            continue
        try:
            actual = hash_of(located)
        except OSError:
            continue
        if named.text("sha256") == actual:
            continue
        edit = _edit(source, named, text, actual)
        if isinstance(edit, Diagnostic):
            mistakes.append(edit)
        else:
            edits[edit.start, edit.end] = edit
    return sorted(edits.values(), key=lambda edit: edit.start), mistakes


def _edit(source: Source, file: Mapping, name: str, sha256: str) -> _Edit | Diagnostic:
    declared = file.entries.get("sha256")
    found = _changed(source, declared, sha256) if declared else _added(source, file, sha256)
    if not found:
        message = f"the sha256 of {name} is not written in a way that can be edited: write sha256: {sha256}"
        return source.diagnostic(file.start, message)
    start, end, text = found
    written = WrittenHash(source.path, source.place(start).line, name, file.text("sha256") or None, sha256)
    return _Edit(start, end, text, written)


def _changed(source: Source, declared: Entry, sha256: str) -> tuple[int, int, str] | None:
    """Where to put the hash in place of a value that stands there, or of none."""
    key, value = declared
    # An alias's value stands where its anchor is, and an anchor's has more in its span than its text.
    if not isinstance(value, Scalar) or value.start < key.end:
        return None
    there = source.text[value.start : value.end]
    if not there:
        return value.start, value.end, f" {sha256}"
    if there == value.text:
        return value.start, value.end, sha256
    if there[1:-1] == value.text and there[0] == there[-1]:
        return value.start + 1, value.end - 1, sha256
    return None


def _added(source: Source, file: Mapping, sha256: str) -> tuple[int, int, str] | None:
    """Where to add the key: after the source, in the style of its map."""
    key, value = file.entries["source"]
    if not isinstance(value, Scalar) or value.start < key.end:
        return None
    there = source.text[value.start : value.end]
    if value.text not in (there, there[1:-1]):
        return None
    if file.flow:
        return value.end, value.end, f", sha256: {sha256}"
    newline = source.text.find("\n", value.end)
    end = newline if newline >= 0 else len(source.text)
    ending = "\n"
    if source.text[end - 1 : end] == "\r":
        end, ending = end - 1, "\r\n"
    indent = " " * (source.place(key.start).column - 1)
    return end, end, f"{ending}{indent}sha256: {sha256}"


def _edited(text: str, edits: list[_Edit]) -> str:
    return "".join(_pieces(text, edits))


def _pieces(text: str, edits: list[_Edit]) -> Iterator[str]:
    position = 0
    for edit in edits:
        yield text[position : edit.start]
        yield edit.text
        position = edit.end
    yield text[position:]


def _replace(path: Path, text: str) -> None:
    """The file with a new text, or as it was: never a half of either."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(path.stat().st_mode & 0o7777)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
