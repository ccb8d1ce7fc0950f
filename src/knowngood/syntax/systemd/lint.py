"""A remark on a unit, a drop-in or an environment file, for people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lint:
    """A remark on a line (counted from 1, 0 for the whole file). `code` is a short stable word."""

    line: int
    code: str
    message: str
    path: str = ""
