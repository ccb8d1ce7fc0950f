"""What is wrong in a manifest as it is written, before any override is applied."""

from __future__ import annotations

from collections.abc import Iterator

from knowngood.manifest.checks import files_once
from knowngood.manifest.desired import SECTIONS
from knowngood.manifest.diagnostic import Diagnostic
from knowngood.manifest.source import Source
from knowngood.manifest.tree import Entry, Mapping, Scalar


def check_written(source: Source, tree: Mapping) -> list[Diagnostic]:
    """Mistakes that the tree shows by itself, and the schema can't tell."""
    parts = [entry.value for entry in tree.map("overrides").entries.values()]
    overrides = [part for part in parts if isinstance(part, Mapping)]
    return [
        *_managed_in_base(source, tree),
        *(mistake for override in overrides for mistake in files_once(source, override)),
        *_unmanaged_for_nothing(source, tree, overrides),
        *_days(source, tree),
    ]


def _settings(part: Mapping) -> Iterator[tuple[tuple[str, str], Entry]]:
    """Every setting of a manifest or override that can be unmanaged, by its section and name."""
    script, systemd = part.map("serve_script"), part.map("systemd")
    sections = {"env": script.map("env"), "args": script.map("args")}
    sections |= {name: systemd.map(name) for name in (*SECTIONS, "Environment")}
    for section, values in sections.items():
        for name, entry in values.entries.items():
            yield (section, name), entry
    for file in part.items("files"):
        path = file.get("path") if isinstance(file, Mapping) else None
        if isinstance(path, Scalar):
            yield ("files", path.text), Entry(path, file)


def _is_unmanaged(entry: Entry) -> bool:
    value = entry.value
    return isinstance(value, Mapping) and (value.tag == "unmanaged" or value.flag("unmanaged") is True)


def _managed_in_base(source: Source, tree: Mapping) -> Iterator[Diagnostic]:
    for (_, name), entry in _settings(tree):
        if _is_unmanaged(entry):
            yield source.diagnostic(entry.value.start, f"{name}: unmanaged has a meaning in overrides only")


def _unmanaged_for_nothing(source: Source, tree: Mapping, overrides: list[Mapping]) -> Iterator[Diagnostic]:
    overridden = [setting for override in overrides for setting in _settings(override)]
    managed = {key for key, entry in (*_settings(tree), *overridden) if not _is_unmanaged(entry)}
    for key, entry in overridden:
        if _is_unmanaged(entry) and key not in managed:
            section, name = key
            hint = _near(name, [other for where, other in managed if where == section])
            yield source.diagnostic(
                entry.key.start, f"nothing manages {name}, so there is nothing to undo", hint
            )


def _near(name: str, names: list[str]) -> str:
    import difflib

    return "".join(f"did you mean {near!r}?" for near in difflib.get_close_matches(name, sorted(names), n=1))


def _days(source: Source, tree: Mapping) -> Iterator[Diagnostic]:
    for accepted in tree.items("accept"):
        until = accepted.get("until") if isinstance(accepted, Mapping) else None
        if isinstance(until, Scalar) and not _is_day(until.text):
            yield source.diagnostic(until.start, f"{until.text} is no day of the calendar")


def _is_day(text: str) -> bool:
    from datetime import date

    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
