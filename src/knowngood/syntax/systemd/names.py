"""A unit's name in its parts: `foo-bar@x.service` is prefix foo-bar, instance x, kind service.

Source: systemd.unit(5), "Unit File Load Path" and "Specifiers"; src/basic/unit-name.c.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ESCAPED = re.compile(rb"\\x([0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class UnitName:
    """`instance` is None for a unit without @, "" for a template."""

    whole: str
    prefix: str
    instance: str | None
    kind: str

    @classmethod
    def of(cls, name: str) -> UnitName:
        """Take a name apart; one without a dot has no kind."""
        stem, _, kind = name.rpartition(".")
        prefix, at, instance = stem.partition("@")
        return cls(name, prefix, instance if at else None, kind)

    @property
    def stem(self) -> str:
        """The name without its kind."""
        return self.whole.rpartition(".")[0]

    @property
    def template(self) -> str | None:
        """foo@.service for foo@x.service; None for a unit without an instance."""
        return f"{self.prefix}@.{self.kind}" if self.instance else None

    @property
    def last_component(self) -> str:
        """What stands behind the prefix's last dash."""
        return self.prefix.rpartition("-")[2]


def unescape_name(text: str) -> str | None:
    """`a-b\\x2dc` is a/b-c; None where an escape is none. Bytes that are no UTF-8 come as surrogates."""
    data = text.encode("utf-8", "surrogateescape").replace(b"-", b"/")
    if _ESCAPED.sub(b"", data).count(b"\\"):
        return None
    decoded = _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), data)
    return decoded.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def unescape_path(text: str) -> str | None:
    """The path that a name was made of by systemd-escape --path; None where it can't be one."""
    if text == "-":
        return "/"
    path = unescape_name(text)
    if not path or path.startswith("/") or path.endswith("/"):
        return None
    if any(part in ("", ".", "..") for part in path.split("/")):
        return None
    return "/" + path
