"""The manifest layer: every setting that a Desired declares, with a value comparable to the other layers'."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from knowngood.model import ABSENT, Absent, Desired, Known, Secret, Setting, Unknown, Value, Want
from knowngood.syntax.secrets import compared_by_digest, sealed_value
from knowngood.syntax.systemd import canonical_lines


def wanted(desired: Desired, nonce: bytes) -> dict[Setting, Value]:
    """Setting → value for all of a manifest; secrets as digests keyed with the run's nonce."""
    return dict(_all(desired, nonce))


def _all(desired: Desired, nonce: bytes) -> Iterator[tuple[Setting, Value]]:
    yield Setting("unit", "active"), Known("active" if desired.active else "inactive")
    if desired.enabled is not None:
        yield Setting("unit", "enabled"), Known("enabled" if desired.enabled else "disabled")
    yield from _files(desired)
    yield from _script(desired)
    yield from _wants("env", desired.env, nonce)
    yield from _wants("env", desired.unit_env, nonce)
    yield from _wants("arg", desired.args, nonce)
    for directive, lines in desired.directives.items():
        setting = Setting("systemd", directive)
        yield (
            setting,
            ABSENT
            if isinstance(lines, Absent)
            else Known(canonical_lines(directive, lines, unit=desired.unit)),
        )


def _files(desired: Desired) -> Iterator[tuple[Setting, Value]]:
    for file in desired.files:
        yield Setting("file", file.path), Known(file.sha256)
        yield from _attributes(file.path, file.mode, file.owner, file.group)


def _script(desired: Desired) -> Iterator[tuple[Setting, Value]]:
    script = desired.script
    if script is None:
        return
    if script.source_text is not None:
        text = script.source_text if script.text is None else script.text
        yield Setting("file", script.path), Known(hashlib.sha256(text).hexdigest())
    yield from _attributes(script.path, script.mode, script.owner, script.group)


def _attributes(
    path: str, mode: str | None, owner: str | None, group: str | None
) -> Iterator[tuple[Setting, Value]]:
    for kind, value in (("mode", mode), ("owner", owner), ("group", group)):
        if value is not None:
            yield Setting(kind, path), Known(value)


def _wants(kind: str, wants: Mapping[str, Want], nonce: bytes) -> Iterator[tuple[Setting, Value]]:
    for name, want in wants.items():
        value = _unsealed(want)
        sealed = compared_by_digest(name, want)
        yield Setting(kind, name), sealed_value(value, nonce, as_flag=kind == "arg") if sealed else value


def _unsealed(want: Want) -> Value:
    if not isinstance(want, Secret):
        return want
    if want.text is None:
        return Unknown(f"the secret's variable {want.source} is not set here")
    return Known(want.text)
