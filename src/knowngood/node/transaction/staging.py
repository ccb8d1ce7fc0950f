"""Before a transaction: what the node's store lacks, and whether the disks have room for it."""

import os

from knowngood.node.ground import Problem, raw, word
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MARGIN = 4 << 20  # bytes that the journal and the generations may take


def need(home: Home, blobs: "list[dict[str, Any]]", targets: "list[dict[str, Any]]") -> "dict[str, Any]":
    """{"missing": [sha256], "incoming": {name: bytes}, "spaces": [{"path", "free_bytes", "needed_bytes"}]}.

    A blob that is damaged counts as missing, and is gone. Problem, naming the folder, where there is no room.
    `targets`: {"path", "size"} of the files that will be written.
    """
    store = Store(home)
    missing = [blob for blob in blobs if not _has(store, blob["sha256"])]
    wanted = {home.root: _MARGIN + sum(int(blob["size"]) for blob in missing)}
    for target in targets:
        path = raw(target["path"])
        wanted[home.root] += _size(path)  # its former content goes to the store
        folder = _existing(os.path.dirname(path))
        wanted[folder] = wanted.get(folder, 0) + int(target["size"])
    incoming = {word(name): _size(home.incoming + b"/" + name) for name in os.listdir(home.incoming)}
    told = {"missing": [blob["sha256"] for blob in missing], "incoming": incoming, "spaces": _spaces(wanted)}
    for space in told["spaces"]:
        if space["free_bytes"] < space["needed_bytes"]:
            raise Problem("no room at %(path)s: %(needed_bytes)d bytes needed, %(free_bytes)d free" % space)
    return told


def _has(store: Store, sha256: str) -> bool:
    if not store.has(sha256):
        return False
    if store.is_sound(sha256):
        return True
    store.drop(sha256)
    return False


def _spaces(wanted: "dict[bytes, int]") -> "list[dict[str, Any]]":
    """What each file system must take, by one of its folders."""
    spaces = {}  # type: dict[int, dict[str, Any]]
    for folder, size in sorted(wanted.items()):
        device = os.stat(folder).st_dev
        if device not in spaces:
            room = os.statvfs(folder)
            free = room.f_bavail * room.f_frsize
            spaces[device] = {"path": word(folder), "free_bytes": free, "needed_bytes": 0}
        spaces[device]["needed_bytes"] += size
    return list(spaces.values())


def _existing(folder: bytes) -> bytes:
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def _size(path: bytes) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
