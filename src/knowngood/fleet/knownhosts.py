"""known_hosts files: which keys a host may answer with, and which it must not.

The format is that of sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT": comma-separated names and patterns,
`[name]:port`, hashed names, `@revoked` and `@cert-authority` marks. Reading is linear, a line that can't be
read is left out alone, and a name may have several keys of one type: paramiko's own reader falls short of
all three.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from typing import NamedTuple

_BLOCK = 64  # bytes of a block of SHA-1


class HostKey(NamedTuple):
    """A public key as known_hosts has it: its type's name and its encoded bytes (RFC 4253, section 6.6)."""

    kind: str
    blob: bytes


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one host. A revoked one is never among the trusted."""

    trusted: frozenset[HostKey] = frozenset()
    revoked: frozenset[HostKey] = frozenset()


@dataclass(slots=True)
class KnownHosts:
    """The entries of known_hosts files, found by name."""

    _named: dict[str, list[_Entry]] = field(default_factory=dict)
    _patterns: list[tuple[str, _Entry]] = field(default_factory=list)
    _hashed: list[tuple[_Salted, _Entry]] = field(default_factory=list)

    def read(self, lines: Iterable[str]) -> None:
        """Take in the lines of a file."""
        for line in lines:
            if entry := _parse(line):
                self._add(entry)

    def add(self, name: str, key: HostKey) -> None:
        """Take in one key that was accepted meanwhile."""
        self._add(_Entry("", name, key))

    def keys(self, name: str) -> Keys:
        """The keys of a host; `name` is as ssh writes it: `host`, or `[host]:port` where that is not 22."""
        revoked: set[HostKey] = set()
        trusted: set[HostKey] = set()
        for entry in self._entries(name.lower()):
            # A certificate authority's key is no host's own, and paramiko can't check certificates.
            if entry.mark != "@cert-authority":
                (revoked if entry.mark == "@revoked" else trusted).add(entry.key)
        return Keys(frozenset(trusted - revoked), frozenset(revoked))

    def _add(self, entry: _Entry) -> None:
        if entry.names.startswith("|1|"):
            if salted := _salted(entry.names):
                self._hashed.append((salted, entry))
        elif any(sign in entry.names for sign in "*?!"):
            self._patterns.append((entry.names.lower(), entry))
        else:
            for name in entry.names.lower().split(","):
                self._named.setdefault(name, []).append(entry)

    def _entries(self, name: str) -> Iterator[_Entry]:
        self._unhash(name)
        yield from self._named.get(name, ())
        yield from (entry for names, entry in self._patterns if matches(name, names.split(",")))

    def _unhash(self, name: str) -> None:
        """Enter by name what is hashed of this name. Each hash is of one name, and is tried no more."""
        encoded = name.encode("utf-8", "surrogateescape")
        left: list[tuple[_Salted, _Entry]] = []
        for salted, entry in self._hashed:
            if salted.is_of(encoded):
                self._named.setdefault(name, []).append(entry)
            else:
                left.append((salted, entry))
        self._hashed = left


class _Salted(NamedTuple):
    """HMAC-SHA1 of a name (RFC 2104), its key's two blocks made beforehand: twice as fast as hmac's,
    and each host that is asked for is tried on every line."""

    inner: bytes
    outer: bytes
    digest: bytes

    def is_of(self, name: bytes) -> bool:
        inner = hashlib.sha1(self.inner + name).digest()  # noqa: S324 - the format's choice; it only hides names
        return hashlib.sha1(self.outer + inner).digest() == self.digest  # noqa: S324


class _Entry(NamedTuple):
    mark: str  # "", @revoked or @cert-authority
    names: str
    key: HostKey


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name is in a pattern list: one pattern at least matches, and none that begins with `!`."""
    if any(_like(name, item[1:]) for item in patterns if item.startswith("!")):
        return False
    return any(_like(name, item) for item in patterns if not item.startswith("!"))


def fingerprint(blob: bytes) -> str:
    """`SHA256:…` of a key's bytes, as ssh-keygen -l shows it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode("ascii").rstrip("=")


def _parse(line: str) -> _Entry | None:
    words = line.split()
    if not words or words[0].startswith("#"):
        return None
    mark = words.pop(0) if words[0].startswith("@") else ""
    if mark not in ("", "@revoked", "@cert-authority") or len(words) < 3:
        return None
    names, kind, text = words[:3]
    try:
        blob = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    # The bytes begin with the length and the name of their type; a line that says another lies.
    if blob[4 : 4 + len(kind)] != kind.encode("ascii", "replace"):
        return None
    return _Entry(mark, names, HostKey(kind, blob))


def _salted(names: str) -> _Salted | None:
    try:
        _, _, salt, digest = names.split("|")
        key, wanted = base64.b64decode(salt), base64.b64decode(digest)
    except (binascii.Error, ValueError):
        return None
    if len(key) > _BLOCK:  # ssh writes 20 bytes; a longer one would have to be hashed first
        return None
    padded = key.ljust(_BLOCK, b"\0")
    return _Salted(bytes(byte ^ 0x36 for byte in padded), bytes(byte ^ 0x5C for byte in padded), wanted)


def _like(name: str, glob: str) -> bool:
    # Only * and ? are special; fnmatch's brackets would misread [host]:port.
    escaped = glob.replace("[", "[[]")
    return re.match(translate(escaped), name) is not None
