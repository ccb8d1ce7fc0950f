"""What an entry of a set should hold, and where that comes from: the store, or for secrets a kept file.

An entry of a set is {"path", "sha256" or null for absent, "mode", "uid", "gid", "xattrs"}. A secret's has
"kept" in the place of "sha256": the number of the generation whose copy it is, or null for absent. Neither
the text of a secret nor its hash stands in a set.
"""

import os

from knowngood.node.ground import Problem, raw, word
from knowngood.node.hashes import Hashes
from knowngood.node.transaction.durable import sync_folder, write_bytes
from knowngood.node.transaction.live import Live, Place
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.store import Store, copy_all, digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Contents:
    """The contents of entries on one node."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.hashes = Hashes(home.root)
        self.store = Store(home, self.hashes)

    def hash_of(self, entry: "dict[str, Any]") -> "str | None":
        """The hash of what an entry should hold; None where nothing should be."""
        if not is_secret(entry):
            return None if entry["sha256"] is None else str(entry["sha256"])
        if entry["kept"] is None:
            return None
        handle = os.open(self._kept(entry), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            return digest_of(handle)
        finally:
            os.close(handle)

    def copy_to(self, entry: "dict[str, Any]", target: int) -> None:
        """Write what an entry should hold to an open file; Problem where that is not to be had."""
        if not is_secret(entry):
            self.store.copy_to(entry["sha256"], target)
            return
        handle = os.open(self._kept(entry), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            copy_all(handle, target)
        finally:
            os.close(handle)

    def capture(self, entry: "dict[str, Any]", live: "Live | None", number: int) -> "dict[str, Any]":
        """The entry of generation `number` for what is live at an entry's path, its content kept."""
        told = {"path": entry["path"]}  # type: dict[str, Any]
        if live is not None:
            told.update(live.attributes)
        if is_secret(entry):
            told["kept"] = None if live is None else number
        else:
            told["sha256"] = None if live is None else live.sha256
        if live is not None and (is_secret(entry) or not self.store.is_sound(live.sha256)):
            self._take(told, live)
        return told

    def _take(self, entry: "dict[str, Any]", live: Live) -> None:
        with Place(raw(entry["path"])) as place:
            handle = place.open()
            if handle is None:
                raise Problem("%s: it went while it was read" % entry["path"])
            try:
                if is_secret(entry):
                    self.keep_secret(entry["kept"], _name(entry), os.read(handle, 1 << 20))
                elif self.store.take(handle) != live.sha256:
                    raise Problem("%s: it changed while it was read" % entry["path"])
            finally:
                os.close(handle)

    def keep(self, path: bytes) -> "str | None":
        """Keep what is live at a path; its hash, None where nothing is."""
        with Place(path) as place:
            handle = place.open()
            if handle is None:
                return None
            try:
                return self.store.take(handle)
            finally:
                os.close(handle)

    def keep_secret(self, number: int, name: str, data: bytes) -> None:
        """Keep a generation's secret file."""
        folder = self.home.kept_secrets + b"/%d" % number
        try:
            os.mkdir(folder, 0o700)
            sync_folder(self.home.kept_secrets)
        except FileExistsError:
            pass
        write_bytes(folder + b"/" + raw(name), data)

    def _kept(self, entry: "dict[str, Any]") -> bytes:
        return self.home.kept_secrets + b"/%d/" % entry["kept"] + raw(_name(entry))


def is_secret(entry: "dict[str, Any]") -> bool:
    """Whether the entry is of a file of secrets."""
    return "kept" in entry


def secret_entry(home: Home, name: str, kept: "int | None") -> "dict[str, Any]":
    """The entry of a role's file of secrets."""
    if "/" in name or name.startswith(".") or name in ("", "kept"):
        raise Problem("not a name for a file of secrets")
    path = word(home.secrets + b"/" + raw(name))
    return {"path": path, "kept": kept, "mode": "0600", "uid": 0, "gid": 0, "xattrs": {}}


def _name(entry: "dict[str, Any]") -> str:
    return str(entry["path"]).rpartition("/")[2]
