"""From a manifest's tree, overrides applied and host data filled in, to Desired."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Mapping as Map
from dataclasses import replace
from pathlib import Path

from knowngood.manifest.merge import as_unit
from knowngood.manifest.tree import Mapping, Node, Scalar, Sequence, plain
from knowngood.model import (
    ABSENT,
    Absent,
    Desired,
    DesiredFile,
    DesiredScript,
    Known,
    Occurrences,
    Plain,
    Secret,
    Setting,
    Want,
)

SECTIONS = ("Unit", "Service")


def build(tree: Mapping, host: str, directory: Path, environ: Map[str, str]) -> Desired:
    """Desired for a host. `directory` is the manifest's own, which sources are relative to.

    The tree is valid; secrets are read from `environ`, and an unset one becomes a Secret without text. Places
    are left to the caller, who has the source.
    """
    unit = _unit(tree)
    script = tree.map("serve_script")
    systemd = tree.map("systemd")
    active = unit.flag("active")
    health = tree.get("health")
    return Desired(
        manifest=tree.text("name") or "",
        host=host,
        unit=unit.text("name") or "",
        active=True if active is None else active,
        enabled=unit.flag("enabled"),
        server=tree.text("server"),
        files=tuple(_file(file, directory) for file in tree.items("files") if isinstance(file, Mapping)),
        script=_script(script, directory) if "serve_script" in tree.entries else None,
        env=_wants(script.map("env"), environ, _text),
        args=_wants(script.map("args"), environ, _occurrences),
        aliases=tuple(_texts(group) for group in script.items("aliases")),
        directives=dict(_directives(systemd)),
        unit_env=_wants(systemd.map("Environment"), environ, _text),
        dropin=systemd.text("dropin") or "zz-knowngood.conf",
        cache_dirs=_texts(tree.get("cache_dirs")),
        health=_plain_map(health) if health else None,
    )


def with_script_text(desired: Desired) -> Desired:
    """The same, with the text of an owned serve script: its source with the declared settings edited in."""
    script = desired.script
    if script is None or script.source_text is None:
        return desired
    # Only an owned script needs bash's reader, and `validate` never does.
    from knowngood.syntax.bash import CannotEdit
    from knowngood.syntax.settings import with_settings

    try:
        text = with_settings(
            script.source_text, desired.script_knobs(), desired.script_flags(), desired.server
        )
    except CannotEdit as error:
        return replace(desired, script=replace(script, why_no_text=str(error)))
    return replace(desired, script=replace(script, text=text))


def octal(mode: str | None) -> str | None:
    """A mode as four octal digits."""
    return mode.zfill(4) if mode else None


def _unit(tree: Mapping) -> Mapping:
    unit = tree.get("unit")
    whole = as_unit(unit) if unit else None
    return whole if isinstance(whole, Mapping) else Mapping({}, tree.start)


def _file(file: Mapping, directory: Path) -> DesiredFile:
    return DesiredFile(
        path=file.text("path") or "",
        sha256=file.text("sha256") or "",
        source=str((directory / (file.text("source") or "")).resolve()),
        mode=octal(file.text("mode")),
        owner=file.text("owner"),
        group=file.text("group"),
        loaded=file.flag("loaded") is not False,
    )


def _script(script: Mapping, directory: Path) -> DesiredScript:
    named = script.text("source")
    source = (directory / named).resolve() if named else None
    return DesiredScript(
        path=script.text("path") or "",
        source=str(source) if source else None,
        source_text=source.read_bytes() if source else None,
        mode=octal(script.text("mode")),
        owner=script.text("owner"),
        group=script.text("group"),
    )


def _wants(values: Mapping, environ: Map[str, str], known: Callable[[Node], Plain]) -> dict[str, Want]:
    return {name: _want(entry.value, environ, known) for name, entry in values.entries.items()}


def _want(value: Node, environ: Map[str, str], known: Callable[[Node], Plain]) -> Want:
    tag = value.tag if isinstance(value, Mapping) else None
    if tag == "absent":
        return ABSENT
    if tag == "secret" and isinstance(value, Mapping):
        name = (value.text("secret") or "").removeprefix("env:")
        return Secret(name, environ.get(name))
    return Known(known(value))


def _text(value: Node) -> str:
    return value.text if isinstance(value, Scalar) else ""


def _texts(value: Node | None) -> tuple[str, ...]:
    return tuple(_text(item) for item in value.items) if isinstance(value, Sequence) else ()


def _occurrences(value: Node) -> Occurrences:
    if isinstance(value, Mapping):
        return Occurrences(tuple(_words(item) for item in value.items("repeat")))
    return Occurrences((_words(value),), listed=isinstance(value, Sequence))


def _words(value: Node) -> tuple[str, ...]:
    """The words of one occurrence of a flag: none for `true`, which makes it a bare flag."""
    if isinstance(value, Sequence):
        return _texts(value)
    return () if isinstance(value, Scalar) and value.word == "true" else (_text(value),)


def _directives(systemd: Mapping) -> Iterator[tuple[str, tuple[str, ...] | Absent]]:
    for section in SECTIONS:
        for name, entry in systemd.map(section).entries.items():
            value = entry.value
            if isinstance(value, Mapping):
                yield f"{section}.{name}", ABSENT
            else:
                yield f"{section}.{name}", _texts(value) if isinstance(value, Sequence) else (_text(value),)


def _plain_map(node: Node) -> dict[str, object]:
    value = plain(node)
    return value if isinstance(value, dict) else {}


def declared(tree: Mapping) -> Iterator[tuple[Setting, Node]]:
    """Each setting that a tree declares, with the node that says so: the key, where it has one of its own."""
    unit = _unit(tree)
    name = unit.entries.get("active") or unit.entries.get("name")
    yield Setting("unit", "active"), name.value if name else tree
    if "enabled" in unit.entries:
        yield Setting("unit", "enabled"), unit.entries["enabled"].value
    for file in tree.items("files"):
        if isinstance(file, Mapping):
            yield from _declared_of_file(file, has_content=True)
    script = tree.map("serve_script")
    yield from _declared_of_file(script, has_content="source" in script.entries)
    systemd = tree.map("systemd")
    for kind, values in (
        ("env", script.map("env")),
        ("env", systemd.map("Environment")),
        ("arg", script.map("args")),
    ):
        for key, entry in values.entries.items():
            yield Setting(kind, key), entry.key
    for section in SECTIONS:
        for key, entry in systemd.map(section).entries.items():
            yield Setting("systemd", f"{section}.{key}"), entry.key


def _declared_of_file(file: Mapping, has_content: bool) -> Iterator[tuple[Setting, Node]]:
    path = file.text("path") or ""
    if has_content and path:
        content = file.entries.get("sha256") or file.entries.get("source") or file.entries["path"]
        yield Setting("file", path), content.key
    for kind in ("mode", "owner", "group"):
        if kind in file.entries:
            yield Setting(kind, path), file.entries[kind].key
