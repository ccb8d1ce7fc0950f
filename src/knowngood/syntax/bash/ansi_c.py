r"""`$'…'`: bash's escapes (bash(1), QUOTING), as bytes held in Latin-1 text."""

from __future__ import annotations

import re

_SIMPLE = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<u>[0-9a-fA-F]{1,4})|U(?P<U>[0-9a-fA-F]{1,8})"
    r"|c(?P<control>.)|(?P<simple>.))",
    re.DOTALL,
)


def decode_ansi_c(text: str) -> str | None:
    r"""The text between `$'` and `'`, decoded; None where the outcome depends on the locale or holds a NUL.

    A NUL ends the string in bash; `\uHHHH` above ASCII is encoded as the locale has it.
    """
    decoded: list[str] = []
    at = 0
    for found in _ESCAPE.finditer(text):
        decoded.append(text[at : found.start()])
        at = found.end()
        char = _one(found)
        if char is None or char == "\0":
            return None
        decoded.append(char)
    return "".join(decoded) + text[at:]


def _one(found: re.Match[str]) -> str | None:
    if found["octal"]:
        return chr(int(found["octal"], 8) & 0xFF)
    if found["hex"]:
        return chr(int(found["hex"], 16))
    if point := found["u"] or found["U"]:
        return chr(int(point, 16)) if int(point, 16) < 0x80 else None
    if found["control"]:
        return chr(ord(found["control"]) & 0x1F) if found["control"].isalpha() else None
    return _SIMPLE.get(found["simple"], "\\" + found["simple"])
