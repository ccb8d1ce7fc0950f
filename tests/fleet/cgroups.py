"""A cgroup for each fleet and node: what tells our processes from everybody else's.

A node's nspawn joins the node's cgroup before it runs, so every process in there is ours, whatever was killed
in between. Paths are `knowngood-fleet/FLEET/NODE` below each hierarchy that systemd uses: the one of pure
cgroup v2, or both `systemd` and `unified` of a hybrid machine (cgroups(7), systemd's CGROUP_DELEGATION).
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .errors import FleetError

TOP = "knowngood-fleet"
_FS = Path("/sys/fs/cgroup")


def hierarchies() -> list[Path]:
    """The mount points of the hierarchies in which systemd keeps its processes."""
    if (_FS / "cgroup.controllers").exists():
        return [_FS]
    found = [_FS / name for name in ("systemd", "unified") if (_FS / name / "cgroup.procs").exists()]
    if not found:
        raise FleetError("no cgroup hierarchy of systemd is mounted below /sys/fs/cgroup")
    return found


def make(*names: str) -> list[Path]:
    """The cgroup `knowngood-fleet/NAMES…`, made where it is missing, in each hierarchy."""
    folders = []
    for top in hierarchies():
        folder = top
        for name in (TOP, *names):
            _delegate(folder)
            folder = folder / name
            folder.mkdir(exist_ok=True)
        folders.append(folder)
    return folders


def _delegate(folder: Path) -> None:
    # Only v2 has this, and a cgroup with processes of its own (a container's root) may refuse: nodes then
    # have no memory or cpu limits, and everything else works.
    with suppress(OSError):
        wanted = set((folder / "cgroup.controllers").read_text().split()) & {"cpu", "memory", "pids"}
        (folder / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(wanted)))


def joining(folders: list[Path], command: list[str]) -> list[str]:
    """The command, changed so that it joins the cgroups before it runs."""
    script = 'for f in "$1" "$2"; do echo $$ >"$f"; done; shift 2; exec "$@"'
    procs = [str(folder / "cgroup.procs") for folder in folders]
    return ["/bin/sh", "-c", script, "sh", procs[0], procs[-1], *command]


def pids(*names: str) -> set[int]:
    """The processes in the cgroup and those below it; none where there is no such cgroup."""
    found = set()
    for top in hierarchies():
        for folder in _below(top.joinpath(TOP, *names)):
            with suppress(OSError):
                found |= {int(word) for word in (folder / "cgroup.procs").read_text().split()}
    return found - {0}


def inits(*names: str) -> set[int]:
    """Those of the processes that are PID 1 of a container, as this machine numbers them."""
    return {pid for pid in pids(*names) if _numbers(pid)[1:] == ["1"]}


def _numbers(pid: int) -> list[str]:
    """The process's number in each PID namespace, the outermost first (NSpid in proc(5)); empty when gone."""
    with suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return line.split()[1:]
    return []


def kill(*names: str) -> None:
    """End every process in the cgroup and below, and wait until they are gone. FleetError when some stay."""
    # All of a container dies with its PID 1, and nspawn then removes what it made in /run and leaves.
    _signal(inits(*names))
    if not _empty_within(2.0, *names):
        _signal(pids(*names))
        if not _empty_within(10.0, *names):
            raise FleetError(f"these processes of a node could not be killed: {sorted(pids(*names))}")


def _signal(targets: set[int]) -> None:
    for pid in targets:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _empty_within(seconds: float, *names: str) -> bool:
    deadline = time.monotonic() + seconds
    while pids(*names):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def remove(*names: str) -> None:
    """Remove the cgroup and those below it; all must be empty."""
    for top in hierarchies():
        for folder in reversed(list(_below(top.joinpath(TOP, *names)))):
            folder.rmdir()


def remove_top() -> None:
    """Remove the folder that holds all fleets. OSError when there are others."""
    for top in hierarchies():
        if (top / TOP).is_dir():
            (top / TOP).rmdir()


def _below(folder: Path) -> Iterator[Path]:
    """The folder and all below it, parents first; nothing where there is none, or none any more."""
    if folder.is_dir():
        yield folder
        try:
            entries = sorted(folder.iterdir())
        except FileNotFoundError:
            return
        for entry in entries:
            if entry.is_dir():
                yield from _below(entry)
