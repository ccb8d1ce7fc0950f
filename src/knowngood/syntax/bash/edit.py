"""Editing a script in place."""

from __future__ import annotations

from collections.abc import Sequence

from knowngood.model import Occurrences


class CannotEdit(Exception):  # noqa: N818 - named for what happened
    """The place of an edit can't be decided; `reason` says why and what to do; `line` from 1, or 0."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def set_knob(text: bytes, name: str, value: str | None) -> bytes:
    raise CannotEdit(f"{name} can't be edited yet")


def set_flag(
    text: bytes, names: Sequence[str], value: Occurrences | None, *, server: str | None = None
) -> bytes:
    raise CannotEdit(f"{names[0]} can't be edited yet")
