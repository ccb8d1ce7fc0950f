"""Paths that a pattern stands for. Source: glob(7); EnvironmentFile= takes patterns, systemd.exec(5)."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


def is_pattern(path: str) -> bool:
    """Whether glob(3) would look for more than this one path."""
    return any(char in path for char in "*?[\\")


def matching(pattern: str, paths: Iterable[str]) -> list[str]:
    """Those of the paths that the pattern stands for, sorted by their bytes."""
    wanted = pattern.split("/")
    return sorted(path for path in paths if _matches(path.split("/"), wanted))


def _matches(path: list[str], wanted: list[str]) -> bool:
    """A slash and a dot at the start of a name are matched by themselves alone."""
    return len(path) == len(wanted) and all(
        fnmatchcase(part, each) and (not part.startswith(".") or each.startswith("."))
        for part, each in zip(path, wanted, strict=True)
    )
