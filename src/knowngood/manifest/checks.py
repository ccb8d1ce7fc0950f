"""What a schema can't say: what is missing or contradicts itself once overrides are applied."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from knowngood.manifest.desired import SECTIONS
from knowngood.manifest.diagnostic import Diagnostic
from knowngood.manifest.merge import as_unit
from knowngood.manifest.source import Source
from knowngood.manifest.tree import Entry, Mapping, Scalar, Sequence

_KNOB_DIRECTIVES = ("Environment", "EnvironmentFile", "PassEnvironment", "UnsetEnvironment")


def check_whole(source: Source, tree: Mapping) -> list[Diagnostic]:
    """What is wrong in a tree with overrides applied, whether or not host data is filled in."""
    return list(_whole(source, tree))


def _whole(source: Source, tree: Mapping) -> Iterator[Diagnostic]:
    yield from _unit_named(source, tree)
    yield from _files_whole(source, tree)
    yield from files_once(source, tree)
    yield from _knobs_once(source, tree)
    yield from _directives(source, tree)
    yield from _flags_once(source, tree)
    yield from _health_once(source, tree)


def _unit_named(source: Source, tree: Mapping) -> Iterator[Diagnostic]:
    unit = tree.get("unit")
    whole = as_unit(unit) if unit else None
    if isinstance(whole, Mapping) and not whole.text("name"):
        yield source.diagnostic(whole.start, "unit has no name")


def _files_whole(source: Source, tree: Mapping) -> Iterator[Diagnostic]:
    for file in tree.items("files"):
        if isinstance(file, Mapping) and "source" not in file.entries:
            message = f"{file.text('path')} has no source, and no file of the manifest has this path"
            yield source.diagnostic(file.start, message)
    script = tree.get("serve_script")
    if isinstance(script, Mapping) and "path" not in script.entries:
        yield source.diagnostic(script.start, "serve_script has no path")


def files_once(source: Source, tree: Mapping) -> Iterator[Diagnostic]:
    """Paths that two files have, or a file and the serve script."""
    first: dict[str, Scalar] = {}
    script = tree.map("serve_script").get("path")
    for file in tree.items("files"):
        path = file.get("path") if isinstance(file, Mapping) else None
        if not isinstance(path, Scalar):
            continue
        if path.text in first:
            line = source.place(first[path.text].start).line
            yield source.diagnostic(path.start, f"{path.text} is declared twice: also in line {line}")
        first.setdefault(path.text, path)
    if isinstance(script, Scalar) and script.text in first:
        line = source.place(first[script.text].start).line
        message = f"{script.text} is the serve script, and one of the files too (line {line})"
        yield source.diagnostic(script.start, message)


def _knobs_once(source: Source, tree: Mapping) -> Iterator[Diagnostic]:
    exported = tree.map("serve_script").map("env").entries
    for name, entry in tree.map("systemd").map("Environment").entries.items():
        if name in exported:
            line = source.place(exported[name].key.start).line
            message = (
                f"{name} is a knob of the serve script too (line {line}): only one of the two can deliver it"
            )
            yield source.diagnostic(entry.key.start, message)


def _directives(source: Source, tree: Mapping) -> Iterator[Diagnostic]:
    for section in SECTIONS:
        for name, entry in tree.map("systemd").map(section).entries.items():
            if name in _KNOB_DIRECTIVES:
                message = f"{section}.{name}: knobs that the unit delivers stand under systemd: Environment"
                yield source.diagnostic(entry.key.start, message)
            else:
                yield from _directive(source, section, name, entry)


def _directive(source: Source, section: str, name: str, entry: Entry) -> Iterator[Diagnostic]:
    """A directive that systemd does not know is ignored by it, and a value that it refuses too."""
    # Only a manifest with directives pays for systemd's language.
    from knowngood.syntax.systemd.canonical import canonical
    from knowngood.syntax.systemd.directives import KIND_OF, SAME_AS

    directive = f"{section}.{name}"
    if directive not in KIND_OF and directive not in SAME_AS:
        others = [known for known in KIND_OF if known.partition(".")[2] == name]
        near = others or difflib.get_close_matches(directive, KIND_OF, n=1)
        hint = f"did you mean {near[0]}?" if near else ""
        yield source.diagnostic(entry.key.start, f"systemd knows no {directive}", hint)
        return
    for line in entry.value.items if isinstance(entry.value, Sequence) else [entry.value]:
        if isinstance(line, Scalar) and line.text and "{host." not in line.text:
            try:
                canonical(directive, line.text)
            except ValueError as error:
                yield source.diagnostic(line.start, f"{directive}: systemd would not take this: {error}")


def _flags_once(source: Source, tree: Mapping) -> Iterator[Diagnostic]:
    script = tree.map("serve_script")
    flags = script.map("args").entries
    groups: dict[str, int] = {}
    for number, group in enumerate(script.items("aliases")):
        names = (
            [item for item in group.items if isinstance(item, Scalar)] if isinstance(group, Sequence) else []
        )
        for name in names:
            if groups.setdefault(name.text, number) != number:
                yield source.diagnostic(name.start, f"{name.text} is in two lists of aliases")
        declared = [flags[name.text] for name in names if name.text in flags]
        for entry in declared[1:]:
            message = f"{entry.key.text} and {declared[0].key.text} mean the same flag, by the aliases"
            yield source.diagnostic(entry.key.start, message)


def _health_once(source: Source, tree: Mapping) -> Iterator[Diagnostic]:
    health = tree.get("health")
    if isinstance(health, Mapping) and len(health.entries.keys() & {"http", "command", "completion"}) != 1:
        yield source.diagnostic(
            health.start, "health must have one of http, command and completion, and only one"
        )
