"""Measuring and fitting text by the cells it takes on a terminal: 漢 takes two.

All texts here are clean already (report.escape), so every character takes one cell or two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len

_WORD_ENDS = re.compile(r"(?<=[^\W_][_./:=-])(?=[^_./:=-])|(?<=[a-z0-9])(?=[A-Z])")
_FIT = "…"


def width(text: str) -> int:
    """How many cells the text takes."""
    return cell_len(text)


def pad(text: str, cells: int) -> str:
    """The text with blanks after it, up to `cells`."""
    return text + " " * (cells - cell_len(text))


def cut(text: str, cells: int) -> str:
    """The text, its end given up where it is too long."""
    if cell_len(text) <= cells:
        return text
    return _left(text, cells - 1) + _FIT if cells > 0 else ""


def squeeze(text: str, cells: int) -> str:
    """The text, its middle given up where it is too long: whole words if that leaves enough.

    SGLANG_SM120_MMA_TARGET_CTAS in 20 cells is SGLANG_…_TARGET_CTAS: the end of a name tells most.
    """
    if cell_len(text) <= cells:
        return text
    words = _WORD_ENDS.split(text)
    for dropped_to in range(2, len(words)):
        short = words[0] + _FIT + _seam(words[dropped_to - 1]) + "".join(words[dropped_to:])
        if cell_len(short) <= cells:
            return short
    tail = max(cells - 1, 0) // 2
    return (_left(text, cells - 1 - tail) + _FIT + _right(text, tail)) if cells > 0 else ""


def squeeze_alike(texts: Sequence[str], cells: Sequence[int]) -> tuple[list[str], bool]:
    """Texts squeezed into their cells, like ones alike and unlike ones not; False where that can't be."""
    rooms: dict[str, int] = {}
    for text, room in zip(texts, cells, strict=True):
        rooms[text] = min(room, rooms.get(text, room))
    short = [squeeze(text, rooms[text]) for text in texts]
    if _tells_apart(texts, short):
        return short, True
    # They differ in the middle: begin shortly before the first difference.
    start = max(_shared(texts) - 2, 0)
    around = [
        text if cell_len(text) <= rooms[text] else cut(_FIT + text[start:], rooms[text]) for text in texts
    ]
    return (around, True) if _tells_apart(texts, around) else (short, False)


def _tells_apart(texts: Sequence[str], short: Sequence[str]) -> bool:
    meant: dict[str, str] = {}
    return all(meant.setdefault(form, text) == text for text, form in zip(texts, short, strict=True))


def _shared(texts: Sequence[str]) -> int:
    """How many characters all texts that are not empty begin with."""
    told = [text for text in texts if text]
    least, most = min(told), max(told)
    return next(
        (at for at, (one, other) in enumerate(zip(least, most, strict=False)) if one != other), len(least)
    )


def wrap(text: str, cells: int) -> list[str]:
    """The text in lines of at most `cells`, broken at blanks, and inside a word only where it must be."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= cells:
            lines[-1] = joined
        elif cell_len(word) <= cells:
            lines.append(word)
        else:
            lines += _chopped(word, cells)
    return [line for line in lines if line] or [""]


def _chopped(word: str, cells: int) -> list[str]:
    """A word too long for one line, broken after a slash where there is one late enough."""
    lines = []
    while cell_len(word) > cells:
        line = _left(word, cells) or word[0]
        slash = line.rfind("/") + 1
        line = line[:slash] if slash > len(line) // 2 else line
        lines.append(line)
        word = word[len(line) :]
    return [*lines, word]


def _seam(word: str) -> str:
    """The separator that a dropped word ends with, kept to show that words are missing."""
    return word[-1] if word and word[-1] in "_./:=-" else ""


def _left(text: str, cells: int) -> str:
    kept = text[: max(cells, 0)]
    while cell_len(kept) > cells:
        kept = kept[:-1]
    return kept


def _right(text: str, cells: int) -> str:
    kept = text[-cells:] if cells > 0 else ""
    while cell_len(kept) > cells:
        kept = kept[1:]
    return kept
