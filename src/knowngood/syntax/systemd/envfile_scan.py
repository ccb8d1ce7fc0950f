"""The characters of an environment file, as systemd's reader goes through them (src/basic/env-file.c)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = re.compile(rb"[ \t]*")
_GAP = re.compile(rb"[ \t\r\n]*")
_NAME = re.compile(rb"[^\n\r][^=\n\r]*")
_COMMENT = re.compile(rb"[^\n\r]*")
_COMMENT_ON = re.compile(rb"(?:[^\\\n\r]|\\.)*\\?", re.DOTALL)
_PLAIN = re.compile(rb"[^ \t\n\r\\]+")
_IN_DOUBLE = re.compile(rb'[^"\\]*')


@dataclass(frozen=True, slots=True)
class Raw:
    """One line that is no comment. `unquoted` and `expandable` are the parts of it, as written, that stand in
    no quotes, or in none but double ones."""

    name: bytes
    value: bytes
    line: int
    equals: bool = True
    unquoted: bytes = b""
    expandable: bytes = b""


def assignments(data: bytes, *, comments_go_on: bool) -> Iterator[Raw]:
    """All assignments, and the lines that are none. `comments_go_on`: a backslash continues a comment."""
    comment = _COMMENT_ON if comments_go_on else _COMMENT
    lines = _LineCounter(data)
    at = _end(_GAP, data, 0)
    while at < len(data):
        if data[at] in b"#;":
            at = _end(comment, data, at + 1)
        else:
            line = lines.at(at)
            start, at = at, _end(_NAME, data, at)
            name = data[start:at].rstrip(b" \t")
            if data[at : at + 1] == b"=":
                value = _Value(data, at + 1)
                at = value.read()
                yield Raw(name, bytes(value.out), line, True, bytes(value.unquoted), bytes(value.expandable))
            else:
                yield Raw(name, b"", line, equals=False)
        at = _end(_GAP, data, at)


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    return at if match is None else match.end()


class _LineCounter:
    """Line numbers of offsets that only grow."""

    def __init__(self, data: bytes) -> None:
        self._data, self._seen, self._line = data, 0, 1

    def at(self, offset: int) -> int:
        self._line += self._data.count(b"\n", self._seen, offset)
        self._seen = offset
        return self._line


class _Value:
    """A value: quoted parts first, blanks between them dropped; then all that is left of the line."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self.out = bytearray()
        self.unquoted = bytearray()
        self.expandable = bytearray()

    def read(self) -> int:
        """Read to the end of the value; the offset of its line end, or of the data's."""
        while True:
            self._at = _end(_BLANK, self._data, self._at)
            char = self._data[self._at : self._at + 1]
            if char == b"'":
                self._single()
            elif char == b'"':
                self._double()
            elif char in (b"", b"\n", b"\r"):
                return self._at
            else:
                return self._plain()

    def _single(self) -> None:
        end = self._data.find(b"'", self._at + 1)
        end = len(self._data) if end < 0 else end
        self.out += self._data[self._at + 1 : end]
        self._at = min(end + 1, len(self._data))

    def _double(self) -> None:
        data, start = self._data, self._at
        at = start + 1
        while at < len(data):
            end = _end(_IN_DOUBLE, data, at)
            self.out += data[at:end]
            at = end + 1
            if data[end : end + 1] != b"\\":
                break
            after = data[at : at + 1]
            if after not in (b'"', b"\\", b"`", b"$", b"\n", b""):
                self.out += b"\\"
            if after != b"\n":
                self.out += after
            at += 1
        self._at = min(at, len(data))
        self.expandable += data[start : self._at]

    def _plain(self) -> int:
        data, start = self._data, self._at
        keep = len(self.out)  # what is behind this is blanks, and dropped where the line ends
        while self._at < len(data):
            char = data[self._at]
            if char == 0x5C:
                after = data[self._at + 1 : self._at + 2]
                if after not in (b"\n", b"\r"):
                    self.out += after
                keep = len(self.out)
                self._at = min(self._at + 2, len(data))
            elif char in b"\n\r":
                break
            elif char in b" \t":
                self.out.append(char)
                self._at += 1
            else:
                end = _end(_PLAIN, data, self._at)
                self.out += data[self._at : end]
                keep = len(self.out)
                self._at = end
        del self.out[keep:]
        self.unquoted += data[start : self._at]
        self.expandable += data[start : self._at]
        return self._at
