"""The probe: all that a node says of itself, in one answer. It reads, and changes nothing.

Each source degrades on its own: what can't be read is told with the reason, and the rest is there.
"""

import _thread
import os
import sys
import time

from knowngood.node.cgroup import Cgroup
from knowngood.node.filestate import file_state, size_of, unread
from knowngood.node.ground import Problem, Round, read_kernel, reason, word
from knowngood.node.hashes import Hashes
from knowngood.node.manager import Manager
from knowngood.node.process import Asked, processes
from knowngood.node.records import activated, receipt
from knowngood.node.seals import Argv, Seals
from knowngood.node.sha256 import LARGE
from knowngood.node.texts import script_texts, unit_texts
from knowngood.node.written import encode, frame, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ROOM = 3 << 20  # bytes of texts and words in one answer
_GRACE = 1.0  # seconds for the parts to see that time is up
_USUAL = ("PATH", "LANG", "LANGUAGE")  # what systemd gives its manager by itself
_MOST_PROCESSES = 512


def main(request: "dict[str, Any]") -> None:
    """Answer a request of ask.py on stdout; in time even where a part of it hangs in the kernel."""
    turn = Round(request["deadline"], _ROOM)
    roles = request["roles"]
    # It forks, so it comes before the second thread.
    by_name = any(role["env"] or role["script"] for role in roles)
    manager = Manager([role["unit"] for role in roles], by_name, turn)
    answer = Answer(request["run"])
    done = _thread.allocate_lock()
    done.acquire()

    def insist() -> None:
        if not done.acquire(True, turn.left() + _GRACE):
            answer.send("not reached in time")
            os._exit(0)

    _thread.start_new_thread(insist, ())
    Look(request, answer, manager, turn).everywhere()
    answer.send(None)
    done.release()


class Answer:
    """The answer while it grows, part by part."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._unsent = _thread.allocate_lock()
        self.files = {}  # type: dict[str, object]
        self.units = {}  # type: dict[str, dict[str, object]]
        self.whole = {
            "version": 1,
            "uid": os.geteuid(),
            "python": "%d.%d.%d" % sys.version_info[:3],
            "files": self.files,
            "units": self.units,
        }  # type: dict[str, object]

    def send(self, problem: "str | None") -> None:
        """Print what is there, once. `problem` is why it has gaps."""
        if self._unsent.acquire(False):
            self.whole["problem"] = problem
            self.whole["now_ns"] = int(time.time() * 1e9)
            write(frame(self._run, encode(self.whole)))


def enter(place: "dict[str, object]", name: str, source: "Callable[[], object]") -> None:
    """A source's answer as {"value": …}; {"error": reason} where it has none, whatever went wrong."""
    try:
        place[name] = {"value": source()}
    except Exception as error:
        place[name] = {"error": reason(error)}


class Look:
    """One look at all that a request names."""

    def __init__(self, request: "dict[str, Any]", answer: Answer, manager: Manager, turn: Round) -> None:
        self._request = request
        self._answer = answer
        self._manager = manager
        self._turn = turn
        self._hashes = Hashes(distrust=request["rehash"])
        nonce = bytes.fromhex(request["nonce"])
        self._seals = Seals(nonce, request["secretive"], request["hints"], request["mask"])

    def everywhere(self) -> None:
        """The large files come last: hashing them may take all the time that is left."""
        large = [path for path in self._request["files"] if size_of(path) >= LARGE]
        self._files([path for path in self._request["files"] if path not in large])
        for role in self._request["roles"]:
            self._role(role)
        enter(self._answer.whole, "manager_environment", self._manager_environment)
        enter(self._answer.whole, "manager_has_more", self._manager_has_more)
        enter(self._answer.whole, "boot_id", _boot_id)
        self._files(large)
        self._hashes.save()

    def _files(self, paths: "list[str]") -> None:
        for path in paths:
            try:
                self._answer.files[path] = file_state(path, self._turn, self._hashes)
            except Exception as error:
                self._answer.files[path] = unread(path, error)

    def _role(self, role: "dict[str, Any]") -> None:
        unit = role["unit"]
        told = self._answer.units.setdefault(unit, {})
        properties, failed = self._properties(unit)
        told["properties"] = {"error": failed} if failed else {"value": self._wanted(properties)}
        group = Cgroup(properties.get("ControlGroup", ""), int(properties.get("MainPID") or 0))
        argv = Argv(self._seals, role["sealed_flags"], role["plain_flags"])
        asked = Asked(role["env"], argv, self._seals)
        enter(told, "texts", lambda: unit_texts(unit, properties, self._turn))
        if role["script"]:
            enter(told, "script", lambda: script_texts(role["script"], self._turn))
        enter(told, "processes", lambda: self._processes(group, failed, asked))
        enter(told, "cgroup", group.limits)
        enter(told, "receipt", lambda: receipt(unit, properties.get("InvocationID", "")))
        enter(told, "activated", lambda: activated(role["manifest"]))

    def _properties(self, unit: str) -> "tuple[dict[str, str], str]":
        try:
            return self._manager.properties(unit), ""
        except (OSError, Problem) as error:
            return {}, reason(error)

    def _wanted(self, properties: "dict[str, str]") -> "dict[str, str]":
        wanted = self._request["properties"]
        if wanted is None:
            return properties
        return {name: properties[name] for name in wanted if name in properties}

    def _processes(self, group: Cgroup, failed: str, asked: Asked) -> "list[dict[str, object]]":
        if failed:
            raise Problem("systemd does not say which processes the unit has: " + failed)
        pids = group.pids()
        if len(pids) > _MOST_PROCESSES:
            raise Problem("too large: the unit has %d processes" % len(pids))
        told = processes(pids, asked, self._turn)
        gone = {pid for pid in pids if not os.path.exists(b"/proc/%d" % pid)}
        hidden = gone.intersection(group.pids()) if gone else ()
        if hidden:
            raise Problem("not permitted: /proc hides process %d of the unit" % min(hidden))
        return told

    def _manager_environment(self) -> "dict[str, str]":
        names = {name for role in self._request["roles"] for name in role["env"]}
        return {name: value for name, value in self._manager.environment().items() if name in names}

    def _manager_has_more(self) -> bool:
        """Whether its environment has names that nobody declared, beside the usual ones; never which."""
        names = {name for role in self._request["roles"] for name in role["env"]}
        return any(
            name not in names and name not in _USUAL and not name.startswith("LC_")
            for name in self._manager.environment()
        )


def _boot_id() -> str:
    return word(read_kernel(b"/proc/sys/kernel/random/boot_id", 99)).strip()
