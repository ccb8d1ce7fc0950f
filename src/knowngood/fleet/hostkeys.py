"""Host keys, as pyinfra's ssh client asks for them: what is known of a host, and what of an unknown one.

A key that differs from a known one is always refused. A host without a known key is accepted and recorded
(`accept-new`, pyinfra's documented default), unless the inventory's ssh_strict_host_key_checking or the
StrictHostKeyChecking of ~/.ssh/config says otherwise. Nothing is ever asked on a terminal.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from paramiko import MissingHostKeyPolicy, PKey, SSHException

from knowngood.fleet.knownhosts import HostKey, Keys, KnownHosts, fingerprint

# What to ask a server for when it has several keys: the cheap to verify first. A key of type ssh-rsa is
# asked for by the names of its signatures (RFC 8332); by its own, a server of today would offer another key.
_PREFERENCE = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "ssh-rsa",
)
_ASKED_AS = {"ssh-rsa": "rsa-sha2-512"}

_loaded: dict[tuple[str, ...], HostKeys] = {}


class HostKeyRefused(SSHException):
    """A host's key was not accepted; the text says why, for people."""


class Accepted:
    """The keys of one type that a host may answer with: equal to each of them."""

    def __init__(self, kind: str, blobs: frozenset[bytes]) -> None:
        self.kind = kind
        self.blobs = blobs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PKey) and other.asbytes() in self.blobs

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"{self.kind} {' or '.join(sorted(map(fingerprint, self.blobs)))}"


class KeysOfHost:
    """What paramiko asks of one host's known keys, by type."""

    def __init__(self, keys: Keys) -> None:
        kinds = sorted({key.kind for key in keys.trusted}, key=_rank)
        self._accepted = {
            kind: Accepted(kind, frozenset(key.blob for key in keys.trusted if key.kind == kind))
            for kind in kinds
        }

    def keys(self) -> list[str]:
        """Names of algorithms, the best first; paramiko asks the server for that one."""
        return [_ASKED_AS.get(kind, kind) for kind in self._accepted]

    def get(self, kind: str) -> Accepted | None:
        return self._accepted.get(kind)

    def values(self) -> list[Accepted]:
        return list(self._accepted.values())


class HostKeys:
    """The known hosts of some files; stands where paramiko's client keeps its own."""

    def __init__(self, filenames: tuple[str, ...]) -> None:
        self._known = KnownHosts()
        for filename in filenames:
            with contextlib.suppress(OSError):  # a file that is not there knows nobody
                text = Path(filename).read_text(encoding="utf-8", errors="surrogateescape")
                self._known.read(text.splitlines())

    def get(self, name: str) -> KeysOfHost | None:
        keys = self._known.keys(name)
        return KeysOfHost(keys) if keys.trusted else None

    def is_revoked(self, name: str, key: PKey) -> bool:
        return HostKey(key.get_name(), key.asbytes()) in self._known.keys(name).revoked

    def record(self, filename: str | None, name: str, key: PKey) -> None:
        """Remember an accepted key, for this run and, where the file can be written, for the next."""
        self._known.add(name, HostKey(key.get_name(), key.asbytes()))
        if filename:
            with contextlib.suppress(OSError):
                _append(Path(filename), f"{name} {key.get_name()} {key.get_base64()}\n")


class Policy(MissingHostKeyPolicy):
    """What to do with the key of a host that has no known one."""

    def __init__(self, *, accept: bool, record: bool) -> None:
        self._accept = accept
        self._record = record

    def missing_host_key(self, client: Any, hostname: str, key: PKey) -> None:
        known: HostKeys = client._host_keys
        told = f"{key.get_name()} {fingerprint(key.asbytes())}"
        if known.is_revoked(hostname, key):
            raise HostKeyRefused(f"host key is revoked ({told})")
        if not self._accept:
            raise HostKeyRefused(f"host key not known ({told})")
        if self._record:
            known.record(client._host_keys_filename, hostname, key)


def load(filenames: tuple[str, ...]) -> HostKeys:
    """The known hosts of these files, read once a run."""
    if filenames not in _loaded:
        _loaded[filenames] = HostKeys(filenames)
    return _loaded[filenames]


def forget() -> None:
    """Read the files again when they are next asked for."""
    _loaded.clear()


def policy(setting: str | None) -> Policy:
    """The policy of a StrictHostKeyChecking; None where neither inventory nor ~/.ssh/config has one.

    `ask` refuses, as ssh does with BatchMode. SSHException for a word that ssh_config(5) does not have.
    """
    match setting:
        case None | "accept-new":
            return Policy(accept=True, record=True)
        case "no" | "off":
            return Policy(accept=True, record=False)
        case "yes" | "ask":
            return Policy(accept=False, record=False)
        case _:
            raise SSHException(f"StrictHostKeyChecking can't be {setting!r}")


def _rank(kind: str) -> tuple[int, str]:
    return (_PREFERENCE.index(kind) if kind in _PREFERENCE else len(_PREFERENCE), kind)


def _append(path: Path, line: str) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        # A file edited by hand may lack its last line's end, and would lose that line's key.
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        os.write(descriptor, ("\n" * torn + line).encode("utf-8", "surrogateescape"))
    finally:
        os.close(descriptor)
