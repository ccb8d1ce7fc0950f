"""The text of a manifest, and the places in it."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from knowngood.manifest.diagnostic import Diagnostic
from knowngood.model import Place


class Source:
    """A manifest's text under its path, which is relative to the project. Offsets count characters."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text

    @cached_property
    def _line_starts(self) -> list[int]:
        # Counted here and not taken from YAML's marks: YAML breaks lines at characters that editors don't.
        starts = [0]
        while newline := self.text.find("\n", starts[-1]) + 1:
            starts.append(newline)
        return starts

    def place(self, offset: int) -> Place:
        """Line and column of an offset."""
        line = bisect_right(self._line_starts, offset)
        return Place(self.path, line, offset - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """A line by its number, without its end."""
        start = self._line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None].rstrip("\r")

    def diagnostic(self, offset: int, message: str, hint: str = "") -> Diagnostic:
        """A mistake at an offset."""
        place = self.place(offset)
        return Diagnostic(self.path, place.line, place.column, message, self.line(place.line), hint)
