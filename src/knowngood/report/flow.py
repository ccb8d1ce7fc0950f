"""Small pieces of a sentence, joined by dots and broken between pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from knowngood.report.cells import cut, width
from knowngood.report.paint import Span

_DOT = " · "
_INDENT = 2  # of the lines after the first


def flow(pieces: Sequence[Span], screen: int) -> Iterator[list[Span]]:
    """The pieces in as few lines of at most `screen` cells as it takes."""
    line: list[Span] = []
    used = 0
    for text, style in pieces:
        short = cut(text, screen - _INDENT)
        if line and used + len(_DOT) + width(short) > screen:
            yield line
            line, used = [(" " * _INDENT, "")], _INDENT
        elif line:
            line.append((_DOT, "quiet"))
            used += len(_DOT)
        line.append((short, style))
        used += width(short)
    yield line


def counted(count: int, noun: str) -> str:
    """1 node, 2 nodes."""
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"
