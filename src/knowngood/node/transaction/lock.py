"""Whose turn it is on this node: one operator at a time, known by name, with a lease.

lock/holder holds the holder, the purpose, the lease and a hash of the token; the token itself is the holder's
alone, and each command that changes something must show it. A holder is dead when its process is gone, where
it runs on this very machine, or else when its lease ran out.
"""

import hashlib
import os

from knowngood.node.ground import Problem, read_kernel
from knowngood.node.transaction import clock
from knowngood.node.transaction.durable import Mutex, read_json, sync_folder, write_json
from knowngood.node.transaction.places import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PATIENCE = 10.0
_HOLDER = ("user", "host", "boot_id", "pid", "start_ticks")
_LONGEST = 86400.0


class NotYours(Problem):
    """The token is not that of the lock's holder."""


class Lock:
    """The node's lock."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._path = home.lock + b"/holder"

    def take(self, asked: "dict[str, Any]") -> "dict[str, Any] | None":
        """Take it; None, or who holds it where that fails.

        `take_over`: true takes it from a holder that this node sees to be dead; an `id` takes it from that
        very holder, whom the asker knows to be dead.
        """
        with self._mutex():
            held = self._read()
            mine = held is not None and held["token"] == _hash(asked["token"])
            if held is not None and not mine and not _may_take_over(held, asked.get("take_over")):
                return shown(held)
            holder = {name: asked.get("holder", {}).get(name) for name in _HOLDER}
            fields = {
                "version": 1,
                "token": _hash(asked["token"]),
                "holder": holder,
                "since": clock.wall_time(),
            }
            fields.update(purpose=str(asked.get("purpose", ""))[:500], lease=_lease(asked))
            write_json(self._path, fields)
            return None

    def renew(self, token: str, asked: "dict[str, Any]") -> None:
        """Lengthen the lease."""
        with self._mutex():
            write_json(self._path, dict(self._of(token), lease=_lease(asked)))

    def release(self, token: "str | None", force: bool) -> bool:
        """Give it back; whether there was one. `force`: whoever holds it."""
        with self._mutex():
            if self._read() is None:
                return False
            if not force:
                self._of(token)
            os.unlink(self._path)
            sync_folder(self._home.lock)
            return True

    def check(self, token: "object") -> None:
        """NotYours unless the token is the holder's."""
        with self._mutex():
            self._of(token)

    def holder(self) -> "dict[str, Any] | None":
        """Who holds it; None when nobody does."""
        held = self._read()
        return None if held is None else shown(held)

    def rebase(self) -> None:
        """After a boot: what the wall clock leaves of the lease is counted by the boot clock from now on."""
        with self._mutex():
            held = self._read()
            if held is not None and held["lease"]["boot_id"] != clock.boot_id():
                write_json(self._path, dict(held, lease=clock.deadline(max(0.0, clock.left(held["lease"])))))

    def _mutex(self) -> Mutex:
        return Mutex(self._home.lock_mutex, _PATIENCE)

    def _read(self) -> "dict[str, Any] | None":
        return read_json(self._path)

    def _of(self, token: "object") -> "dict[str, Any]":
        held = self._read()
        if held is None:
            raise NotYours("this node's lock is not held by you: nobody holds it")
        if not isinstance(token, str) or held["token"] != _hash(token):
            holder = held["holder"]
            raise NotYours("this node is locked by %s on %s" % (holder["user"], holder["host"]))
        return held


def shown(held: "dict[str, Any]") -> "dict[str, Any]":
    """What others may know of a holder."""
    told = dict(held["holder"], id=held["token"][:16], since=held["since"], purpose=held["purpose"])
    told.update(lease_left_s=round(clock.left(held["lease"]), 1), dead=is_dead(held))
    return told


def is_dead(held: "dict[str, Any]") -> bool:
    """Whether the holder will never come back, as far as this node can know."""
    holder = held["holder"]
    if holder["boot_id"] == clock.boot_id() and isinstance(holder["pid"], int):
        return bool(start_ticks(holder["pid"]) != holder["start_ticks"])
    return clock.left(held["lease"]) <= 0


def start_ticks(pid: int) -> "int | None":
    """When a process started, in ticks since boot (proc(5), stat, field 22); None where there is none."""
    try:
        return int(read_kernel(b"/proc/%d/stat" % pid, 1 << 16).rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def _may_take_over(held: "dict[str, Any]", take_over: "object") -> bool:
    if isinstance(take_over, str):
        return bool(held["token"][:16] == take_over)
    return bool(take_over) and is_dead(held)


def _lease(asked: "dict[str, Any]") -> "dict[str, Any]":
    return clock.deadline(min(_LONGEST, max(1.0, float(asked.get("lease_s", 60)))))


def _hash(token: str) -> str:
    if not isinstance(token, str) or len(token) < 16:
        raise Problem("a token has at least 16 letters")
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
