"""Writing so that it holds: whole or not at all, and on disk before anyone relies on it.

Source: fsync(2), rename(2), open(2).
"""

import fcntl
import json
import os
import time

from knowngood.node.ground import Problem, read_file, reason, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

_LIMIT = 32 << 20  # bytes of one document


def sync_folder(folder: bytes) -> None:
    """Bring a folder's entries to disk: a rename in it holds only after this."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_bytes(path: bytes, data: bytes, mode: int = 0o600, ours: bytes = b"") -> None:
    """Put a file in place, whole. After a crash there is the old content or the new one.

    Writers of one path hold a mutex, or have each a name of their `ours` for what is not whole yet.
    """
    temporary = path + b".new" + ours
    remove(temporary)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            write_all(handle, data)
            os.fchmod(handle, mode)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(temporary, path)
    except BaseException:
        remove(temporary)
        raise
    sync_folder(os.path.dirname(path))


def write_json(path: bytes, value: "object") -> None:
    """Put a JSON document in place, whole."""
    write_bytes(path, json.dumps(value, indent=1, sort_keys=True).encode("ascii") + b"\n")


def read_json(path: bytes) -> "dict[str, Any] | None":
    """A JSON object of our own; None where there is none. Problem where it can't be read."""
    try:
        value = json.loads(read_file(path, _LIMIT).decode("ascii"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise Problem("%s can't be read: %s" % (word(path), reason(error)))
    if not isinstance(value, dict):
        raise Problem("%s can't be read: no JSON object" % word(path))
    return value


def write_all(handle: int, data: bytes) -> None:
    """write(2) until all is written."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def remove(path: bytes) -> None:
    """Unlink what may be there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


class Mutex:
    """One process at a time (flock(2)): the kernel lets go of it when its holder dies, however that was."""

    def __init__(self, path: bytes, seconds: float) -> None:
        self._path = path
        self._seconds = seconds
        self._handle = -1

    def __enter__(self) -> "Mutex":
        """Problem when it is not to be had within the time."""
        ends = time.monotonic() + self._seconds
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        while True:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return self
            except BlockingIOError:
                if time.monotonic() >= ends:
                    os.close(self._handle)
                    raise Busy("another step of a transaction is under way on this node")
            time.sleep(0.01)

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        trace: "TracebackType | None",
    ) -> None:
        os.close(self._handle)


class Busy(Problem):
    """Someone else holds the mutex."""
