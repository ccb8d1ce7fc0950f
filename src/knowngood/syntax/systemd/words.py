"""Words as systemd splits them: separators, quotes and backslashes.

Different directives read words in different ways; `Style` tells them apart. Source: systemd.syntax(7), and
src/basic/extract-word.c and src/basic/escape.c of systemd 245 to 257.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from knowngood.syntax.systemd.utf8 import is_valid_code_point

WHITESPACE = b" \t\n\r"
_QUOTES = b"'\""
_LETTERS = {
    b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v",
    b"\\": b"\\", b'"': b'"', b"'": b"'", b"s": b" ",
}  # fmt: skip
_CODED = re.compile(rb"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Style:
    """How words are read.

    `unquote`: quotes join blanks into a word and are taken off. `decode`: escapes as in C; else a backslash
    takes the next character as it is. `keep_backslash`: a backslash is a letter like any other.
    `lenient_escapes`: what is no escape stays as it stands. `lenient_ends`: an open quote ends with the text.
    `keep_empty`: every separator ends a word, so words can be empty.
    """

    unquote: bool = False
    decode: bool = False
    keep_backslash: bool = False
    lenient_escapes: bool = False
    lenient_ends: bool = False
    keep_empty: bool = False
    separators: bytes = WHITESPACE


@dataclass(frozen=True, slots=True)
class Word:
    """`start` is where it begins in the text, `after` where the next may begin (None: there is none)."""

    text: bytes
    start: int
    after: int | None


class BadWordError(ValueError):
    """An open quote, or a backslash before what is no escape."""


def first_word(text: bytes, style: Style, at: int = 0) -> Word | None:
    """The first word from `at` on; None where only separators are left. Raises BadWordError."""
    start = at
    if not style.keep_empty:
        start = _skip(text, at, style.separators)
        if start >= len(text):
            return None
    elif start > len(text):
        return None
    return _Reader(text, style, start).read()


def words(text: bytes, style: Style) -> Iterator[Word]:
    """All words, one by one. Raises BadWordError at the first that can't be read."""
    at: int | None = 0
    while at is not None:
        word = first_word(text, style, at)
        if word is None:
            return
        yield word
        at = word.after


def _skip(text: bytes, at: int, among: bytes) -> int:
    while at < len(text) and text[at] in among:
        at += 1
    return at


@cache
def _plain_runs(style: Style) -> dict[int | None, re.Pattern[bytes]]:
    """Letters that mean nothing special: outside quotes (None), and within each kind of them."""
    stops = b"" if style.keep_backslash else b"\\"
    quotes = _QUOTES if style.unquote else b""
    runs: dict[int | None, re.Pattern[bytes]] = {
        quote: re.compile(b"[^" + re.escape(stops) + bytes([quote]) + b"]*") for quote in quotes
    }
    runs[None] = re.compile(b"[^" + re.escape(stops + quotes + style.separators) + b"]*")
    return runs


class _Reader:
    def __init__(self, text: bytes, style: Style, start: int) -> None:
        self._text, self._style, self._start, self._at = text, style, start, start
        self._out = bytearray()
        self._runs = _plain_runs(style)

    def read(self) -> Word:
        quote: int | None = None
        while self._copy(self._runs[quote]):
            char = self._text[self._at]
            if char == 0x5C and not self._style.keep_backslash:
                if not self._escape(quote):
                    return self._word(None)
            elif quote is not None:  # its end
                quote = None
                self._at += 1
            elif char in self._style.separators:
                return self._ended()
            else:
                quote = char
                self._at += 1
        if quote is not None and not self._style.lenient_ends:
            raise BadWordError("an open quote")
        return self._word(None)

    def _copy(self, plain: re.Pattern[bytes]) -> bool:
        """Take all plain letters; whether one that means something follows."""
        match = plain.match(self._text, self._at)
        if match is not None:
            self._out += match[0]
            self._at = match.end()
        return self._at < len(self._text)

    def _escape(self, quote: int | None) -> bool:
        """Read what a backslash begins; False where the text ends with it."""
        self._at += 1
        if self._at >= len(self._text):
            self._end_in_escape(quote)
            return False
        after = self._text[self._at : self._at + 1]
        if not self._style.decode:
            self._out += after
            self._at += 1
            return True
        decoded = unescape(self._text, self._at)
        if decoded is not None:
            self._out += decoded[0]
            self._at = decoded[1]
        elif self._style.lenient_escapes:
            self._out += b"\\" + after
            self._at += 1
        else:
            raise BadWordError(f"\\{after.decode('latin-1')} is no escape")
        return True

    def _end_in_escape(self, quote: int | None) -> None:
        if self._style.lenient_escapes and (quote is None or self._style.lenient_ends):
            self._out += b"\\"
        elif not self._style.lenient_ends:
            raise BadWordError("a lone backslash at the end")

    def _ended(self) -> Word:
        if self._style.keep_empty:
            return self._word(self._at + 1)
        after = _skip(self._text, self._at, self._style.separators)
        return self._word(after if after < len(self._text) else None)

    def _word(self, after: int | None) -> Word:
        return Word(bytes(self._out), self._start, after)


def unescape(text: bytes, at: int) -> tuple[bytes, int] | None:
    """The bytes that the escape behind a backslash stands for, and where it ends; None where it is none.

    NUL can't be written, and an octal number is at most 255.
    """
    letter = _LETTERS.get(text[at : at + 1])
    if letter is not None:
        return letter, at + 1
    match = _CODED.match(text, at)
    if match is None:
        return None
    two, four, eight, octal = match.groups()
    number = int(octal, 8) if octal else int(two or four or eight, 16)
    if number == 0:
        return None
    if two or octal:
        return (bytes([number]), match.end()) if number < 256 else None
    if eight and not is_valid_code_point(number):
        return None
    return chr(number).encode("utf-8", "surrogatepass"), match.end()
