"""Processes that hide what they were started with."""

from __future__ import annotations

from ..contents import UNIT
from ..node import Node

# Runs on the node. The kernel shows the memory between env_start and env_end (proc(5): stat's fields 50 and
# 51) as /proc/PID/environ; setproctitle and its like write over it.
_ZERO = """
import pathlib, sys
for pid in sys.argv[1:]:
    fields = pathlib.Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[47]), int(fields[48])
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(start)
        memory.write(bytes(end - start))
"""


def environ_zeroed(node: Node) -> None:
    """The environ of every process of the unit is all NUL; their command lines are as they were."""
    group = f"$(systemctl show --value --property=ControlGroup {UNIT})"
    procs = f"$(cat /sys/fs/cgroup/systemd{group}/cgroup.procs || cat /sys/fs/cgroup{group}/cgroup.procs)"
    node.run(f"python3 - {procs}", input=_ZERO)


def launcher_titled(node: Node) -> None:
    """The launcher calls setproctitle as well: its environ is NUL and its command line a title."""
    node.run("mkdir -p /run/standin; touch /run/standin/title-launcher")
    node.restart()


def titles_keep_environ(node: Node) -> None:
    """SPT_NOENV=1 is set in the manager's environment: setproctitle leaves environ alone."""
    node.run("systemctl set-environment SPT_NOENV=1")
    node.restart()
