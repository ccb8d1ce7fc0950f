"""Errors as sentences for people, with the path they are about."""

import errno
import os

from knowngood.node.ground import Problem, word

_WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EPERM: "not permitted (an immutable file, or not root)",
    errno.EACCES: "not permitted",
    errno.EBUSY: "in use, perhaps a mount point",
    errno.EIO: "the disk fails to read or write",
}


def why(error: BaseException) -> str:
    """A short sentence for people."""
    if isinstance(error, Problem):
        return str(error)
    number = getattr(error, "errno", None)
    if not number:
        return "%s: %s" % (type(error).__name__, error)
    said = _WORDS.get(number) or os.strerror(number)
    name = getattr(error, "filename", None)
    if isinstance(name, bytes):
        name = word(name)
    return "%s: %s" % (name, said) if isinstance(name, str) else said
