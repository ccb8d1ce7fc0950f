"""What every part of the node's program stands on: bounded reading, reasons for people, and the clock.

The program runs on Python 3.6 and later, so annotations that are newer than that stand in quotes. Paths are
bytes inside it, as the kernel has them; words go into the answer as UTF-8 with surrogate escapes (PEP 383),
whole texts with a letter for each byte (latin-1).
"""

import errno
import os
import stat
import time

MISSING = "missing"


class Problem(Exception):
    """Why one source could not be read; the text is for people."""


class Round:
    """One round of questions: how much time is left, and how many bytes of text still fit the answer."""

    def __init__(self, seconds: float, room: int) -> None:
        self.ends = time.monotonic() + seconds
        self._room = room

    def left(self) -> float:
        """Seconds until the answer must be on its way; not below 0."""
        return max(0.0, self.ends - time.monotonic())

    def check_time(self) -> None:
        """Raise Problem when no time is left."""
        if not self.left():
            raise Problem("not reached in time")

    def take(self, size: int) -> None:
        """Reserve room in the answer; raise Problem where it does not suffice."""
        if size > self._room:
            raise Problem("too large: the answer is full")
        self._room -= size


def word(data: bytes) -> str:
    """Bytes of the kernel as a word of the answer."""
    return data.decode("utf-8", "surrogateescape")


def raw(text: str) -> bytes:
    """A word of the request as the bytes that the kernel knows."""
    return text.encode("utf-8", "surrogateescape")


def reason(error: BaseException) -> str:
    """A short sentence for people; "missing" where a path leads to nothing."""
    if isinstance(error, Problem):
        return str(error)
    number = getattr(error, "errno", None)
    if number in (errno.ENOENT, errno.ENOTDIR):
        return MISSING
    if number in (errno.EACCES, errno.EPERM):
        return "not permitted (asked as uid %d)" % os.geteuid()
    if number:
        return os.strerror(number)
    return "%s: %s" % (type(error).__name__, error)


def read_file(path: bytes, limit: int) -> bytes:
    """The content of a regular file. Nothing else is opened: a FIFO or a device could block, or worse.

    OSError as the kernel says it; Problem for another kind of file, and above `limit` bytes.
    """
    return _read(path, limit, any_kind=False)


def read_kernel(path: bytes, limit: int) -> bytes:
    """The content of a file of /proc or /sys."""
    return _read(path, limit, any_kind=True)


def _read(path: bytes, limit: int, any_kind: bool) -> bytes:
    if not any_kind and not stat.S_ISREG(os.stat(path).st_mode):
        raise Problem("not a regular file")
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not any_kind and not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Problem("not a regular file")
        chunks = []  # type: list[bytes]
        size = 0
        while size <= limit:
            chunk = os.read(handle, 1 << 16)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
            size += len(chunk)
        raise Problem("too large: over %d bytes" % limit)
    finally:
        os.close(handle)


def text_of(path: bytes, turn: Round, limit: int) -> "dict[str, object]":
    """A whole text file as {"path", "data"}, or {"path", "error"} with the reason."""
    told = {"path": word(path)}  # type: dict[str, object]
    try:
        turn.check_time()
        data = read_file(path, limit)
        turn.take(len(data))
        told["data"] = data.decode("latin-1")
    except (OSError, Problem) as error:
        told["error"] = reason(error)
    return told


def names_in(directory: bytes) -> "list[bytes]":
    """The names in a directory, sorted by their bytes; none without one. OSError where it is closed."""
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []


def is_there(path: bytes) -> bool:
    """Whether the path itself exists, be it a link to nowhere. OSError where that can't be seen."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
