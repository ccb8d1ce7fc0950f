"""A serve script with a whole set of knobs and flags edited into it."""

from __future__ import annotations

from collections.abc import Mapping

from knowngood.model import Occurrences
from knowngood.syntax.bash import set_flag, set_knob


def with_settings(
    text: bytes,
    knobs: Mapping[str, str | None],
    flags: Mapping[tuple[str, ...], Occurrences | None],
    server: str | None,
) -> bytes:
    """The script with every knob and flag at its value; None removes it.

    `flags` maps a flag and its aliases to its value. Raises CannotEdit where a place can't be decided.
    """
    for name, value in knobs.items():
        text = set_knob(text, name, value)
    for names, occurrences in flags.items():
        text = set_flag(text, names, occurrences, server=server)
    return text
