"""A project's manifests: loaded with all their mistakes at once, and resolved for a host."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping as Map
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from knowngood.manifest import checks, fill, schema
from knowngood.manifest.desired import build
from knowngood.manifest.diagnostic import Diagnostic, ManifestError
from knowngood.manifest.merge import overridden
from knowngood.manifest.read import LARGEST_FILE, decode, read
from knowngood.manifest.source import Source
from knowngood.manifest.sources import check_sources, locate, named_entries
from knowngood.manifest.tree import Mapping, Scalar, plain
from knowngood.model import Desired, Host

_NODE_PATH = re.compile(r"/(?!.*//)(?!(.*/)?\.{1,2}(/|\Z))[^\0-\x1f\x7f]*[^/\0-\x1f\x7f]")
_UNIT_NAME = re.compile(r"[A-Za-z0-9:_.\\-]+(@[A-Za-z0-9:_.\\-]+)?\.service")


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
    _source: Source = field(repr=False)
    _tree: Mapping = field(repr=False)
    _directory: Path = field(repr=False)

    def applies_to(self, host: Host) -> bool:
        """Whether `hosts` names the host or one of its groups."""
        return any(name == host.name or name in host.groups for name in self.hosts)

    def resolve(self, host: Host, environ: Map[str, str]) -> Desired:
        """What this manifest wants of a host: overrides applied, host data filled in, secrets from `environ`.

        ManifestError when host data is missing, or a combination of overrides contradicts itself.
        """
        tree = self._tree
        overrides = tree.map("overrides").entries
        groups = [name for name in overrides if name in host.groups and name != host.name]
        for name in (*groups, *([host.name] if host.name in overrides else [])):
            override = overrides[name].value
            if isinstance(override, Mapping):
                tree = overridden(tree, override)
        mistakes = checks.check_whole(self._source, tree)
        tree, missing = fill.filled(self._source, _without_overrides(tree), host)
        mistakes += missing or _misfilled(self._source, tree, host)
        if mistakes:
            raise ManifestError(mistakes)
        return build(self._source, tree, host.name, self._directory, environ)


def load_manifests(project: Path) -> tuple[list[Manifest], list[Diagnostic]]:
    """All manifests of state/*.yaml and *.yml that are valid, by path; and all mistakes of all the others."""
    manifests: list[Manifest] = []
    diagnostics: list[Diagnostic] = []
    project = project.resolve()
    for path in manifest_files(project):
        loaded = _load(path, project)
        if isinstance(loaded, Manifest):
            manifests.append(loaded)
        else:
            diagnostics += loaded
    return manifests, diagnostics + _names_twice(manifests)


def manifest_files(project: Path) -> list[Path]:
    """The manifests of a project, by name."""
    return sorted(path for path in (project / "state").glob("*") if path.suffix in (".yaml", ".yml"))


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
        *checks.check_written(source, tree),
        *checks.check_whole(source, tree),
        *fill.malformed(source, tree),
        *check_sources(source, tree, path.parent, project),
    ]
    for entry in tree.map("overrides").entries.values():
        if isinstance(entry.value, Mapping):
            mistakes += checks.check_whole(source, overridden(tree, entry.value))
    return _in_order(mistakes) or _manifest(source, tree, path.parent, project)


def _manifest(source: Source, tree: Mapping, directory: Path, project: Path) -> Manifest:
    paths = [directory / (entry.text("source") or "") for entry, _ in named_entries(tree)]
    # A source may be a symbolic link: both it and what it leads to are part of what the manifest says.
    named = {file for path in paths for file in (path.resolve(), Path(os.path.normpath(path)))}
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
        _source=source,
        _tree=tree,
        _directory=directory,
    )


def _names_twice(manifests: list[Manifest]) -> list[Diagnostic]:
    first: dict[str, Manifest] = {}
    found = []
    for manifest in manifests:
        other = first.setdefault(manifest.name, manifest)
        name = manifest._tree.get("name")
        if other is not manifest and name:
            message = f"the name {manifest.name} is taken by {other.path}"
            found.append(manifest._source.diagnostic(name.start, message))
    return found


def _misfilled(source: Source, tree: Mapping, host: Host) -> list[Diagnostic]:
    """Paths and names that host data made into something that can't be one."""
    unit = tree.get("unit")
    named = unit.get("name") if isinstance(unit, Mapping) else unit
    found = []
    if isinstance(named, Scalar) and not _UNIT_NAME.fullmatch(named.text):
        found.append((named, f"{named.text!r} is no service's name"))
    files = [file for file in (*tree.items("files"), tree.map("serve_script")) if isinstance(file, Mapping)]
    paths = [*(file.get("path") for file in files), *tree.items("cache_dirs")]
    for path in paths:
        if isinstance(path, Scalar) and not _NODE_PATH.fullmatch(path.text):
            found.append((path, f"{path.text!r} is no absolute path"))
    return [source.diagnostic(node.start, f"on host {host.name}: {message}") for node, message in found]


def _without_overrides(tree: Mapping) -> Mapping:
    entries = {key: entry for key, entry in tree.entries.items() if key != "overrides"}
    return Mapping(entries, tree.start, tree.flow)


def _in_order(mistakes: list[Diagnostic]) -> list[Diagnostic]:
    return sorted(dict.fromkeys(mistakes), key=lambda mistake: (mistake.line, mistake.column))
