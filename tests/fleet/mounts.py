"""Overlay mounts: each node's root is the base tree with a layer of its own on top."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .errors import FleetError


def mount_overlay(lower: Path, folder: Path) -> Path:
    """Mount `folder`/root: the tree `lower` under `folder`/upper. FleetError when the kernel refuses."""
    for name in ("upper", "work", "root"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    root = folder / "root"
    options = f"lowerdir={lower},upperdir={folder / 'upper'},workdir={folder / 'work'}"
    _mount("-t", "overlay", "overlay", "-o", options, str(root))
    return root


def ready_for_overlays(folder: Path) -> None:
    """Make the folder able to hold upper layers, which an overlay itself (a container's root) is not."""
    kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=True)
    if kind.stdout.strip() == "overlayfs":
        _mount("-t", "tmpfs", "-o", "mode=0700", "knowngood-fleet", str(folder))


def below(folder: Path) -> list[Path]:
    """Mount points at the folder and below it, innermost first."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    points = [Path(_unescaped(line.split()[4])) for line in lines]
    return [point for point in reversed(points) if point == folder or folder in point.parents]


def unmount_below(folder: Path) -> None:
    """Unmount everything at the folder and below it."""
    for point in below(folder):
        # Lazily, for someone may stand in there with a shell; the mount goes when they leave.
        subprocess.run(["umount", "--lazy", point], check=True)


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FleetError(f"mount failed: {done.stderr.strip()}")


def _unescaped(text: str) -> str:
    """mountinfo writes space, tab, newline and backslash as octal escapes (proc(5))."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
