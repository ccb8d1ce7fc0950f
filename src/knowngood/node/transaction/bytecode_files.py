"""The .pyc files of a replaced .py go: a stale one that matches in size and mtime would run in its place."""

import os

from knowngood.node.ground import names_in


def drop_bytecode(path: bytes) -> "list[bytes]":
    """Remove all bytecode of a source: PEP 3147's in __pycache__, and the one that lies beside it.

    Gives what was removed. OSError where that can't be done. Nothing for what is no .py.
    """
    if not path.endswith(b".py"):
        return []
    folder, _, name = path.rpartition(b"/")
    stem = name[:-3] + b"."
    cache = folder + b"/__pycache__"
    dropped = []
    if not os.path.islink(cache):
        mine = [each for each in names_in(cache) if each.startswith(stem) and each.endswith(b".pyc")]
        dropped = [
            cache + b"/" + each
            for each in mine
            if each.count(b".") in (stem.count(b".") + 1, stem.count(b".") + 2)
        ]
    if os.path.isfile(path + b"c"):
        dropped.append(path + b"c")
    for each in dropped:
        os.unlink(each)
    return dropped
