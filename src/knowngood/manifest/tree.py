"""A YAML document as a tree that keeps the source text of every scalar, and where it stands.

YAML's own types are not wanted here: 0.90, 010 and 22:30 are text, and stay what was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

TRUE_WORDS = ("true", "yes", "on")
FALSE_WORDS = ("false", "no", "off")
NULL_WORDS = ("", "~", "null")
TAGS = ("absent", "secret", "repeat", "unmanaged")

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]{0,17})\.[0-9]{1,17}")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A piece of text. `plain` means without quotes, where YAML sees words and numbers.

    `start` and `end` are offsets in characters of the source; so are those of the other nodes.
    """

    text: str
    plain: bool
    start: int
    end: int

    @property
    def word(self) -> str | None:
        """What YAML 1.1 takes this for: "true", "false" or "null"; None where it is text or a number."""
        if not self.plain or len(self.text) > 5:
            return None
        return _WORDS.get(self.text)


# YAML 1.1 has three spellings of each (yaml.org/type/bool.html, null.html); PyYAML leaves y and n alone.
_WORDS = {
    spelling: meaning
    for meaning, words in (("true", TRUE_WORDS), ("false", FALSE_WORDS), ("null", NULL_WORDS))
    for word in words
    for spelling in (word, word.capitalize(), word.upper())
}


def is_word(text: str) -> bool:
    """Whether some reading of YAML takes this text, without quotes, for true, false or nothing."""
    return text in _WORDS or text in ("y", "Y", "n", "N")


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]
    start: int


class Entry(NamedTuple):
    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True)
class Mapping:
    """Entries by key, in the order of the source. `flow` is the style with braces."""

    entries: dict[str, Entry]
    start: int
    flow: bool = False

    def get(self, key: str) -> Node | None:
        """The value of a key; None without it."""
        entry = self.entries.get(key)
        return entry.value if entry else None

    def map(self, key: str) -> Mapping:
        """The mapping under a key; an empty one where there is none."""
        value = self.get(key)
        return value if isinstance(value, Mapping) else Mapping({}, self.start)

    def items(self, key: str) -> tuple[Node, ...]:
        """The items of the sequence under a key; none where there is none."""
        value = self.get(key)
        return value.items if isinstance(value, Sequence) else ()

    def text(self, key: str) -> str | None:
        """The text of the scalar under a key; None where there is none, or no value."""
        value = self.get(key)
        return value.text if isinstance(value, Scalar) and value.word != "null" else None

    def flag(self, key: str) -> bool | None:
        """true or false under a key; None where neither is."""
        value = self.get(key)
        word = value.word if isinstance(value, Scalar) else None
        return {"true": True, "false": False}.get(word or "")

    @property
    def tag(self) -> str | None:
        """absent, secret, repeat or unmanaged, where this is a value marked so; None for a plain mapping."""
        if len(self.entries) != 1:
            return None
        (key,) = self.entries
        return key if key in TAGS else None


Node: TypeAlias = Scalar | Sequence | Mapping


class YesNo:
    """A yes, no, on or off without quotes. It is of no JSON type, so no schema lets it pass as a value."""


def plain(node: Node) -> object:
    """The node as JSON types, for a schema: a number only where its text is a number's usual spelling."""
    if isinstance(node, Mapping):
        return {key: plain(entry.value) for key, entry in node.entries.items()}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    if node.word == "null":
        return None
    if node.word is not None:
        return node.word == "true" if node.text.lower() == node.word else YesNo()
    if node.plain and _INTEGER.fullmatch(node.text):
        return int(node.text)
    if node.plain and _FLOAT.fullmatch(node.text):
        return float(node.text)
    return node.text


def scalars(node: Node) -> Iterator[Scalar]:
    """All values of a tree that are scalars, keys aside."""
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from scalars(item)
    else:
        for entry in node.entries.values():
            yield from scalars(entry.value)
