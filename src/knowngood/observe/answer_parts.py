"""Typed access to an answer that anyone may have written: each value has its type, or is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

MOST_REASON = 300  # characters
_MOST_NUMBER = 1 << 64


class NonsenseError(Exception):
    """The answer is not one that the probe gives; the text says where, in our words alone."""


class Part:
    """A JSON object of the answer, and the way to it in our own words.

    `problem` is why the whole answer may have gaps, None where it may not: what is absent then was not
    reached, and an absent object counts as an empty one.
    """

    def __init__(self, value: object, way: str, problem: str | None = None) -> None:
        if not isinstance(value, dict):
            raise NonsenseError(f"{way}: no object")
        self._fields = value
        self._way = way
        self.problem = problem

    def __contains__(self, name: str) -> bool:
        return self._fields.get(name) is not None

    def part(self, name: str) -> Part:
        """The object under a name."""
        value = self._fields.get(name)
        if value is None and self.problem:
            value = {}
        return Part(value, f"{self._way}.{name}", self.problem)

    def part_or_none(self, name: str) -> Part | None:
        """The object under a name, None where there is none."""
        return self.part(name) if name in self else None

    def source(self, name: str) -> tuple[Part, str | None]:
        """One source's answer, which lies under `value` in it, and the reason where it has none."""
        part = self.part(name)
        error = part.reason("error")
        if error is None and "value" not in part:
            error = self.problem
        return part, error

    def parts(self, name: str) -> list[Part]:
        """The objects of the list under a name."""
        value = self._fields.get(name)
        if not isinstance(value, list):
            self._refuse(name, "no list")
        return [Part(each, f"{self._way}.{name}[]", self.problem) for each in value]

    def parts_by_word(self, name: str) -> dict[str, Part]:
        """The objects of the object under a name."""
        way = f"{self._way}.{name}"
        return {key: Part(each, way, self.problem) for key, each in self.named(name).items()}

    def named(self, name: str) -> dict[str, object]:
        """The object under a name, as a plain dict of words to whatever; empty where it is absent."""
        value = self._fields.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self._refuse(name, "no object")
        self._check_words(value, name)
        return value

    def word_map(self, name: str) -> dict[str, str]:
        """Words by words; empty where it is absent."""
        value = self.named(name)
        self._check_words(value.values(), name)
        return value  # type: ignore[return-value]

    def words(self, name: str) -> tuple[str, ...]:
        """The list of words under a name."""
        value = self._fields.get(name)
        if not isinstance(value, list):
            self._refuse(name, "no list")
        self._check_words(value, name)
        return tuple(value)

    def word(self, name: str) -> str:
        """Text as the kernel holds it: UTF-8 with surrogate escapes, no NUL."""
        value = self._fields.get(name)
        self._check_words([value], name)
        return value  # type: ignore[return-value]

    def word_or_none(self, name: str) -> str | None:
        """Text, or None where there is none."""
        return self.word(name) if name in self else None

    def reason(self, name: str) -> str | None:
        """A sentence of the node's for people, bounded and printable; None where there is none."""
        if name not in self:
            return None
        value = self._fields[name]
        if not isinstance(value, str):
            self._refuse(name, "no text")
        return printable(value)

    def data(self, name: str) -> bytes | None:
        """A whole text, which came with a letter for each byte."""
        value = self._fields.get(name)
        if value is None:
            return None
        try:
            return value.encode("latin-1")  # type: ignore[no-any-return]
        except (AttributeError, UnicodeEncodeError):
            self._refuse(name, "no bytes")

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number of at most 64 bits."""
        value = self._fields.get(name, default)
        if type(value) is not int or not -_MOST_NUMBER < value < _MOST_NUMBER:
            self._refuse(name, "no number")
        return value

    def truth(self, name: str) -> bool | None:
        """true, false, or None."""
        value = self._fields.get(name)
        if value is not None and not isinstance(value, bool):
            self._refuse(name, "neither true nor false")
        return value

    def _check_words(self, values: Iterable[object], name: str) -> None:
        try:
            together = "".join(values)  # type: ignore[arg-type]
        except TypeError:
            self._refuse(name, "no text")
        if "\0" in together:
            self._refuse(name, "a NUL in a word")
        try:
            together.isascii() or together.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            self._refuse(name, "no text that UTF-8 could carry")

    def _refuse(self, name: str, what: str) -> NoReturn:
        raise NonsenseError(f"{self._way}.{name}: {what}")


def printable(text: str) -> str:
    """A node's sentence, in one bounded line without anything that moves a cursor or hides."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:MOST_REASON])
