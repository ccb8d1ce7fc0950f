"""What a command costs: its wall time, the CPU time of all that it starts, and its peak memory.

The one place where the benchmarks measure. A command runs under a watcher process of its own, which adopts
what the command leaves behind (OpenSSH's connection masters, say), ends it, and only then reads the bill: so
no daemon escapes the count, and a server that was started elsewhere is never in it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a command took. Times in seconds, memory in bytes."""

    wall: float  # from start to the command's own exit
    cpu: float  # user and system, of the command and all that it started
    peak: int  # memory of the whole tree: sampled PSS, or the largest single process if that is more
    exit_code: int  # negative: ended by that signal; -9 at the timeout
    output: str = ""  # stdout
    errors: str = ""  # stderr


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 600,
    sample: bool = True,
) -> Cost:
    """Run `argv` to its end and say what it cost. `env` is added to ours; `timeout` is in seconds.

    Without `sample` memory is the largest process's alone, and nothing wakes up while the command runs.
    """
    with tempfile.TemporaryDirectory(prefix="knowngood-measure-") as folder:
        out, err, bill = (Path(folder, name) for name in ("out", "err", "bill"))
        order = json.dumps({"argv": list(argv), "timeout": timeout, "sample": sample, "bill": str(bill)})
        with out.open("wb") as stdout, err.open("wb") as stderr:
            subprocess.run(
                [sys.executable, "-I", __file__, order],
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                check=True,
            )
        texts = {"output": out.read_text(errors="replace"), "errors": err.read_text(errors="replace")}
        return Cost(**{**json.loads(bill.read_text()), **texts})


def middle(costs: Sequence[Cost]) -> Cost:
    """The medians of several runs, each number for itself; texts and exit code are the last run's."""
    return Cost(
        wall=statistics.median(cost.wall for cost in costs),
        cpu=statistics.median(cost.cpu for cost in costs),
        peak=int(statistics.median(cost.peak for cost in costs)),
        exit_code=costs[-1].exit_code,
        output=costs[-1].output,
        errors=costs[-1].errors,
    )


def cpu_of(work: Callable[..., object], *arguments: object) -> float:
    """CPU seconds that `work(*arguments)` takes in this process."""
    before = time.process_time()
    work(*arguments)
    return time.process_time() - before


# --- The watcher: this file run as a program -----------------------------------------------------------


def _watch(order: str) -> None:
    task = json.loads(order)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    started = time.perf_counter()
    command = subprocess.Popen(task["argv"])
    memory = _Memory()
    if task["sample"]:
        threading.Thread(target=memory.watch, args=(command.pid,), daemon=True).start()
    # Not wait(timeout): that looks only every 50 ms, which is most of what a short command takes.
    alarm = threading.Timer(task["timeout"], command.kill)
    alarm.start()
    exit_code = command.wait()
    wall = time.perf_counter() - started
    alarm.cancel()
    memory.ended = True
    _end_orphans()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = Cost(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        peak=max(memory.peak, usage.ru_maxrss * 1024),
        exit_code=exit_code,
    )
    Path(task["bill"]).write_text(json.dumps(asdict(cost)))


class _Memory:
    """The highest sum of PSS seen over a process and its descendants."""

    def __init__(self) -> None:
        self.peak = 0
        self.ended = False

    def watch(self, root: int) -> None:
        """Sample until told to end, and spend at most a twentieth of one core on it."""
        while not self.ended:
            before = time.perf_counter()
            self.peak = max(self.peak, sum(map(_pss, [root, *_descendants(root)])))
            time.sleep(max(0.1, 19 * (time.perf_counter() - before)))


def _pss(pid: int) -> int:
    """Memory of a process in bytes, shared pages split among their sharers; 0 when it is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return int(text.split("\nPss:", 1)[1].split(None, 1)[0]) * 1024
    return 0


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [
            int(child)
            for tasks in Path(f"/proc/{pid}/task").glob("*/children")
            for child in tasks.read_text().split()
        ]
    return []


def _descendants(pid: int) -> list[int]:
    children = _children(pid)
    return children + [below for child in children for below in _descendants(child)]


def _end_orphans() -> None:
    """End what the command left running, gently and then not, and wait for all of it."""
    deadline = time.monotonic() + 5
    while orphans := _children(os.getpid()):
        signal_now = signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal_now)
        time.sleep(0.05)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


if __name__ == "__main__":
    _watch(sys.argv[1])
