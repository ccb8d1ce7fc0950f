"""Text from nodes, manifests and inventories, made fit to be shown: nothing in it can steer a terminal.

Whatever takes no room of its own or looks like something else is written out: control characters and
escape sequences, direction overrides, zero-width and combining characters, odd blanks, and the lone
surrogates that stand for bytes that are no UTF-8 (PEP 383).
"""

from __future__ import annotations

import unicodedata

LIMIT = 200  # characters

_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
# Letters and symbols by Unicode's book, and blank on every screen.
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_COMBINING = ("Mn", "Me")


def clean(text: str, limit: int = LIMIT) -> str:
    """The text on one line, hidden characters as visible escapes, in `limit` characters at most.

    What is too long loses its middle, and shows … there.
    """
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    if len(text) <= limit:
        pieces = [_piece(letter) for letter in text]
        if sum(map(len, pieces)) <= limit:
            return "".join(pieces)
    room = max(limit - 1, 0)
    tail = room // 2
    head = room - tail
    return _head(text[:head], head) + "…" + _tail(text[len(text) - tail :], tail)


def _piece(letter: str) -> str:
    if letter.isprintable() and letter not in _BLANK and unicodedata.category(letter) not in _COMBINING:
        return letter
    if letter in _SHORT:
        return _SHORT[letter]
    number = ord(letter)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _head(text: str, room: int) -> str:
    kept = ""
    for letter in text:
        piece = _piece(letter)
        if len(kept) + len(piece) > room:
            break
        kept += piece
    return kept


def _tail(text: str, room: int) -> str:
    kept = ""
    for letter in reversed(text):
        piece = _piece(letter)
        if len(kept) + len(piece) > room:
            break
        kept = piece + kept
    return kept
