"""A project's manifests: loaded with all their mistakes at once, and resolved for a host."""

from __future__ import annotations

import os
from collections.abc import Mapping as Map
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from knowngood.manifest import fill, schema
from knowngood.manifest.checks import check_whole
from knowngood.manifest.diagnostic import Diagnostic
from knowngood.manifest.merge import overridden
from knowngood.manifest.read import LARGEST_FILE, decode, read
from knowngood.manifest.resolve import Resolver
from knowngood.manifest.source import Source
from knowngood.manifest.sources import check_sources, locate, named_entries
from knowngood.manifest.tree import Mapping, Scalar, plain
from knowngood.manifest.written import check_written
from knowngood.model import Desired, Host


@dataclass(frozen=True, slots=True)
class Manifest:
    """A valid manifest. `path` and `sources` are relative to the project, with forward slashes."""

    name: str
    path: str
    hosts: tuple[str, ...]
    sources: tuple[str, ...]  # the files it names, which belong to it
    overrides: tuple[str, ...]  # groups and hosts that it overrides something for
    rollout: Map[str, object]
    accept: tuple[Map[str, object], ...]
    _resolver: Resolver = field(repr=False, compare=False)

    def applies_to(self, host: Host) -> bool:
        """Whether `hosts` names the host or one of its groups."""
        return any(name == host.name or name in host.groups for name in self.hosts)

    def resolve(self, host: Host, environ: Map[str, str]) -> Desired:
        """What this manifest wants of a host: overrides applied, host data filled in, secrets from `environ`.

        ManifestError when host data is missing, or a combination of overrides contradicts itself.
        """
        return self._resolver.resolve(host, environ)


def load_manifests(project: Path) -> tuple[list[Manifest], list[Diagnostic]]:
    """All manifests of state/*.yaml and *.yml that are valid, by path; and all mistakes of all the others."""
    manifests: list[Manifest] = []
    diagnostics: list[Diagnostic] = []
    project = project.resolve()
    try:
        paths = manifest_files(project)
    except OSError as error:
        return [], [Diagnostic("state", 1, 1, f"the folder can't be read: {error.strerror}")]
    for path in paths:
        loaded = _load(path, project)
        if isinstance(loaded, Manifest):
            manifests.append(loaded)
        else:
            diagnostics += loaded
    return manifests, diagnostics + _names_twice(manifests)


def manifest_files(project: Path) -> list[Path]:
    """The manifests of a project, by name; hidden files, as editors leave them, are none.

    OSError when state/ can't be read.
    """
    paths = (project / "state").iterdir()
    return sorted(path for path in paths if path.suffix in (".yaml", ".yml") and path.name[0] != ".")


def read_text(path: Path, project: Path) -> Source | Diagnostic:
    """A manifest's text: of a regular file inside the project, UTF-8, and not too large."""
    name = path.relative_to(project).as_posix()
    located = locate(path.name, path.parent, project)
    if isinstance(located, str):
        return Diagnostic(name, 1, 1, located)
    try:
        with located.open("rb") as file:
            return decode(name, file.read(LARGEST_FILE + 1))
    except OSError as error:
        return Diagnostic(name, 1, 1, f"can't be read: {error.strerror}")


def _read(path: Path, project: Path) -> tuple[Source, Mapping] | list[Diagnostic]:
    """A manifest's text and tree, valid as YAML and by the schema; else its mistakes."""
    source = read_text(path, project)
    if isinstance(source, Diagnostic):
        return [source]
    tree, mistakes = read(source)
    if tree is None:
        return mistakes
    return _in_order(mistakes + schema.check(source, tree)) or (source, tree)


def _load(path: Path, project: Path) -> Manifest | list[Diagnostic]:
    found = _read(path, project)
    if isinstance(found, list):
        return found
    source, tree = found
    mistakes = [
        *check_written(source, tree),
        *check_whole(source, tree),
        *fill.malformed(source, tree),
        *check_sources(source, tree, path.parent, project),
    ]
    for entry in tree.map("overrides").entries.values():
        if isinstance(entry.value, Mapping):
            mistakes += check_whole(source, overridden(tree, entry.value))
    return _in_order(mistakes) or _manifest(source, tree, path.parent, project)


def _manifest(source: Source, tree: Mapping, directory: Path, project: Path) -> Manifest:
    paths = [directory / (entry.text("source") or "") for entry, _ in named_entries(tree)]
    # Sources and the manifest itself may be symbolic links: what they lead to is part of what it says.
    named = {file for path in paths for file in (path.resolve(), Path(os.path.normpath(path)))}
    named |= {(project / source.path).resolve()} - {project / source.path}
    return Manifest(
        name=tree.text("name") or "",
        path=source.path,
        hosts=tuple(item.text for item in tree.items("hosts") if isinstance(item, Scalar)),
        sources=tuple(
            sorted(file.relative_to(project).as_posix() for file in named if file.is_relative_to(project))
        ),
        overrides=tuple(tree.map("overrides").entries),
        rollout=cast(dict[str, object], plain(tree.map("rollout"))),
        accept=tuple(cast(dict[str, object], plain(item)) for item in tree.items("accept")),
        _resolver=Resolver(source, tree, directory),
    )


def _names_twice(manifests: list[Manifest]) -> list[Diagnostic]:
    first: dict[str, Manifest] = {}
    found = []
    for manifest in manifests:
        other = first.setdefault(manifest.name, manifest)
        source, name = manifest._resolver.source, manifest._resolver.tree.get("name")
        if other is not manifest and name:
            found.append(source.diagnostic(name.start, f"the name {manifest.name} is taken by {other.path}"))
    return found


def _in_order(mistakes: list[Diagnostic]) -> list[Diagnostic]:
    return sorted(dict.fromkeys(mistakes), key=lambda mistake: (mistake.line, mistake.column))
