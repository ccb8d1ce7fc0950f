"""What the disk has of a file: kind, hash, mode, owner, times, and the bytecode beside a .py."""

import errno
import os
import stat

from knowngood.node.bytecode import pycs_of
from knowngood.node.ground import Problem, Round, raw, reason, word
from knowngood.node.hashes import Hashes
from knowngood.node.names import group_name, user_name
from knowngood.node.sha256 import new

_CHUNK = 1 << 20
_VIRTUAL = (b"/proc/", b"/sys/")  # reading these can block, and says nothing of a disk


def file_state(path_text: str, turn: Round, hashes: Hashes) -> "dict[str, object]":
    """The state of one declared path, by the names of model.FileState's fields."""
    path = raw(path_text)
    state = {"path": path_text}  # type: dict[str, object]
    try:
        turn.check_time()
        _describe(path, state, turn, hashes)
    except (OSError, Problem) as error:
        missing = getattr(error, "errno", None) in (errno.ENOENT, errno.ENOTDIR)
        state["kind"] = "missing" if missing else "unreadable"
        if not missing:
            state["error"] = reason(error)
    return state


def size_of(path_text: str) -> int:
    """The size of what the path leads to; 0 where that can't be told."""
    try:
        return os.stat(raw(path_text)).st_size
    except OSError:
        return 0


def unread(path_text: str, error: BaseException) -> "dict[str, object]":
    """The state of a path of which nothing is known."""
    return {"path": path_text, "kind": "unreadable", "error": reason(error)}


def _describe(path: bytes, state: "dict[str, object]", turn: Round, hashes: Hashes) -> None:
    if stat.S_ISLNK(os.lstat(path).st_mode):
        state["symlink"] = word(os.readlink(path))
    found = os.stat(path)
    _enter(state, found)
    if stat.S_ISDIR(found.st_mode):
        state["kind"] = "directory"
    elif not stat.S_ISREG(found.st_mode) or os.path.realpath(path).startswith(_VIRTUAL):
        state["kind"] = "other"
    else:
        state["kind"] = "regular"
        _enter_content(path, state, turn, hashes)


def _enter(state: "dict[str, object]", found: os.stat_result) -> None:
    state["size"] = found.st_size
    state["mode"] = "%04o" % (found.st_mode & 0o7777)
    state["owner"] = user_name(found.st_uid)
    state["group"] = group_name(found.st_gid)
    state["mtime_ns"] = found.st_mtime_ns
    state["ctime_ns"] = found.st_ctime_ns


def _enter_content(path: bytes, state: "dict[str, object]", turn: Round, hashes: Hashes) -> None:
    """The hash, and with it the very stat that it belongs to."""
    try:
        digest, found = _hash(path, turn, hashes)
    except (OSError, Problem) as error:
        state["error"] = reason(error)
        return
    state["sha256"] = digest
    _enter(state, found)
    if path.endswith(b".py"):
        state["pycs"] = pycs_of(path, found, turn)


def _hash(path: bytes, turn: Round, hashes: Hashes) -> "tuple[str, os.stat_result]":
    for _ in range(2):
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            before = os.fstat(handle)
            if not stat.S_ISREG(before.st_mode):
                raise Problem("not a regular file any more")
            digest = hashes.known(before) or _digest(handle, before.st_size, turn)
            after = os.fstat(handle)
        finally:
            os.close(handle)
        if _same(before, after) and _same(after, os.stat(path)):
            hashes.learn(after, digest)
            return digest, after
    raise Problem("it changed while it was read")


def _digest(handle: int, size: int, turn: Round) -> str:
    digest = new(size)
    while True:
        turn.check_time()
        chunk = os.read(handle, _CHUNK)
        if not chunk:
            return digest.hexdigest()
        digest.update(chunk)


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in _IDENTITY)


_IDENTITY = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns", "st_mode", "st_uid", "st_gid")
