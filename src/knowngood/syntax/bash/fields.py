"""Words after expansion: fields, and gaps where their number is not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from knowngood.syntax.bash.text import MOST_CHOICES, Text, first_hole, join, known, starts_with

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Field:
    """One word. `span` is where it is written, if it is a word of the script itself."""

    text: Text
    line: int
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """Any number of words: one of `choices`, if given; `presumed` when the caller gives nothing.

    `start` is what the first word begins with; where it is not empty, there is at least one word.
    """

    reason: str
    line: int
    start: str = ""
    choices: tuple[tuple[Field, ...], ...] | None = None
    presumed: tuple[Field, ...] | None = None


Item: TypeAlias = Field | Gap
Items: TypeAlias = tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Many:
    """What `$@` and `${array[@]}` stand for; `star` where `*` was written, which joins when quoted."""

    items: Items
    star: bool


def only_fields(items: Sequence[Item]) -> tuple[Field, ...] | None:
    """The items, when there is no gap among them."""
    fields = tuple(item for item in items if isinstance(item, Field))
    return fields if len(fields) == len(items) else None


def known_words(items: Sequence[Item]) -> tuple[str, ...] | None:
    """The words, when all are known."""
    fields = only_fields(items)
    texts = None if fields is None else [known(field.text) for field in fields]
    if texts is None or None in texts:
        return None
    return tuple(text for text in texts if text is not None)


def presumed_fields(items: Sequence[Item]) -> tuple[Field, ...] | None:
    """The words of the presumed world, if their number is known there."""
    fields: list[Field] = []
    for item in items:
        if isinstance(item, Field):
            fields.append(item)
        elif item.presumed is not None:
            fields += item.presumed
        else:
            return None
    return tuple(fields)


def all_choices(items: Sequence[Item]) -> tuple[tuple[Field, ...], ...] | None:
    """All sequences of words that the items may be, when they are few."""
    found: list[tuple[Field, ...]] = [()]
    for item in items:
        options = ((item,),) if isinstance(item, Field) else item.choices
        if options is None or len(found) * len(options) > MOST_CHOICES:
            return None
        found = [before + option for before in found for option in options]
    return tuple(dict.fromkeys(found))


def join_items(one: Items, other: Items, reason: str, line: int, *, prefer_one: bool = False) -> Items:
    """Either sequence: what both begin and end with stays, and a gap between."""
    if one == other:
        return one
    head = 0
    while head < min(len(one), len(other)) and _same(one[head], other[head]):
        head += 1
    tail = 0
    while tail < min(len(one), len(other)) - head and _same(one[-1 - tail], other[-1 - tail]):
        tail += 1
    left, right = one[head : len(one) - tail], other[head : len(other) - tail]
    middle = _either(left, right, reason, line, prefer_one)
    return one[:head] + middle + one[len(one) - tail :]


def _same(one: Item, other: Item) -> bool:
    return one is other or one == other


def _either(left: Items, right: Items, reason: str, line: int, prefer_left: bool) -> Items:
    pairs = list(zip(left, right, strict=False))
    if len(left) == len(right) and all(isinstance(a, Field) and isinstance(b, Field) for a, b in pairs):
        return tuple(
            replace(a, text=join(a.text, b.text, reason, line, prefer_one=prefer_left), span=None)
            for a, b in pairs
            if isinstance(a, Field) and isinstance(b, Field)
        )
    lefts, rights = all_choices(left), all_choices(right)
    choices = None
    if lefts is not None and rights is not None:
        choices = tuple(dict.fromkeys(lefts + rights))
        choices = choices if len(choices) <= MOST_CHOICES else None
    expected = presumed_fields(left) if prefer_left else None
    if not prefer_left and presumed_fields(left) == presumed_fields(right):
        expected = presumed_fields(left)
    return (Gap(reason, line, "", choices, expected),)


def why(items: Sequence[Item]) -> tuple[str, int]:
    """The first reason why the items are not known, with its line."""
    for item in items:
        if isinstance(item, Gap):
            return item.reason, item.line
        hole = first_hole(item.text)
        if hole:
            return hole.reason, hole.line
    return "", 0


def beginning(item: Item) -> str:
    """What the (first) word certainly begins with."""
    return item.start if isinstance(item, Gap) else starts_with(item.text)


def word_text(item: Item) -> str | None:
    """A word's text, when it is one word and known."""
    return known(item.text) if isinstance(item, Field) else None


def word_texts(items: Sequence[Item]) -> list[str | None]:
    return [word_text(item) for item in items]
