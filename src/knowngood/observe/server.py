"""Which of the unit's processes is the server, and what it was started with."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence

from knowngood.model import Process, Unknown

SHELLS = frozenset("sh bash dash zsh ksh ash busybox".split())
# Programs that start another one and wait, or stand beside it in a pipeline; none of them serves.
WRAPPERS = frozenset(
    "env numactl nohup taskset timeout sudo doas su runuser setpriv setsid stdbuf nice ionice chrt time tee "
    "tini dumb-init catatonit s6-supervise runsv mpirun mpiexec orterun srun prterun uv docker podman conda "
    "sleep cat logger systemd-cat script unbuffer rotatelogs cronolog strace perf nsys gdb".split()
)


def find_server(processes: Sequence[Process], server: str | None, main_pid: int) -> Process | Unknown:
    """The process that serves: the outermost match of `server` that is no shell and no wrapper.

    Without `server`, the one outermost process that is neither; with several of those, systemd's main
    process decides. Unknown says what to declare when nothing does.
    """
    if not processes:
        return Unknown("the unit has no process")
    candidates = [process for process in processes if not _is_wrapper(process)]
    if server is not None:
        matches = [process for process in candidates if _matches(process, server)]
        if not matches:
            return _no_match(candidates, server, main_pid)
        candidates = matches
    outermost = list(_outermost(candidates, processes))
    if len(outermost) == 1:
        return outermost[0]
    main = [process for process in outermost if process.pid == main_pid]
    if main:
        return main[0]
    if not outermost:
        return Unknown("the unit runs only shells and wrappers")
    named = ", ".join(str(process.pid) for process in outermost[:5])
    return Unknown(f"several processes may be the server (pids {named}): name it with `server:`")


def _no_match(candidates: Iterable[Process], server: str, main_pid: int) -> Process | Unknown:
    """No argv holds the text. A main process that rewrote its own command line is still the server."""
    for process in candidates:
        if process.pid == main_pid and isinstance(process.argv, Unknown):
            return process
    return Unknown(f"no process of the unit has {server!r} in its command line")


def _matches(process: Process, server: str) -> bool:
    return not isinstance(process.argv, Unknown) and server in " ".join(process.argv)


def _is_wrapper(process: Process) -> bool:
    name = program_name(process)
    return name in SHELLS or name in WRAPPERS


def program_name(process: Process) -> str:
    """The program's base name: of its executable, else of its first word; "" when neither is known."""
    if process.exe:
        return posixpath.basename(process.exe.removesuffix(" (deleted)"))
    if isinstance(process.argv, Unknown) or not process.argv:
        return ""
    return posixpath.basename(process.argv[0]).lstrip("-")


def _outermost(candidates: Sequence[Process], processes: Sequence[Process]) -> Iterator[Process]:
    """The candidates that have no candidate among their ancestors."""
    by_pid = {process.pid: process for process in processes}
    chosen = {process.pid for process in candidates}
    for process in candidates:
        if not any(ancestor.pid in chosen for ancestor in ancestors(process, by_pid)):
            yield process


def ancestors(process: Process, by_pid: dict[int, Process]) -> Iterator[Process]:
    """The process's ancestors within the unit, nearest first; a loop of parents (pids reused) ends."""
    seen = {process.pid}
    parent = by_pid.get(process.ppid)
    while parent is not None and parent.pid not in seen:
        yield parent
        seen.add(parent.pid)
        parent = by_pid.get(parent.ppid)


def descendants(server: Process, processes: Sequence[Process]) -> list[Process]:
    """The server's children and theirs, oldest first."""
    by_pid = {process.pid: process for process in processes}
    below = [p for p in processes if any(a.pid == server.pid for a in ancestors(p, by_pid))]
    return sorted(below, key=lambda process: (process.start_ticks, process.pid))
