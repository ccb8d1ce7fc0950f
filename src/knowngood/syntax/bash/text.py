"""What a text may be: known stretches, and holes that say what is known of the rest.

Two worlds are kept apart. In the certain one a hole may be anything (or one of its choices). In the presumed
one the caller gives nothing: a hole then is its `presumed` text, as `${PORT:-8000}` is 8000.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TypeAlias

MOST_CHOICES = 16
LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Hole:
    """`reason` and `line` are for people. `solid`: not empty, without blanks or anything a shell splits or
    globs (a number). `caller`: it is whatever the caller gives, nothing being presumed."""

    reason: str
    line: int
    presumed: str | None = None
    choices: tuple[str, ...] | None = None
    solid: bool = False
    caller: bool = False


Text: TypeAlias = tuple[str | Hole, ...]
EMPTY: Text = ()


def plain(text: str) -> Text:
    return (text,) if text else EMPTY


def unknown(reason: str, line: int, *, solid: bool = False, presumed: str | None = None) -> Text:
    return (Hole(reason, line, presumed, None, solid),)


def concat(*texts: Text) -> Text:
    joined: list[str | Hole] = []
    for text in texts:
        for piece in text:
            last = joined[-1] if joined else None
            if isinstance(piece, str) and isinstance(last, str):
                joined[-1] = last + piece
            else:
                joined.append(piece)
    if len(joined) > 200 or sum(len(piece) for piece in joined if isinstance(piece, str)) > LONGEST:
        return unknown("too long to be followed", 0)
    return tuple(joined)


def known(text: Text) -> str | None:
    """The text, when no hole is in it."""
    if not text:
        return ""
    return text[0] if len(text) == 1 and isinstance(text[0], str) else None


def presumed(text: Text, *, lax: bool = False) -> str | None:
    """The text of the presumed world, if it has one. `lax`: what the caller would give counts as empty."""
    pieces = []
    for piece in text:
        if isinstance(piece, str):
            pieces.append(piece)
        elif piece.presumed is not None:
            pieces.append(piece.presumed)
        elif lax and piece.caller:
            continue
        else:
            return None
    return "".join(pieces)


def alternatives(text: Text) -> tuple[str, ...] | None:
    """All that the text may be, when that is a short list."""
    options = [(piece,) if isinstance(piece, str) else piece.choices for piece in text]
    if any(option is None for option in options):
        return None
    if prod(len(option or ()) for option in options) > MOST_CHOICES:
        return None
    return tuple(dict.fromkeys("".join(taken) for taken in product(*(option or () for option in options))))


def first_hole(text: Text) -> Hole | None:
    return next((piece for piece in text if isinstance(piece, Hole)), None)


def starts_with(text: Text) -> str:
    """What the text certainly begins with."""
    return text[0] if text and isinstance(text[0], str) else ""


def never_empty(text: Text) -> bool:
    for piece in text:
        if isinstance(piece, str) or piece.solid or (piece.choices is not None and all(piece.choices)):
            return True
    return False


def lift(change: Callable[[str], str | None], text: Text, *, solid: bool = False) -> Text:
    """A change applied to a text as far as it is known; where it returns None, the outcome is unknown."""
    whole = known(text)
    if whole is not None:
        changed = change(whole)
        return unknown("it can't be worked out", 0) if changed is None else plain(changed)
    hole = first_hole(text)
    assert hole is not None  # noqa: S101 - a text that is not known has a hole
    expected = presumed(text)
    options = alternatives(text)
    changed_options = None if options is None else tuple(change(option) for option in options)
    choices = None
    if changed_options is not None and None not in changed_options:
        choices = tuple(dict.fromkeys(option for option in changed_options if option is not None))
    if choices is not None and len(choices) == 1:
        return plain(choices[0])
    return (Hole(hole.reason, hole.line, None if expected is None else change(expected), choices, solid),)


def join(one: Text, other: Text, reason: str, line: int, *, prefer_one: bool = False) -> Text:
    """Either text. What both begin and end with stays known; with `prefer_one` the first is presumed."""
    if one == other:
        return one
    head, one, other = _common_head(one, other)
    tail, one, other = _common_tail(one, other)
    ones, others = alternatives(one), alternatives(other)
    choices = None
    if ones is not None and others is not None:
        choices = tuple(dict.fromkeys(ones + others))
        choices = choices if len(choices) <= MOST_CHOICES else None
    expected = presumed(one) if prefer_one else None
    if not prefer_one and presumed(one) == presumed(other):
        expected = presumed(one)
    solid = _solid(one) and _solid(other)
    return concat(head, (Hole(reason, line, expected, choices, solid),), tail)


def _solid(text: Text) -> bool:
    def fine(piece: str | Hole) -> bool:
        return piece.isalnum() and piece.isascii() if isinstance(piece, str) else piece.solid

    return bool(text) and all(fine(piece) for piece in text)


def _common_head(one: Text, other: Text) -> tuple[Text, Text, Text]:
    at = 0
    while at < min(len(one), len(other)) and (one[at] is other[at] or one[at] == other[at]):
        at += 1
    head, one, other = one[:at], one[at:], other[at:]
    if one and other and isinstance(one[0], str) and isinstance(other[0], str):
        left, right = one[0], other[0]
        same = _alike(left, right)
        one, other = (
            concat(plain(left[same:]), one[1:]),
            concat(plain(right[same:]), other[1:]),
        )
        head = concat(head, plain(left[:same]))
    return head, one, other


def _alike(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    sure, most = 0, min(len(left), len(right))
    while sure < most:
        middle = (sure + most + 1) // 2
        if left[sure:middle] == right[sure:middle]:
            sure = middle
        else:
            most = middle - 1
    return sure


def _common_tail(one: Text, other: Text) -> tuple[Text, Text, Text]:
    def mirrored(text: Text) -> Text:
        return tuple(piece[::-1] if isinstance(piece, str) else piece for piece in reversed(text))

    tail, left, right = _common_head(mirrored(one), mirrored(other))
    return mirrored(tail), mirrored(left), mirrored(right)


def because(text: Text, reason: str, line: int) -> Text:
    """The same text with a reason of its own in every hole."""
    return tuple(
        replace(piece, reason=reason, line=line) if isinstance(piece, Hole) else piece for piece in text
    )
