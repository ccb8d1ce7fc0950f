"""The probe: all that a node says of itself, in one answer. It reads, and changes nothing.

Each source degrades on its own: what can't be read is told with the reason, and the rest is there.
"""

import _thread
import os
import sys
import time

from knowngood.node.cgroup import Cgroup
from knowngood.node.filestate import file_state
from knowngood.node.ground import Problem, Round, read_kernel, reason, word
from knowngood.node.hashes import Hashes
from knowngood.node.manager import Manager
from knowngood.node.process import Asked, processes
from knowngood.node.records import activated, receipt
from knowngood.node.seals import Argv, Seals
from knowngood.node.texts import script_texts, unit_texts
from knowngood.node.written import encode, frame, write

_ROOM = 3 << 20  # bytes of texts and words in one answer
_GRACE = 1.0  # seconds that the parts have to see that time is up
_MOST_PROCESSES = 512


def main(request: "dict[str, object]") -> None:
    """Answer a request of ask.py on stdout, on time even where a part of it hangs in the kernel."""
    answer = _Answer(request)
    done = _thread.allocate_lock()
    done.acquire()
    turn = Round(float(str(request["deadline"])), _ROOM)
    manager = Manager(answer.units(), bool(answer.env_names()), turn)  # it forks: before there are threads

    def insist() -> None:
        if not done.acquire(True, turn.left() + _GRACE):
            answer.send("had not finished in time")
            os._exit(0)

    _thread.start_new_thread(insist, ())
    answer.fill(manager, turn)
    answer.send(None)
    done.release()


class _Answer:
    """The answer while it grows, part by part."""

    def __init__(self, request: "dict[str, object]") -> None:
        self._request = request
        self._roles = request["roles"]  # type: list[dict[str, object]]  # type: ignore[assignment]
        self._sent = _thread.allocate_lock()
        self._files = {}  # type: dict[str, object]
        self._units = {}  # type: dict[str, dict[str, object]]
        self._told = {
            "version": 1,
            "uid": os.geteuid(),
            "python": "%d.%d.%d" % sys.version_info[:3],
            "files": self._files,
            "units": self._units,
        }  # type: dict[str, object]

    def units(self) -> "list[str]":
        """The units that the request asks for."""
        return [str(role["unit"]) for role in self._roles]

    def env_names(self) -> "set[str]":
        """The names of the environment that may leave the node."""
        return {name for role in self._roles for name in role["env"]}  # type: ignore[attr-defined]

    def fill(self, manager: Manager, turn: Round) -> None:
        """Ask every source in turn."""
        hashes = Hashes(distrust=bool(self._request["rehash"]))
        for path in self._request["files"]:  # type: ignore[attr-defined]
            self._files[path] = file_state(path, turn, hashes)
        hashes.save()
        for role in self._roles:
            told = self._units.setdefault(str(role["unit"]), {})
            self._unit(told, role, manager, turn)
        self._part(self._told, "manager_environment", lambda: self._manager_environment(manager))
        self._part(
            self._told, "boot_id", lambda: word(read_kernel(b"/proc/sys/kernel/random/boot_id", 99)).strip()
        )

    def _unit(
        self, told: "dict[str, object]", role: "dict[str, object]", manager: Manager, turn: Round
    ) -> None:
        unit = str(role["unit"])
        properties, failed = _properties(unit, manager)
        told["properties"] = {"error": failed} if failed else {"value": self._wanted(properties)}
        main_pid = properties.get("MainPID", "")
        group = Cgroup(properties.get("ControlGroup", ""), int(main_pid) if main_pid.isdigit() else 0)
        asked = self._asked(role)
        if role["script"]:
            self._part(told, "script", lambda: script_texts(str(role["script"]), turn))
        self._part(told, "texts", lambda: unit_texts(unit, properties.get("FragmentPath", ""), turn))
        self._part(told, "processes", lambda: _processes(group, failed, asked, turn))
        self._part(told, "cgroup", group.limits)
        self._part(told, "receipt", lambda: receipt(unit, properties.get("InvocationID", "")))
        self._part(told, "activated", lambda: activated(str(role["manifest"])))

    def _wanted(self, properties: "dict[str, str]") -> "dict[str, str]":
        wanted = self._request["properties"]
        if not isinstance(wanted, list):
            return properties
        return {name: properties[name] for name in wanted if name in properties}

    def _asked(self, role: "dict[str, object]") -> Asked:
        request = self._request
        seals = Seals(
            bytes.fromhex(str(request["nonce"])),
            str(request["secretive"]),
            request["hints"],  # type: ignore[arg-type]
            str(request["mask"]),
        )
        argv = Argv(seals, role["sealed_flags"], role["plain_flags"])  # type: ignore[arg-type]
        return Asked(role["env"], argv, seals)  # type: ignore[arg-type]

    def _manager_environment(self, manager: Manager) -> "dict[str, str]":
        names = self.env_names()
        return {name: value for name, value in manager.environment().items() if name in names}

    def _part(self, told: "dict[str, object]", name: str, source: "Callable[[], object]") -> None:
        """One source's answer as {"value": …}; {"error": reason} where it has none, whatever went wrong."""
        try:
            told[name] = {"value": source()}
        except Exception as error:
            told[name] = {"error": reason(error)}

    def send(self, problem: "str | None") -> None:
        """Print what is there, once."""
        if not self._sent.acquire(False):
            return
        self._told["problem"] = problem
        self._told["now_ns"] = int(time.time() * 1e9)
        write(frame(str(self._request["run"]), encode(self._told)))


def _boot_id() -> str:
    return word(read_kernel(b"/proc/sys/kernel/random/boot_id", 99)).strip()


def _properties(unit: str, manager: Manager) -> "tuple[dict[str, str], str]":
    try:
        return manager.properties(unit), ""
    except (OSError, Problem) as error:
        return {}, reason(error)


def _processes(group: Cgroup, failed: str, asked: Asked, turn: Round) -> "list[dict[str, object]]":
    if failed:
        raise Problem("systemd does not say which processes the unit has: " + failed)
    pids = group.pids()
    if len(pids) > _MOST_PROCESSES:
        raise Problem("too large: the unit has %d processes" % len(pids))
    return processes(pids, asked, turn)


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
