"""All fleets of this machine: one JSON file each in /run/knowngood-fleet, written before anything is made.

A fleet whose program was killed can so be found from anywhere: its state folder, its address block, and the
process that owned it, where it was not meant to outlive one.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from .errors import FleetError

FOLDER = Path("/run/knowngood-fleet")


@dataclass(frozen=True)
class Entry:
    """One fleet. `owner` names the process it must not outlive (see `identity`), or is empty."""

    id: str
    state: str
    block: str
    owner: str = ""

    def write(self) -> None:
        path = FOLDER / f"{self.id}.json"
        half = path.with_suffix(".half")
        half.write_text(json.dumps(asdict(self)))
        half.replace(path)

    def forget(self) -> None:
        (FOLDER / f"{self.id}.json").unlink(missing_ok=True)


def fleet_id(state: Path) -> str:
    """Eight hex digits for a state folder: the name of its cgroup and part of its machines' names."""
    return hashlib.sha256(os.fsencode(state.resolve())).hexdigest()[:8]


def entries() -> list[Entry]:
    """Every fleet that is written down, living or dead."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        try:
            found.append(Entry(**json.loads(path.read_text())))
        except (FileNotFoundError, ValueError, TypeError):
            continue
    return found


@contextmanager
def locked() -> Iterator[None]:
    """Held while a block of addresses is chosen and written down."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    with (FOLDER / "registry.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def fleet_locked(identifier: str) -> Iterator[None]:
    """Held by the program that brings a fleet up or down. FleetError when another one holds it."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    with (FOLDER / f"{identifier}.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FleetError("another program is bringing this fleet up or down") from None
        yield


def identity(pid: int) -> str:
    """What names a process for good: boot, pid, start ticks (field 22 of proc(5)'s stat). Empty when gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {pid} {stat.rpartition(')')[2].split()[19]}"


def alive(owner: str) -> bool:
    """Whether the process that `identity` named still runs."""
    return owner == identity(int(owner.split()[1]))
