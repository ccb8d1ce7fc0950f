"""A captured role as a manifest's text: settings with where they were read, and comments for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from knowngood.manifest.write import Block, Blocks, HostData, Line, Note, Value, can_hold, write_manifest
from knowngood.model import Absent, Desired, DesiredFile, Known, Occurrences, Secret, Setting, Want

_WIDEST = 300  # characters of a comment
_ATTRIBUTES = ("mode", "owner", "group")
_DEFAULT_DROPIN = "zz-knowngood.conf"


@dataclass(frozen=True, slots=True)
class Capture:
    """What to write. `sources` are by the files' paths on the node, relative to the manifest.

    `comments` stand beside settings; `left_out` tells of settings that the node has, and the manifest not.
    `address` is the host's own, "" where a manifest can't name it: a knob or flag of this very value becomes
    {host.address}, and so fits other hosts too. `schema` is where editors find the schema, relative to the
    manifest; "" where there is none.
    """

    desired: Desired
    hosts: Sequence[str]
    sources: Mapping[str, str]
    heading: Sequence[str] = ()
    comments: Mapping[Setting, str] = field(default_factory=dict)
    left_out: Mapping[Setting, str] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    address: str = ""
    schema: str = ""


def render(capture: Capture) -> str:
    """The manifest's whole text. ValueError for a setting that no manifest can hold: see `unwritable`."""
    return write_manifest(list(_lines(capture)))


def unwritable(desired: Desired) -> Mapping[Setting, str]:
    """The settings whose value no manifest can hold, with the reason."""
    found = {}
    for kind, wants in (("env", desired.env), ("env", desired.unit_env), ("arg", desired.args)):
        for name, want in wants.items():
            if not all(map(can_hold, (name, *_texts(want)))):
                found[Setting(kind, name)] = "its value is no UTF-8"
    for name, lines in desired.directives.items():
        if not isinstance(lines, Absent) and not all(map(can_hold, lines)):
            found[Setting("systemd", name)] = "its value is no UTF-8"
    return found


def _texts(want: Want) -> Iterator[str]:
    if isinstance(want, Known) and isinstance(want.value, Occurrences):
        yield from (word for words in want.value.words for word in words)
    elif isinstance(want, Known):
        yield str(want.value)


def _lines(capture: Capture) -> Iterator[Line | Note]:
    desired = capture.desired
    if capture.schema:
        yield Note(f"yaml-language-server: $schema={capture.schema}")
    yield from map(_note, capture.heading)
    yield Line("version", 1)
    yield Line("name", desired.manifest)
    yield Line("hosts", list(capture.hosts))
    yield Line("unit", _unit(desired))
    yield from _left_out(capture, "unit")
    if desired.server is not None:
        yield Line("server", desired.server)
    for remark in capture.remarks:
        yield _note(remark)
    yield from _spaced(_files(capture))
    yield from _spaced(_script(capture))
    yield from _spaced(_systemd(capture))


def _spaced(lines: Iterator[Line | Note]) -> Iterator[Line | Note]:
    """The lines behind an empty one, where there are any."""
    whole = list(lines)
    if whole:
        yield Note()
        yield from whole


def _unit(desired: Desired) -> Value:
    details: dict[str, Value] = {} if desired.active else {"active": False}
    if desired.enabled is not None:
        details["enabled"] = desired.enabled
    return {"name": desired.unit, **details} if details else desired.unit


def _files(capture: Capture) -> Iterator[Line | Note]:
    blocks = [Block(list(_file(capture, file))) for file in capture.desired.files]
    if blocks:
        yield Line("files", Blocks(blocks))
    yield from _left_out(capture, "file")
    for file in capture.desired.files:
        for kind in _ATTRIBUTES:
            yield from _left_out(capture, kind, file.path)


def _file(capture: Capture, file: DesiredFile) -> Iterator[Line | Note]:
    yield Line("path", file.path)
    yield Line("source", capture.sources[file.path])
    yield Line("sha256", file.sha256)
    for kind in _ATTRIBUTES:
        value = getattr(file, kind)
        if value is not None:
            yield Line(kind, value)
    if not file.loaded:
        yield Line("loaded", False, _short(capture.comments.get(Setting("file", file.path), "")))


def _script(capture: Capture) -> Iterator[Line | Note]:
    desired, script = capture.desired, capture.desired.script
    if script is None:
        return
    lines: list[Line | Note] = [Line("path", script.path)]
    if script.path in capture.sources:
        lines.append(Line("source", capture.sources[script.path]))
        lines += [
            Line(kind, getattr(script, kind)) for kind in _ATTRIBUTES if getattr(script, kind) is not None
        ]
    lines += _section(capture, "env", "env", desired.env)
    lines += _section(capture, "args", "arg", desired.args)
    yield Line("serve_script", Block(lines))


def _systemd(capture: Capture) -> Iterator[Line | Note]:
    desired = capture.desired
    lines: list[Line | Note] = []
    if desired.dropin != _DEFAULT_DROPIN:
        lines.append(Line("dropin", desired.dropin))
    service = {name.partition(".")[2]: _directive(value) for name, value in desired.directives.items()}
    lines += _block(
        "Service", _settings(capture, "systemd", service, "Service."), _left_out(capture, "systemd")
    )
    if desired.script is None:
        lines += _section(capture, "Environment", "env", desired.unit_env)
    else:
        wants = {name: _value(want, capture.address) for name, want in desired.unit_env.items()}
        lines += _block("Environment", _settings(capture, "env", wants), iter(()))
    if any(isinstance(line, Line) for line in lines):
        yield Line("systemd", Block(lines))
    else:
        yield from lines


def _section(capture: Capture, key: str, kind: str, wants: Mapping[str, Want]) -> Iterator[Line | Note]:
    """Knobs or flags, followed by what was left out of them."""
    values = {name: _value(want, capture.address) for name, want in wants.items()}
    yield from _block(key, _settings(capture, kind, values), _left_out(capture, kind))


def _block(key: str, settings: list[Line], left_out: Iterator[Note]) -> Iterator[Line | Note]:
    """A block of settings; comments alone stand without it, for an empty block has no meaning."""
    if settings:
        yield Line(key, Block([*settings, *left_out]))
    else:
        yield from left_out


def _settings(capture: Capture, kind: str, values: Mapping[str, Value], prefix: str = "") -> list[Line]:
    return [
        Line(name, value, _short(capture.comments.get(Setting(kind, prefix + name), "")))
        for name, value in values.items()
    ]


def _left_out(capture: Capture, kind: str, name: str | None = None) -> Iterator[Note]:
    for setting, reason in capture.left_out.items():
        if setting.kind == kind and name in (None, setting.name):
            yield _note(f"{setting} is left out: {reason}")


def _value(want: Want, address: str) -> Value:
    if isinstance(want, Secret):
        return {"secret": f"env:{want.source}"}
    if isinstance(want, Absent):
        return {"absent": True}
    if address and want in (Known(address), Known(Occurrences(((address,),)))):
        return HostData("{host.address}")
    if not isinstance(want.value, Occurrences):
        return want.value
    each = [_words(words, want.value.listed) for words in want.value.words]
    return each[0] if len(each) == 1 else {"repeat": each}


def _words(words: tuple[str, ...], listed: bool) -> Value:
    if not words:
        return True
    return list(words) if listed or len(words) > 1 else words[0]


def _directive(lines: tuple[str, ...] | Absent) -> Value:
    if isinstance(lines, Absent):
        return {"absent": True}
    return lines[0] if len(lines) == 1 else list(lines)


def _note(text: str) -> Note:
    return Note(_short(text))


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
