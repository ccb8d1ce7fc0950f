"""Mistakes in a manifest as data: where, what, the line itself, and what was likely meant."""

from __future__ import annotations

from dataclasses import dataclass
from unicodedata import combining, east_asian_width

_WIDEST_LINE = 160  # characters of a source line that are shown


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake. `path` is relative to the project; `line` and `column` count from 1, in characters.

    `source` is the line of the file, secrets masked, "" where there is none to show. `hint` says what may
    be meant.
    """

    path: str
    line: int
    column: int
    message: str
    source: str = ""
    hint: str = ""

    def render(self) -> str:
        """`path:line:col: message`, the source line, and a caret under the place. No newline at the end."""
        hint = f" ({self.hint})" if self.hint else ""
        head = printable(f"{self.path}:{self.line}:{self.column}: {self.message}{hint}")
        if not self.source.strip():
            return head
        line, column = _cropped(self.source, self.column)
        before = printable(line[: column - 1])
        return f"{head}\n    {printable(line)}\n    {' ' * _width(before)}^"


class ManifestError(Exception):
    """What is wrong with a manifest, or with it and one host's data together."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__("\n".join(diagnostic.render() for diagnostic in diagnostics))
        self.diagnostics = diagnostics


def printable(text: str) -> str:
    """The text with tabs as spaces, and all else that would move a cursor or colour a screen escaped."""
    return "".join(
        c if c.isprintable() else " " if c == "\t" else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def shown_key(key: str) -> str:
    """A key as messages name it: what follows a '=' in one may be a secret, as in --api-key=…"""
    name, equals, _ = key.partition("=")
    return f"{name}=…" if equals else key


def _width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _cropped(line: str, column: int) -> tuple[str, int]:
    """At most _WIDEST_LINE characters of the line around a column, and the column within them."""
    if len(line) <= _WIDEST_LINE:
        return line, min(column, len(line) + 1)
    first = max(0, min(column - 1 - _WIDEST_LINE // 2, len(line) - _WIDEST_LINE))
    return line[first : first + _WIDEST_LINE], min(column - first, _WIDEST_LINE + 1)
