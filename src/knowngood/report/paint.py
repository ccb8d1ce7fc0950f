"""Few styles, each with a meaning; whatever a colour tells, a letter, a star or a word tells too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

# ECMA-48 SGR parameters: of the eight basic colours, as the user's terminal theme has them.
STYLES = {"": "", "strong": "1", "quiet": "2", "good": "32", "bad": "31", "changed": "33", "doubt": "35"}

Span: TypeAlias = tuple[str, str]  # text, and the name of its style
Paint: TypeAlias = Callable[[Sequence[Span]], str]


def plain(spans: Sequence[Span]) -> str:
    """A line without colour."""
    return "".join(text for text, _ in spans).rstrip(" ")


def colored(spans: Sequence[Span]) -> str:
    """A line in colour. Blanks at its end are dropped, and blanks around a text stay unpainted."""
    line = [*spans]
    while line and not line[-1][0].rstrip(" "):
        line.pop()
    if line:
        line[-1] = (line[-1][0].rstrip(" "), line[-1][1])
    return "".join(_one(text, STYLES[style]) for text, style in line)


def _one(text: str, code: str) -> str:
    bare = text.strip(" ")
    if not code or not bare:
        return text
    before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
    return f"{before}\x1b[{code}m{bare}\x1b[0m{after}"
