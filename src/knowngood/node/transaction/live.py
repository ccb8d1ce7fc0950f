"""One live path: what is there, a new file staged beside it, and the rename that swaps them.

All goes through a descriptor of the folder, so nothing that is moved meanwhile leads us elsewhere. What is no
regular file is refused: a link could lead out, and a rename would replace the link and not what it leads to.
"""

import errno
import fcntl
import os
import stat
import time

from knowngood.node.ground import Problem, word
from knowngood.node.hashes import Hashes
from knowngood.node.transaction import attributes
from knowngood.node.transaction.store import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS, ioctl_iflags(2)
_IMMUTABLE, _APPEND_ONLY = 0x10, 0x20
_ABSENT = (errno.ENOENT,)
_NO_LINKS = (errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOSPC, errno.EDQUOT)


class Live:
    """A regular file as it is: content, attributes, and the stat that tells whether it is still the same."""

    def __init__(self, handle: int, found: os.stat_result, sha256: str) -> None:
        self.sha256 = sha256
        self.attributes = attributes.read(handle)
        self.identity = identity_of(found)
        self.mtime_ns = found.st_mtime_ns


class Place:
    """A path where a file should be. `close` it, or use it as a context."""

    def __init__(self, path: bytes) -> None:
        self.path = path
        self._folder_path, _, self._name = path.rpartition(b"/")
        self._folder_path = self._folder_path or b"/"
        self._folder = -1

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_: "object") -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    @property
    def folder(self) -> int:
        """A descriptor of the folder; FileNotFoundError where there is none."""
        if self._folder < 0:
            self._folder = os.open(self._folder_path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return self._folder

    # --- Looking ---

    def look(self, hashes: Hashes) -> "Live | None":
        """What is there; None where nothing is. Problem for what is no regular file."""
        for _ in range(3):
            handle = self.open()
            if handle is None:
                return None
            try:
                before = os.fstat(handle)
                live = Live(handle, before, hashes.known(before) or digest_of(handle))
                if live.identity == identity_of(os.fstat(handle)) == self.identity():
                    hashes.learn(before, live.sha256)
                    return live
            finally:
                os.close(handle)
        raise Problem("%s: it changes while it is read" % word(self.path))

    def open(self) -> "int | None":
        """A descriptor for reading the file; None where nothing is, Problem for what is no regular file."""
        try:
            self._check_kind(os.stat(self._name, dir_fd=self.folder, follow_symlinks=False).st_mode)
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            handle = os.open(self._name, flags, dir_fd=self.folder)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise
        self._check_kind(os.fstat(handle).st_mode)
        return handle

    def _check_kind(self, mode: int) -> None:
        if not stat.S_ISREG(mode):
            raise Problem("%s is a %s where a file should be" % (word(self.path), _kind(mode)))

    def identity(self) -> "tuple[int, ...] | None":
        """What tells one state of the file from another; None where nothing is."""
        try:
            return identity_of(os.stat(self._name, dir_fd=self.folder, follow_symlinks=False))
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise

    def check_writable(self) -> None:
        """Problem where the file or its folder is immutable: better known before the first rename."""
        handle = self.open()
        if handle is None and not os.path.isdir(self._folder_path):
            return  # it will be made, and that shows
        try:
            for each in (handle, self.folder):
                if each is not None and _flags(each) & (_IMMUTABLE | _APPEND_ONLY):
                    raise Problem("%s is immutable (chattr +i or +a)" % word(self.path))
        finally:
            if handle is not None:
                os.close(handle)

    # --- Changing ---

    def stage(
        self, name: bytes, wanted: "dict[str, Any]", copy: "Callable[[int], None]", live: "Live | None"
    ) -> None:
        """Put the new file beside the live one, whole and on disk. `copy` writes its content."""
        self.unstage(name)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(name, flags, 0o600, dir_fd=self.folder)
        try:
            copy(handle)
            attributes.apply(handle, wanted)
            if not attributes.same(attributes.read(handle), wanted):
                raise Problem("%s: its file system does not take its attributes" % word(self.path))
            _make_mtime_new(handle, live)
            os.fsync(handle)
        finally:
            os.close(handle)

    def unstage(self, name: bytes) -> None:
        """Remove a staged file that may be there; on a read-only file system even asking to would fail."""
        try:
            os.stat(name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        os.unlink(name, dir_fd=self.folder)

    def take_back(self, name: bytes, live: "Live | None") -> bool:
        """Make the file that was set aside the staged one; False where it is not there. Needs no space."""
        try:
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self.folder)
        except OSError:
            return False
        try:
            os.utime(handle)
            _make_mtime_new(handle, live)
            os.fsync(handle)
        finally:
            os.close(handle)
        return True

    def aside(self, name: bytes) -> "Place":
        """The place beside this one, where a file is staged or set aside."""
        return Place(self._folder_path + b"/" + name)

    def set_aside(self, name: bytes) -> None:
        """Keep the live file under a second name, where links can be: going back then needs no space."""
        self.unstage(name)
        try:
            os.link(self._name, name, src_dir_fd=self.folder, dst_dir_fd=self.folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise

    def replace(self, name: bytes) -> None:
        """The staged file becomes the live one."""
        os.rename(name, self._name, src_dir_fd=self.folder, dst_dir_fd=self.folder)

    def remove(self) -> None:
        """The live file goes."""
        os.unlink(self._name, dir_fd=self.folder)

    def set_attributes(self, wanted: "dict[str, Any]") -> None:
        """Change what the file has beside its content, in place: its mtime stays, as its content does."""
        handle = self.open()
        if handle is None:
            raise Problem("%s is gone" % word(self.path))
        try:
            attributes.apply(handle, wanted)
            os.fsync(handle)
        finally:
            os.close(handle)

    def sync(self) -> None:
        """Bring the folder's entries to disk."""
        os.fsync(self.folder)


def identity_of(found: os.stat_result) -> "tuple[int, ...]":
    """What of a stat changes whenever a file does; no program can set a ctime."""
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode)


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "symlink"
    return "directory" if stat.S_ISDIR(mode) else "special file"


def _flags(handle: int) -> int:
    try:
        return int.from_bytes(fcntl.ioctl(handle, _GET_FLAGS, b"\0" * 8)[:4], "little")
    except OSError:
        return 0


def _make_mtime_new(handle: int, live: "Live | None") -> None:
    """Python takes a .pyc for a source of the same mtime in seconds: the new file's must be another."""
    now = time.time()
    if live is not None and live.mtime_ns // 10**9 == int(now):
        os.utime(handle, ns=(int(now * 1e9), live.mtime_ns + 10**9))
