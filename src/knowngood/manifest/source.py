"""The text of a manifest, and the places in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from knowngood.manifest.diagnostic import Diagnostic
from knowngood.model import Place
from knowngood.syntax.secrets import MASK, looks_secret

_FAR = 200  # lines that a value may have before we stop looking for its key
# A name before its value: in YAML, or as in --api-key=VALUE.
_KEY = re.compile(r"""([\w.-]+)["']?\s*[:=]\s*""")
# Values that hold no secret: one that names where it is, or a value that begins only in the next line.
_NAMES_IT = re.compile(r"\{\s*(secret|absent|unmanaged)\s*:|env:[A-Za-z_]")
_BELOW = re.compile(r"[|>][-+0-9]*\s*$|#|$")


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
        """A line by its number, without its end, and without what may be a secret."""
        line = self._raw_line(number)
        return MASK if self._goes_on_with_secret(number) else _masked(line)

    def _raw_line(self, number: int) -> str:
        start = self._line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None].rstrip("\r")

    def _goes_on_with_secret(self, number: int) -> bool:
        """Whether a line without a key goes on with the value of a secret-looking name above it."""
        for above in range(number, max(0, number - _FAR), -1):
            line = self._raw_line(above)
            if keys := list(_KEY.finditer(line)):
                return (
                    above < number and looks_secret(keys[-1][1]) and not _NAMES_IT.match(line, keys[-1].end())
                )
        return False

    def diagnostic(self, offset: int, message: str, hint: str = "") -> Diagnostic:
        """A mistake at an offset."""
        place = self.place(offset)
        return Diagnostic(self.path, place.line, place.column, message, self.line(place.line), hint)


def _masked(line: str) -> str:
    """The line up to the value of a secret-looking name."""
    for key in _KEY.finditer(line):
        value = key.end()
        if looks_secret(key[1]) and not _NAMES_IT.match(line, value) and not _BELOW.match(line, value):
            return line[:value] + MASK
    return line
