"""A unit file's text as assignments: lines, comments, continuations, sections.

Source: systemd.syntax(7); src/shared/conf-parser.c and src/basic/fileio.c (read_line) of systemd 245 to 257.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from knowngood.syntax.systemd.lint import LARGEST, MOST_REMARKS, Lint
from knowngood.syntax.systemd.utf8 import is_valid

# Line ends: any of \n, \r, \n\r, \r\n, each with a NUL behind it; and NUL itself.
_LINE_END = re.compile(rb"(?:\n\r?|\r\n?)\0?|\0")
_BLANKS = b" \t\n\r"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Assignment:
    """`Directive=text` of one section; `text` is trimmed, continued lines joined.

    `marks` are the offsets in `text` at which its further lines begin, with their numbers.
    """

    section: str
    directive: str
    text: str
    path: str
    line: int
    marks: tuple[tuple[int, int], ...] = ()

    def line_at(self, offset: int) -> int:
        """The line that the byte at this offset of the text stands on."""
        index = bisect_right(self.marks, offset, key=lambda mark: mark[0])
        return self.marks[index - 1][1] if index else self.line


@dataclass(frozen=True, slots=True)
class UnitText:
    """All that one file says: assignments, and section headers with their lines.

    `refused` is why systemd reads no further than `assignments`; `unread`, why we did not read the file.
    """

    path: str
    assignments: tuple[Assignment, ...]
    sections: tuple[tuple[str, int], ...]
    lint: tuple[Lint, ...]
    refused: Lint | None = None
    unread: Lint | None = None


class _RefusedError(Exception):
    def __init__(self, lint: Lint) -> None:
        self.lint = lint


@dataclass(slots=True)
class _Joined:
    """Lines joined by backslashes, and where each of them begins."""

    text: bytearray
    starts: list[tuple[int, int]]


def read_text(path: str, data: bytes) -> UnitText:
    """Split a unit file or drop-in. Any bytes are taken; what systemd ignores or refuses is told."""
    if len(data) > LARGEST:
        unread = Lint(0, "too-large", "The file is larger than a unit would be: it was not read.", path)
        return UnitText(path, (), (), (unread,), unread=unread)
    reader = _Reader(path)
    refused = None
    try:
        reader.read(data)
    except _RefusedError as stop:
        refused = stop.lint
        reader.lint.append(stop.lint)
    if b"\r\n" in data:
        message = "The lines end as on Windows: systemd takes that, a shell or another program may not."
        reader.lint.append(Lint(1 + data.count(b"\n", 0, data.index(b"\r\n")), "crlf", message, path))
    return UnitText(path, tuple(reader.assignments), tuple(reader.sections), tuple(reader.lint), refused)


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.assignments: list[Assignment] = []
        self.sections: list[tuple[str, int]] = []
        self.lint: list[Lint] = []
        self._section: str | None = None
        self._bom_seen = False

    def read(self, data: bytes) -> None:
        joined: _Joined | None = None
        for number, line in enumerate(_lines(data), 1):
            if line.lstrip(_BLANKS)[:1] in (b"#", b";"):
                continue
            joined = self._append(joined, self._without_bom(line), number)
            if _is_continued(joined.text):
                joined.text[-1:] = b" "
            else:
                self._logical(joined)
                joined = None
        if joined is not None:
            self._logical(joined)

    def _append(self, joined: _Joined | None, line: bytes, number: int) -> _Joined:
        if joined is None:
            return _Joined(bytearray(line), [(0, number)])
        joined.starts.append((len(joined.text), number))
        joined.text += line
        return joined

    def _without_bom(self, line: bytes) -> bytes:
        if self._bom_seen or not line.startswith(_BOM):
            return line
        self._bom_seen = True
        return line[len(_BOM) :]

    def _logical(self, joined: _Joined) -> None:
        text = bytes(joined.text)
        stripped = text.strip(_BLANKS)
        number = joined.starts[0][1]
        if not stripped:
            return
        if not is_valid(stripped):
            raise _RefusedError(
                self._remark(number, "not-utf8", "systemd reads a unit no further than here: not UTF-8.")
            )
        if stripped.startswith(b"["):
            self._header(stripped.decode(), number)
        elif self._section is None:
            self._remark(number, "no-section", "There is no [Section] above: systemd ignores this line.")
        else:
            self._assignment(self._section, text, joined.starts)

    def _header(self, text: str, number: int) -> None:
        name = text[1:-1]
        if not text.endswith("]") or not _is_safe(name):
            raise _RefusedError(
                self._remark(
                    number, "bad-section", "systemd reads a unit no further than here: no [Section]."
                )
            )
        self._section = name
        self.sections.append((name, number))

    def _assignment(self, section: str, text: bytes, starts: list[tuple[int, int]]) -> None:
        number = starts[0][1]
        name, equals, value = text.partition(b"=")
        if not equals or not name.strip(_BLANKS):
            what = "=" if not equals else "name before the ="
            self._remark(number, "no-assignment", f"There is no {what}: systemd ignores this line.")
            return
        offset = len(name) + 1 + len(value) - len(value.lstrip(_BLANKS))
        marks = tuple((max(0, start - offset), line) for start, line in starts[1:])
        self.assignments.append(
            Assignment(
                section, name.strip(_BLANKS).decode(), value.strip(_BLANKS).decode(), self.path, number, marks
            )
        )

    def _remark(self, line: int, code: str, message: str) -> Lint:
        lint = Lint(line, code, message, self.path)
        if code not in _STOPS and len(self.lint) < MOST_REMARKS:
            self.lint.append(lint)
        return lint


_STOPS = ("not-utf8", "bad-section")


def _lines(data: bytes) -> list[bytes]:
    lines = _LINE_END.split(data)
    if not lines[-1]:
        lines.pop()  # what follows the last line end is no line
    return lines


def _is_continued(text: bytearray) -> bool:
    """Whether an odd number of backslashes stands at the end."""
    at = len(text)
    while at and text[at - 1] == 0x5C:
        at -= 1
    return (len(text) - at) % 2 == 1


def _is_safe(name: str) -> bool:
    """No control characters, quotes or backslashes (systemd's string_is_safe)."""
    return not any(char < " " or char == "\x7f" or char in "\"'\\" for char in name)
