"""Clean up after fleets that nobody holds any more: processes, mounts, cgroups, overlays, in that order.

Only what a fleet made is touched: processes by its cgroup, mounts and files by its state folder, both as the
registry has them.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

from . import cgroups, mounts, registry
from .errors import FleetError


def remove_fleet(entry: registry.Entry) -> None:
    """Take away all that is left of this fleet. Whatever is gone already is no error."""
    cgroups.kill(entry.id)
    state = Path(entry.state)
    mounts.unmount_below(state / "nodes")
    cgroups.remove(entry.id)
    with suppress(OSError):
        cgroups.remove_top()
    _delete(state / "nodes")
    for name in ("nodes.json", "known_hosts", "key", "key.pub"):
        (state / name).unlink(missing_ok=True)
    with suppress(OSError):
        state.rmdir()
    for leftover in Path("/run/systemd/nspawn/propagate").glob(f"kg-{entry.id}-*"):
        _delete(leftover)
    entry.forget()


def remove_dead_fleets(mine: str) -> list[registry.Entry]:
    """Remove every fleet that no program is working on and that does not live.

    `mine` is the fleet whose lock the caller holds: what is there of it goes, in whatever state.
    """
    dead = []
    for entry in registry.entries():
        if entry.id == mine:
            remove_fleet(entry)
            dead.append(entry)
            continue
        # A lock that is held belongs to a program at work; the fleet is none of ours.
        with suppress(FleetError), registry.fleet_locked(entry.id):
            if not _lives(entry):
                remove_fleet(entry)
                dead.append(entry)
    return dead


def _lives(entry: registry.Entry) -> bool:
    """Whether the fleet came up whole, still has processes, and did not outlive its owner."""
    whole = Path(entry.state, "nodes.json").exists()
    orphaned = bool(entry.owner) and not registry.alive(entry.owner)
    return whole and not orphaned and bool(cgroups.pids(entry.id))


def _delete(folder: Path) -> None:
    if folder.is_dir():
        subprocess.run(["rm", "-rf", "--one-file-system", folder], check=True)
