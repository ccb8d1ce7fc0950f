"""`arg:--flag`: what the next start would pass, and what the server was started with."""

from __future__ import annotations

from collections.abc import Container, Sequence
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
    declared = {name for flag in desired.args for name in desired.spellings(flag)}
    for flag, want in desired.args.items():
        names = desired.spellings(flag)
        shape = _shape(want)
        sealed = compared_by_digest(flag, want)
        disk = _read(start.argv, names, shape, declared)
        running = None if live is None else _read(live, names, shape, declared).value
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


def _read(
    words: tuple[Reading, ...] | Unknown, names: Sequence[str], shape: Shape, declared: Container[str]
) -> Reading:
    if isinstance(words, Unknown):
        return Reading(words)
    short = _abbreviation(words[1:], names, declared)
    if short is not None:
        return Reading(Unknown(f"{short} may be short for {names[0]}"))
    return flag_value(words[1:], names, shape)


def _abbreviation(words: Sequence[Reading], names: Sequence[str], declared: Container[str]) -> str | None:
    """A word that argparse may take for one of the names: their beginning, and no flag of the manifest's own.

    argparse lets any beginning stand that is unique among the server's flags, which we don't know.
    """
    for word in words:
        flag = str(word.value.value).partition("=")[0] if isinstance(word.value, Known) else ""
        known = flag in declared or flag in names
        if len(flag) > 2 and flag.startswith("--") and not known and any(n.startswith(flag) for n in names):
            return flag
    return None


def _notes(disk: Reading, draft: Draft) -> list[str]:
    where = f"{disk.path}:{disk.line}" if disk.path and disk.line else ""
    return [where, f"pid {draft.server.pid}" if isinstance(draft.server, Process) else ""]
