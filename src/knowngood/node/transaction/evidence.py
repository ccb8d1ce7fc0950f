"""What a person needs who asks why a gate was red: the end of the unit's log and its processes, bounded.

Secrets that knowngood put on this node are masked here; whoever shows the rest masks what looks like one.
"""

import os

from knowngood.node.cgroup import Cgroup
from knowngood.node.command import Command
from knowngood.node.ground import Problem, read_kernel, word
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.reasons import why
from knowngood.node.transaction.unit import Unit, is_unit_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MASK = "********"
_MOST_LINES, _MOST_TEXT = 1000, 128 << 10
_MOST_PROCESSES, _MOST_ARGV = 256, 2048
_SHORTEST = 4  # letters of a secret that is masked wherever it stands


def evidence(home: Home, unit: str, lines: int) -> "dict[str, Any]":
    """{"unit": its state, "log": text, "processes": [{"pid", "ppid", "state", "name", "argv"}]}."""
    if not is_unit_name(unit):
        raise Problem("not the name of a unit")
    secrets = _secrets(home)
    shown = Unit(unit).show()
    told = {"unit": shown, "log": _masked(_log(unit, lines), secrets)}  # type: dict[str, Any]
    try:
        pids = Cgroup(Unit(unit).control_group(), shown["main_pid"]).pids()[:_MOST_PROCESSES]
        told["processes"] = [each for each in (_process(pid, secrets) for pid in pids) if each is not None]
    except Problem as error:
        told["processes"] = []
        told["processes_error"] = str(error)
    return told


def _log(unit: str, lines: int) -> str:
    count = str(max(1, min(lines, _MOST_LINES)))
    argv = ["journalctl", "--no-pager", "--quiet", "-o", "short-iso", "-n", count, "-u", unit]
    try:
        return word(Command(argv, 10).output()[-_MOST_TEXT:])
    except (OSError, Problem) as error:
        return "(the log could not be read: %s)" % why(error)


def _process(pid: int, secrets: "list[str]") -> "dict[str, Any] | None":
    try:
        stat = read_kernel(b"/proc/%d/stat" % pid, 1 << 16)
        argv = read_kernel(b"/proc/%d/cmdline" % pid, 1 << 22)[:_MOST_ARGV]
    except (OSError, Problem):
        return None
    fields = stat.rpartition(b")")[2].split()
    return {
        "pid": pid,
        "ppid": int(fields[1]),
        "state": word(fields[0]),
        "name": word(stat.partition(b"(")[2].rpartition(b")")[0]),
        "argv": _masked(word(argv.rstrip(b"\0").replace(b"\0", b" ")), secrets),
    }


def _secrets(home: Home) -> "list[str]":
    """The values in our files of secrets, longest first."""
    values = set()
    for folder, _, names in os.walk(home.secrets):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                for line in file.read().split(b"\n"):
                    values.add(word(line.partition(b"=")[2]).strip().strip("\"'"))
    return sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True)


def _masked(text: str, secrets: "list[str]") -> str:
    for secret in secrets:
        text = text.replace(secret, _MASK)
    return text
