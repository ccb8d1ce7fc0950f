"""The text of ExecStart= and its like, taken apart as systemd does: commands, their marks and words.

Source: systemd.service(5), "Command Lines"; src/core/load-fragment.c (config_parse_exec).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from knowngood.syntax.systemd.specifiers import BadSpecifierError, Expand, UnknownSpecifierError
from knowngood.syntax.systemd.words import BadWordError, Style, Word, first_word

_STRICT = Style(unquote=True, decode=True)
_LENIENT = Style(unquote=True, decode=True, lenient_escapes=True)
_BLANKS = b" \t\n\r"


@dataclass(frozen=True, slots=True)
class RawWord:
    """A word with its specifiers expanded; `unknown` is why that can't be done (`text` is as written then).

    `start` is its offset in the text, in bytes.
    """

    text: str
    start: int
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class RawCommand:
    """`marks` stand before the program; `words` are argv before variables are expanded."""

    marks: str
    program: RawWord
    words: tuple[RawWord, ...]


@dataclass(slots=True)
class ExecText:
    """What systemd takes of one assignment.

    `problem` is why it takes no more than `commands`; `fatal`, that it then gives up the whole file. `odd`
    are the offsets of words with an escape that is none, which stay as they stand.
    """

    commands: list[RawCommand] = field(default_factory=list)
    problem: str = ""
    fatal: bool = False
    odd: list[int] = field(default_factory=list)


def read_commands(text: str, expand: Expand) -> ExecText:
    """Take a command line apart. Never raises."""
    found = ExecText()
    reader = _Reader(text.encode("utf-8", "surrogateescape"), expand, found)
    try:
        while reader.command():
            pass
    except _StopError as stop:
        found.problem, found.fatal = str(stop), stop.fatal
    return found


class _StopError(Exception):
    def __init__(self, problem: str, *, fatal: bool) -> None:
        super().__init__(problem)
        self.fatal = fatal


class _Reader:
    def __init__(self, data: bytes, expand: Expand, found: ExecText) -> None:
        self._data, self._expand, self._found = data, expand, found
        self._at: int | None = 0

    def command(self) -> bool:
        """Read one command; whether another may follow."""
        first = self._first()
        if first is None:
            return False
        if first.text == b";":
            return True
        marks, rest = _marks(first.text.decode("utf-8", "surrogateescape"))
        fatal = "-" not in marks
        program = self._word(rest, first.start, fatal=fatal)
        if not program.unknown:
            _check_program(program.text, fatal=fatal)
        words, more = self._arguments(fatal=fatal)
        if "@" not in marks:
            words.insert(0, program)
        if not words:
            raise _StopError("After @ the word for argv[0] is missing.", fatal=fatal)
        self._found.commands.append(RawCommand(marks, program, tuple(words)))
        return more

    def _first(self) -> Word | None:
        try:
            return self._next()
        except BadWordError as bad:
            raise _StopError(f"There is {bad}.", fatal=False) from None

    def _arguments(self, *, fatal: bool) -> tuple[list[RawWord], bool]:
        words: list[RawWord] = []
        while self._at is not None and self._at < len(self._data):
            if self._lone(b";"):
                return words, True
            start = self._at
            if self._lone(b"\\;"):
                words.append(RawWord(";", start))
                continue
            try:
                word = self._next()
            except BadWordError as bad:
                raise _StopError(f"There is {bad}.", fatal=fatal) from None
            if word is None:
                break
            words.append(self._word(word.text.decode("utf-8", "surrogateescape"), word.start, fatal=fatal))
        return words, False

    def _lone(self, mark: bytes) -> bool:
        """Step over the mark where it is a word of its own."""
        at = self._at or 0
        end = at + len(mark)
        if self._data[at:end] != mark or self._data[end : end + 1] not in (b"", b" ", b"\t", b"\n", b"\r"):
            return False
        while end < len(self._data) and self._data[end] in _BLANKS:
            end += 1
        self._at = end
        return True

    def _next(self) -> Word | None:
        if self._at is None:
            return None
        try:
            word = first_word(self._data, _STRICT, self._at)
        except BadWordError:
            word = first_word(self._data, _LENIENT, self._at)
            self._found.odd.append(self._at)
        self._at = None if word is None else word.after
        return word

    def _word(self, text: str, start: int, *, fatal: bool) -> RawWord:
        try:
            return RawWord(self._expand(text), start)
        except UnknownSpecifierError as unknown:
            return RawWord(text, start, str(unknown))
        except BadSpecifierError as bad:
            raise _StopError(str(bad), fatal=fatal) from None


def _marks(text: str) -> tuple[str, str]:
    """The marks before the program, each at most once (`!!` is one), and the rest."""
    privileges = ""
    for at, char in enumerate(text):
        if char in "-@:" and char not in text[:at]:
            continue
        if (char == "+" and not privileges) or (char == "!" and privileges in ("", "!")):
            privileges += char
            continue
        return text[:at], text[at:]
    return text, ""


def _check_program(path: str, *, fatal: bool) -> None:
    for problem in _problems(path):
        raise _StopError(problem, fatal=fatal)


def _problems(path: str) -> Iterator[str]:
    if not path:
        yield "There is no program."
    elif any(char < " " or char in "\"'\\\x7f" for char in path):
        yield "The program's name holds quotes, backslashes or control characters."
    elif path.endswith("/"):
        yield "The program is a folder."
    elif path.startswith("/"):
        if len(os.fsencode(path)) >= 4096:
            yield "The program's path is too long."
    elif "/" in path or path in (".", "..") or len(os.fsencode(path)) > 255:
        yield "The program is neither a name nor an absolute path."
