"""One manifest for one host: overrides applied, host data filled in, secrets read.

A fleet has many hosts and few combinations of overrides, so what depends on those alone is worked out once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as Map
from dataclasses import dataclass, field, replace
from pathlib import Path

from knowngood.manifest import fill
from knowngood.manifest.checks import check_whole, files_once
from knowngood.manifest.desired import build, declared, with_script_text
from knowngood.manifest.diagnostic import Diagnostic, ManifestError
from knowngood.manifest.merge import overridden
from knowngood.manifest.source import Source
from knowngood.manifest.tree import Mapping, Node, Scalar
from knowngood.model import Desired, Host, Place, Setting

_NODE_PATH = re.compile(r"/(?!.*//)(?!(.*/)?\.{1,2}(/|\Z))[^\0-\x1f\x7f]*[^/\0-\x1f\x7f]")
_UNIT_NAME = re.compile(r"[A-Za-z0-9:_.\\-]+(@[A-Za-z0-9:_.\\-]+)?\.service")


@dataclass(frozen=True, slots=True)
class _Overridden:
    """The manifest with some overrides applied, and what needs no host to be known of it."""

    tree: Mapping
    mistakes: list[Diagnostic]
    references: fill.References
    places: Map[Setting, Place]


@dataclass(slots=True)
class Resolver:
    """Resolves one valid manifest. `directory` is its own, which sources are relative to."""

    source: Source
    tree: Mapping
    directory: Path
    _known: dict[tuple[str, ...], _Overridden] = field(default_factory=dict)

    def resolve(self, host: Host, environ: Map[str, str]) -> Desired:
        """What the manifest wants of a host; ManifestError with all that is wrong for it."""
        whole = self._overridden(host)
        tree, mistakes = fill.filled(self.source, whole.tree, host, whole.references)
        # Paths are part of settings' names: where a host fills them in, two can become one.
        fixed = whole.references.isdisjoint(map(id, _paths(whole.tree)))
        if not mistakes:
            mistakes = [*self._misfilled(tree, host), *([] if fixed else files_once(self.source, tree))]
        if mistakes := [*whole.mistakes, *mistakes]:
            raise ManifestError(mistakes)
        desired = build(tree, host.name, self.directory, environ)
        places = whole.places if fixed else self._places(tree)
        return with_script_text(replace(desired, places=places))

    def _overridden(self, host: Host) -> _Overridden:
        overrides = self.tree.map("overrides").entries
        names = [name for name in overrides if name in host.groups and name != host.name]
        names += [host.name] if host.name in overrides else []
        key = tuple(names)
        if key not in self._known:
            tree = _without_overrides(self.tree)
            for name in names:
                override = overrides[name].value
                if isinstance(override, Mapping):
                    tree = overridden(tree, override)
            mistakes = check_whole(self.source, tree)
            self._known[key] = _Overridden(tree, mistakes, fill.references(tree), self._places(tree))
        return self._known[key]

    def _places(self, tree: Mapping) -> dict[Setting, Place]:
        return {setting: self.source.place(node.start) for setting, node in declared(tree)}

    def _misfilled(self, tree: Mapping, host: Host) -> list[Diagnostic]:
        """Paths and names that host data made into something that can't be one."""
        unit = tree.get("unit")
        named = unit.get("name") if isinstance(unit, Mapping) else unit
        found = []
        if isinstance(named, Scalar) and not _UNIT_NAME.fullmatch(named.text):
            found.append((named, f"{named.text!r} is no service's name"))
        for path in (*_paths(tree), *tree.items("cache_dirs")):
            if isinstance(path, Scalar) and not _NODE_PATH.fullmatch(path.text):
                found.append((path, f"{path.text!r} is no absolute path"))
        return [self.source.diagnostic(node.start, f"on host {host.name}: {wrong}") for node, wrong in found]


def _paths(tree: Mapping) -> list[Node]:
    """The paths of the files and of the serve script."""
    files = [file for file in (*tree.items("files"), tree.map("serve_script")) if isinstance(file, Mapping)]
    return [entry.value for file in files if (entry := file.entries.get("path"))]


def _without_overrides(tree: Mapping) -> Mapping:
    entries = {key: entry for key, entry in tree.entries.items() if key != "overrides"}
    return Mapping(entries, tree.start, tree.flow)
