"""Contents by their hash, on the node. A blob is there whole or not at all, and is never trusted unread."""

import errno
import os
import stat

from knowngood.node.ground import Problem, raw, word
from knowngood.node.hashes import Hashes
from knowngood.node.sha256 import new
from knowngood.node.transaction.durable import remove, sync_folder, write_all
from knowngood.node.transaction.places import Home

_CHUNK = 1 << 20
_HEX = frozenset("0123456789abcdef")


def is_hash(text: "object") -> bool:
    """Whether it is a SHA-256 in lower-case hex."""
    return isinstance(text, str) and len(text) == 64 and _HEX.issuperset(text)


class Store:
    """The node's contents. Errors: OSError as the kernel says it, Problem with a reason for people."""

    def __init__(self, home: Home, hashes: "Hashes | None" = None) -> None:
        self._home = home
        self._hashes = hashes or Hashes(home.root)

    def path(self, sha256: str) -> bytes:
        """Where a blob lies, or would."""
        if not is_hash(sha256):
            raise Problem("not a sha256: %.70s" % sha256)
        return self._home.blobs + b"/" + sha256.encode("ascii")

    def has(self, sha256: str) -> bool:
        """Whether there is such a blob; its content is checked whenever it is read."""
        return os.path.isfile(self.path(sha256))

    def is_sound(self, sha256: str) -> bool:
        """Whether the blob has the content that its name says; a large one that did has not changed since."""
        try:
            handle = _open_regular(self.path(sha256))
        except OSError:
            return False
        try:
            found = os.fstat(handle)
            digest = self._hashes.known(found) or digest_of(handle)
            self._hashes.learn(found, digest)
            return digest == sha256
        finally:
            os.close(handle)

    def drop(self, sha256: str) -> None:
        """Remove a blob that may be there."""
        remove(self.path(sha256))

    def names(self) -> "list[str]":
        """The hashes of all blobs."""
        return [word(name) for name in os.listdir(self._home.blobs) if is_hash(word(name))]

    def keep(self, incoming: str, sha256: str) -> None:
        """Take in an upload; Problem where it is not what it should be, and it is gone then."""
        if "/" in incoming or incoming in ("", ".", ".."):
            raise Problem("not a name of an upload")
        path = self._home.incoming + b"/" + raw(incoming)
        handle = _open_regular(path)
        try:
            os.fchown(handle, os.geteuid(), os.getegid())
            os.fchmod(handle, 0o600)
            if digest_of(handle) != sha256:
                remove(path)
                raise Problem("the upload is not the content %.12s…: damaged on its way" % sha256)
            os.fsync(handle)
        finally:
            os.close(handle)
        self._enter(path, sha256)

    def take(self, handle: int) -> str:
        """Keep what an open file holds; its hash."""
        path = self._home.incoming + b"/taken.%d" % os.getpid()
        remove(path)
        copy = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            sha256 = copy_all(handle, copy)
            if not self.has(sha256):
                os.fsync(copy)
                self._enter(path, sha256)
        finally:
            os.close(copy)
            remove(path)
        return sha256

    def copy_to(self, sha256: str, target: int) -> None:
        """Write a blob's content to an open file; Problem where the store has been tampered with."""
        try:
            handle = _open_regular(self.path(sha256))
        except OSError as error:
            if error.errno == errno.ENOENT:
                raise Problem("the store lacks the content %.12s…: stage it first" % sha256)
            raise
        try:
            if copy_all(handle, target) != sha256:
                raise Problem("the store was tampered with: %.12s… has another content" % sha256)
        finally:
            os.close(handle)

    def _enter(self, path: bytes, sha256: str) -> None:
        os.rename(path, self.path(sha256))
        sync_folder(self._home.blobs)


def digest_of(handle: int) -> str:
    """The hash of an open file, from its start."""
    os.lseek(handle, 0, os.SEEK_SET)
    digest = new(os.fstat(handle).st_size)
    while True:
        chunk = os.read(handle, _CHUNK)
        if not chunk:
            return digest.hexdigest()
        digest.update(chunk)


def copy_all(source: int, target: int) -> str:
    """Copy an open file to another; the hash of what was copied."""
    os.lseek(source, 0, os.SEEK_SET)
    digest = new(os.fstat(source).st_size)
    while True:
        chunk = os.read(source, _CHUNK)
        if not chunk:
            return digest.hexdigest()
        digest.update(chunk)
        write_all(target, chunk)


def _open_regular(path: bytes) -> int:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Problem("%s is not a regular file" % word(path))
    return handle
