"""The traces that a directive leaves on a process or its control group, in the kernel's spelling.

Source: proc(5) (limits, status, stat), the kernel's admin-guide/cgroup-v2.rst.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from knowngood.model import Known, Unknown, Value
from knowngood.syntax.systemd.cpus import cpus
from knowngood.syntax.systemd.limits import RESOURCES, limit_of_kernel
from knowngood.syntax.systemd.numbers import INFINITY, MOST, integer, mode, show_share, show_size
from knowngood.syntax.systemd.spellings import PAGE

_PROCESS = "User Group WorkingDirectory UMask Nice OOMScoreAdjust CPUAffinity".split()
_CGROUP = "MemoryMax MemoryHigh CPUQuota TasksMax".split()
_NAMES = [*_PROCESS, *_CGROUP, *sorted(f"Limit{resource}" for resource in RESOURCES)]
TRACES = MappingProxyType({f"Service.{name}": name for name in _NAMES})


def running_value(directive: str, trait: str, like: Iterable[str] = ()) -> Value:
    """The canonical value of a directive that a process shows. `trait` is the kernel's text.

    Limits as `soft:hard` in the kernel's units, "infinity" for none; memory in bytes; CPUQuota as "QUOTA
    PERIOD" in microseconds; "max" as the cgroup files have it does too. Unknown for text of another shape.
    `like` are canonical values that it may be: one that would show just so is taken (`-/srv` shows as /srv);
    where one can't be compared (`~`, a share of the memory), the value is Unknown.
    """
    name = directive.partition(".")[2]
    try:
        shown = _canonical(name, trait.strip())
    except (ValueError, ZeroDivisionError):
        return Unknown(f"the kernel's text for {name} is of no known shape")
    for candidate in like:
        if candidate == shown or (name == "WorkingDirectory" and candidate == f"-{shown}"):
            return Known(candidate)
        if candidate.removeprefix("-") == "~":
            return Unknown("where the user's home is stands on the node")
        if candidate.endswith("%") and name in ("MemoryMax", "MemoryHigh", "TasksMax"):
            return Unknown(f"{candidate} of what the machine has is a number that only the machine knows")
    return Known(shown)


def _canonical(name: str, text: str) -> str:
    if name.startswith("Limit"):
        return limit_of_kernel(name.removeprefix("Limit"), text)
    if name in ("MemoryMax", "MemoryHigh"):
        return INFINITY if text in ("max", INFINITY) else _memory(integer(text, 0, MOST))
    if name == "TasksMax":
        return INFINITY if text in ("max", INFINITY) else str(integer(text, 0, MOST))
    if name == "CPUQuota":
        return _quota(text)
    if name == "CPUAffinity":
        return cpus([text])
    if name == "UMask":
        return mode(text)
    if name in ("Nice", "OOMScoreAdjust"):
        return str(int(text))
    return text.replace("%", "%%")


def _memory(number: int) -> str:
    return show_size(number - number % PAGE if number > PAGE else number)


def _quota(text: str) -> str:
    quota, _, period = text.partition(" ")
    if quota in ("max", "-1", INFINITY):
        return INFINITY
    return show_share(round(int(quota) * 10000 / int(period or "100000")))
