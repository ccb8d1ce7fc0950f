"""`arg:--flag`: what the next start would pass, and what the server was started with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from knowngood.model import (
    Absent,
    Desired,
    Known,
    Observation,
    Occurrences,
    Process,
    Reading,
    Setting,
    Unknown,
    Want,
)
from knowngood.observe.draft import Draft
from knowngood.observe.next_start import NextStart
from knowngood.syntax.argv import flag_value
from knowngood.syntax.secrets import compared_by_digest, sealed_value

Shape = Literal["bare", "one", "many", "repeat"]


def add_flags(draft: Draft, desired: Desired, observation: Observation, start: NextStart) -> None:
    """Enter every declared flag."""
    live = _live_words(draft)
    for flag, want in desired.args.items():
        names = desired.spellings(flag)
        shape = _shape(want)
        sealed = compared_by_digest(flag, want)
        disk = _read(start.argv, names, shape)
        running = None if live is None else _read(live, names, shape).value
        draft.add(
            Setting("arg", flag),
            disk=sealed_value(disk.value, observation.nonce) if sealed else disk.value,
            running=running,
            notes=_notes(disk, draft),
        )


def _shape(want: Want) -> Shape:
    """How many words the flag takes, by how its value is declared."""
    if isinstance(want, Absent):
        return "many"
    if not isinstance(want, Known) or not isinstance(want.value, Occurrences):
        return "one"
    words = want.value.words
    if len(words) > 1:
        return "repeat"
    if want.value.listed or len(words[0]) > 1:
        return "many"
    return "one" if words[0] else "bare"


def _live_words(draft: Draft) -> tuple[Reading, ...] | Unknown | None:
    server = draft.server
    if server is None or isinstance(server, Unknown):
        return server
    if isinstance(server.argv, Unknown):
        return server.argv
    return tuple(Reading(Known(word)) for word in server.argv)


def _read(words: tuple[Reading, ...] | Unknown, names: Sequence[str], shape: Shape) -> Reading:
    if isinstance(words, Unknown):
        return Reading(words)
    return flag_value(words[1:], names, shape)


def _notes(disk: Reading, draft: Draft) -> list[str]:
    where = f"{disk.path}:{disk.line}" if disk.path and disk.line else ""
    return [where, f"pid {draft.server.pid}" if isinstance(draft.server, Process) else ""]
