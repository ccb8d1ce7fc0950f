"""Hashes of large files that need not be read again: kept on the node, where knowngood has its folder.

A hash belongs to (device, inode, size, mtime, ctime). No program can set a ctime, so a file that changed is
never taken for the old one; a file that changed within the clock's last ticks is not remembered at all.
"""

import os
import stat
import time

from knowngood.node.ground import Problem, read_file
from knowngood.node.sha256 import LARGE

FOLDER = b"/var/lib/knowngood"
_SETTLED_NS = 2 * 10**9
_ENTRIES = 1000
_LIMIT = 1 << 20


class Hashes:
    """The hashes known from earlier rounds. Without a safe folder it knows and keeps nothing."""

    def __init__(self, folder: bytes = FOLDER, distrust: bool = False) -> None:
        self._path = folder + b"/hashes.json"
        self._usable = _is_private(folder)
        self._distrust = distrust
        self._known = None  # type: dict[str, str] | None
        self._changed = False

    def known(self, found: os.stat_result) -> "str | None":
        """The hash of a large file whose stat is as it was when it was hashed."""
        if not self._usable or self._distrust or found.st_size < LARGE:
            return None
        return self._table().get(_key(found))

    def learn(self, found: os.stat_result, digest: str) -> None:
        """Remember a large file's hash."""
        settled = time.time() * 1e9 - max(found.st_mtime_ns, found.st_ctime_ns) > _SETTLED_NS
        if self._usable and settled and found.st_size >= LARGE and self._table().get(_key(found)) != digest:
            self._table()[_key(found)] = digest
            self._changed = True

    def save(self) -> None:
        """Write what was learned; a node that can't hold it simply hashes again the next time."""
        if not self._changed:
            return
        import json

        entries = dict(list(self._table().items())[-_ENTRIES:])
        temporary = self._path + b".%d" % os.getpid()
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "w") as file:
                json.dump({"version": 1, "sha256": entries}, file)
            os.rename(temporary, self._path)
        except OSError:
            _remove(temporary)

    def _table(self) -> "dict[str, str]":
        if self._known is None:
            self._known = _load(self._path)
        return self._known


def _key(found: os.stat_result) -> str:
    parts = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return ":".join(str(part) for part in parts)


def _load(path: bytes) -> "dict[str, str]":
    import json

    try:
        table = json.loads(read_file(path, _LIMIT).decode("ascii"))["sha256"]
        return {str(key): str(digest) for key, digest in table.items() if len(digest) == 64}
    except (OSError, Problem, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _is_private(folder: bytes) -> bool:
    """Whether only root can have written what lies in it, and we are root."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == os.geteuid() == 0
        and stat.S_IMODE(found.st_mode) == 0o700
    )


def _remove(path: bytes) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
