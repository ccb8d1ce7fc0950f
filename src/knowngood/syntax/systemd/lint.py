"""A remark on a unit, a drop-in or an environment file, for people."""

from __future__ import annotations

from dataclasses import dataclass

MOST_REMARKS = 1000  # on one file; nobody reads more
LARGEST = 1 << 18  # bytes of a file that we read at all (systemd refuses lines of 1 MiB)


@dataclass(frozen=True, slots=True)
class Lint:
    """A remark on a line (counted from 1, 0 for the whole file). `code` is a short stable word."""

    line: int
    code: str
    message: str
    path: str = ""
