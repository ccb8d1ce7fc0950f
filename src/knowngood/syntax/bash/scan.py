"""Words, character by character, as bash's own reader takes them apart (bash(1), QUOTING and EXPANSION)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from knowngood.syntax.bash.ansi_c import decode_ansi_c
from knowngood.syntax.bash.nodes import (
    ArithmeticValue,
    CommandOutput,
    Literal,
    Parameter,
    Part,
    ProcessFile,
    Sequence,
    Word,
)

BLANK = " \t"
META = " \t\n|&;()<>"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPECIAL_NAME = "@*#?-$!0123456789_"
_PLAIN = re.compile(r"[^ \t\n|&;()<>\\'\"$`?*+@!]+")
_QUOTED_RUN = re.compile(r'[^\\$`"]+')
_SPECIAL = re.compile(r"\d+|[@*#?\-$!]")
_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##?|%%?|//|/|\^\^?|,,?|@[A-Za-z]|:|[*@](?=\})")
_DEEPEST = 60


class BadSyntax(Exception):
    """The text is no bash from here on, or no bash that this reader understands."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


class Scanner:
    """A position in a text, and the reading of words from it. The grammar builds on it."""

    def __init__(self, text: str, *, first_line: int = 1, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.extglob = False
        self.depth = depth
        self.substitutions = 0  # how deep in $(…) this is
        self.count = 0
        self._first_line = first_line
        self._newlines: list[int] | None = None

    def line(self, at: int | None = None) -> int:
        if self._newlines is None:
            self._newlines = [found.start() for found in re.finditer("\n", self.text)]
        return self._first_line + bisect_right(self._newlines, (self.at if at is None else at) - 1)

    def peek(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def looking_at(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def fail(self, message: str, at: int | None = None) -> BadSyntax:
        return BadSyntax(self.line(at), message)

    def nested(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.fail("nested too deeply to be read")

    def commands_until(self, closer: str) -> Sequence:
        """The grammar's part: commands up to and with the closing character."""
        raise NotImplementedError

    # --- words --------------------------------------------------------------------------------------

    def word(self, stops: str = META) -> Word:
        """A word from here to the next unquoted stop; it may be empty."""
        start, line = self.at, self.line()
        parts = self._parts(lambda: self.peek() in stops and not self.process_file_here(), stops)
        return Word(tuple(parts), start, self.at, line)

    def _parts(self, ended: Callable[[], bool], stops: str) -> list[Part]:
        parts: list[Part] = []
        while self.at < len(self.text) and not ended():
            char = self.peek()
            if char == "\\":
                self._escape(parts)
            elif char == "'":
                parts.append(Literal(self._single_quoted(), True))
            elif char == '"':
                parts += self._double_quoted()
            elif char == "$":
                self._dollar(parts, quoted=False)
            elif char == "`":
                parts.append(self._backquoted(quoted=False))
            elif self.process_file_here():
                parts.append(self._process_file())
            elif self.extglob and char in "?*+@!" and self.peek(1) == "(":
                _add(parts, self._extended_glob(), False)
            else:
                found = _PLAIN.match(self.text, self.at)
                run = found.group() if found else char
                cut = min((run.index(stop) for stop in stops if stop in run), default=len(run)) or 1
                _add(parts, run[:cut], False)
                self.at += cut
        return parts

    def _escape(self, parts: list[Part]) -> None:
        following = self.peek(1)
        self.at += 2
        if following and following != "\n":
            _add(parts, following, True)

    def _single_quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise self.fail("a quote ' is never closed")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def _double_quoted(self) -> list[Part]:
        opened = self.at
        self.at += 1
        parts: list[Part] = [Literal("", True)]
        while self.peek() != '"':
            if self.at >= len(self.text):
                raise self.fail('a quote " is never closed', opened)
            self.quoted_part(parts, escapable='$`"\\')
        self.at += 1
        return [part for part in parts if part != Literal("", True)] or [Literal("", True)]

    def quoted_part(self, parts: list[Part], *, escapable: str) -> None:
        """One step inside double quotes, a here-document or arithmetic."""
        char = self.peek()
        if char == "\\":
            following = self.peek(1)
            self.at += 2
            if following == "\n":
                return
            _add(parts, following if following and following in escapable else "\\" + following, True)
        elif char == "$":
            self._dollar(parts, quoted=True)
        elif char == "`":
            parts.append(self._backquoted(quoted=True))
        else:
            found = _QUOTED_RUN.match(self.text, self.at)
            run = found.group() if found else char
            _add(parts, run, True)
            self.at += len(run)

    def quoted_word(self, text: str, line: int, *, escapable: str = "$`\\") -> Word:
        """The text read as if between double quotes, a `"` in it being an ordinary character."""
        inner = self.inner(text, line)
        parts: list[Part] = []
        while inner.at < len(text):
            inner.quoted_part(parts, escapable=escapable)
        return Word(tuple(parts), 0, 0, line)

    def inner(self, text: str, line: int) -> Scanner:
        """A reader of a part of the text, by itself."""
        scanner = type(self)(text, first_line=line, depth=self.depth)
        scanner.substitutions = 1
        scanner.extglob = self.extglob
        scanner.nested()
        return scanner

    def _extended_glob(self) -> str:
        start = self.at
        self.at += 2
        depth = 1
        while depth:
            char = self.peek()
            if not char:
                raise self.fail("a pattern's ( is never closed", start)
            if char in "\\'\"$`":
                raise self.fail("a pattern list with quotes or expansions in it is not understood")
            depth += {"(": 1, ")": -1}.get(char, 0)
            self.at += 1
        return self.text[start : self.at]

    def process_file_here(self) -> bool:
        """Whether `<(` or `>(` stands here."""
        return self.peek() in ("<", ">") and self.peek(1) == "("

    def _process_file(self) -> ProcessFile:
        line = self.line()
        self.at += 2
        body = self._substituted()
        return ProcessFile(line, body)

    def _substituted(self) -> Sequence:
        """The commands in parentheses, from after the opening one."""
        self.nested()
        self.substitutions += 1
        body = self.commands_until(")")
        self.substitutions -= 1
        self.depth -= 1
        return body

    # --- expansions ---------------------------------------------------------------------------------

    def _dollar(self, parts: list[Part], *, quoted: bool) -> None:
        following = self.peek(1)
        line = self.line()
        name = NAME.match(self.text, self.at + 1)
        if following == "{":
            parts.append(self._braced(quoted=quoted))
        elif self.looking_at("$((") and (end := self.closing_parentheses(self.at + 3)) is not None:
            expression = self.text[self.at + 3 : end]
            self.at = end + 2
            word = self.quoted_word(expression, line, escapable='$`"\\')
            parts.append(ArithmeticValue(quoted, line, word))
        elif following == "(":
            start = self.at
            self.at += 2
            body = self._substituted()
            parts.append(CommandOutput(quoted, line, self.text[start : self.at], body))
        elif following == "[":
            raise self.fail("$[…] is not understood")
        elif following == "'" and not quoted:
            self._ansi_c(parts)
        elif following == '"' and not quoted:
            self.at += 1
        elif name:
            self.at = name.end()
            parts.append(Parameter(name.group(), quoted, line))
        elif following and following in _SPECIAL_NAME:
            self.at += 2
            parts.append(Parameter(following, quoted, line))
        elif following == "\\" and self.peek(2) == "\n":
            raise self.fail("a line continued right after $ is not understood")
        else:
            self.at += 1
            _add(parts, "$", quoted)

    def _ansi_c(self, parts: list[Part]) -> None:
        end = self.at + 2
        while (char := self.text[end : end + 1]) != "'":
            if not char:
                raise self.fail("a quote $' is never closed")
            end += 2 if char == "\\" else 1
        decoded = decode_ansi_c(self.text[self.at + 2 : end])
        if decoded is None:
            raise self.fail("an escape in $'…' that depends on the locale")
        self.at = end + 1
        parts.append(Literal(decoded, True))

    def _backquoted(self, *, quoted: bool) -> CommandOutput:
        start, line = self.at, self.line()
        end = start + 1
        while (char := self.text[end : end + 1]) != "`":
            if not char:
                raise self.fail("a backquote is never closed")
            end += 2 if char == "\\" else 1
        self.at = end + 1
        return CommandOutput(quoted, line, self.text[start : self.at])

    def closing_parentheses(self, at: int) -> int | None:
        """Where the `))` stands that closes arithmetic begun before `at`; None when it is no arithmetic."""
        depth = 0
        while at < len(self.text):
            char = self.text[at]
            if char == "\\":
                at += 1
            elif char in "'\"":
                closed = self.text.find(char, at + 1)
                if closed < 0:
                    return None
                at = closed
            elif char == "(":
                depth += 1
            elif char == ")" and depth:
                depth -= 1
            elif char == ")":
                return at if self.text.startswith("))", at) else None
            at += 1
        return None

    def _braced(self, *, quoted: bool) -> Parameter:
        start, line = self.at, self.line()
        self.nested()
        self.at += 2
        before = ""
        if self.peek() in ("#", "!") and self.peek(1) not in ("}", ""):
            ahead = self.peek(1)
            if NAME.match(ahead) or ahead in _SPECIAL_NAME.replace("-", "").replace("?", ""):
                before = self.peek()
                self.at += 1
        found = NAME.match(self.text, self.at) or _SPECIAL.match(self.text, self.at)
        if not found:
            raise self.fail("bad substitution", start)
        name = found.group()
        self.at = found.end()
        index = self._index() if self.peek() == "[" else None
        operator, argument, argument2 = self._operator(quoted)
        if self.peek() != "}":
            raise self.fail("bad substitution", start)
        self.at += 1
        self.depth -= 1
        return Parameter(name, quoted, line, before, index, operator, argument, argument2)

    def _index(self) -> str:
        start = self.at
        depth = 0
        while True:
            char = self.peek()
            if not char or char == "\n":
                raise self.fail("bad array index", start)
            depth += {"[": 1, "]": -1}.get(char, 0)
            self.at += 1
            if not depth:
                return self.text[start + 1 : self.at - 1]

    def _operator(self, quoted: bool) -> tuple[str, Word | None, Word | None]:
        if self.peek() == "}":
            return "", None, None
        found = _OPERATOR.match(self.text, self.at)
        if not found:
            raise self.fail("bad substitution")
        operator = found.group()
        self.at = found.end()
        if operator == "/" and self.peek() in ("#", "%"):
            operator += self.peek()
            self.at += 1
        if operator in ("@", "*") or operator.startswith("@"):
            return operator, None, None
        like_quoted = (quoted and operator.lstrip(":") in ("-", "=", "?", "+")) or operator == ":"
        if operator[0] == "/":
            argument = self._brace_word("/}", like_quoted=False)
            if self.peek() != "/":
                return operator, argument, None
            self.at += 1
            return operator, argument, self._brace_word("}", like_quoted=quoted)
        if operator == ":":
            argument = self._brace_word(":}", like_quoted=True)
            if self.peek() != ":":
                return operator, argument, None
            self.at += 1
            return operator, argument, self._brace_word("}", like_quoted=True)
        return operator, self._brace_word("}", like_quoted=like_quoted), None

    def _brace_word(self, stops: str, *, like_quoted: bool) -> Word:
        """An operator's word. Between double quotes the word of `:-` and its like knows no single quotes."""
        start, line = self.at, self.line()
        if not like_quoted:
            return self.word(stops)
        parts: list[Part] = []
        while self.peek() not in stops:
            if self.peek() == '"':
                parts += self._double_quoted()
            elif self.peek() == "'":
                _add(parts, "'", True)
                self.at += 1
            elif self.peek() not in "\\$`":
                _add(parts, self.peek(), True)
                self.at += 1
            else:
                self.quoted_part(parts, escapable='$`"\\}')
        if self.at >= len(self.text):
            raise self.fail("${ is never closed", start)
        return Word(tuple(parts), start, self.at, line)


def _add(parts: list[Part], text: str, quoted: bool) -> None:
    last = parts[-1] if parts else None
    if isinstance(last, Literal) and last.quoted is quoted:
        parts[-1] = Literal(last.text + text, quoted)
    else:
        parts.append(Literal(text, quoted))
