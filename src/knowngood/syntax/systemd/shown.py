"""Words as `systemctl show` prints lists of them: bare, or in double quotes with backslashes.

Source: src/basic/escape.c, shell_maybe_quote(): within quotes `"`, `\\`, `` ` `` and `$` have a backslash
before them, control characters are C escapes, bytes that are no UTF-8 octal ones.
"""

from __future__ import annotations

import re

_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|([^ ]+)', re.DOTALL)
_ESCAPE = re.compile(rb"\\(?:([abfnrtv])|([0-7]{3})|x([0-9a-f]{2})|(.))", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def shown_words(text: str) -> list[str]:
    """The words. Bytes that are no UTF-8 come as surrogates (PEP 383)."""
    return [_unescaped(match[1]) if match[2] is None else match[2] for match in _WORD.finditer(text)]


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    data = _ESCAPE.sub(_value, text.encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")


def _value(match: re.Match[bytes]) -> bytes:
    letter, octal, hexadecimal, other = match.groups()
    if letter:
        return _LETTERS[letter]
    if octal or hexadecimal:
        return bytes([int(octal, 8) & 0xFF if octal else int(hexadecimal, 16)])
    return other or b""
