"""Simple commands: prefix assignments, words, redirections and here-documents."""

from __future__ import annotations

import re

from knowngood.syntax.bash.nodes import (
    Assignment,
    Element,
    HereDocument,
    Literal,
    Redirection,
    Simple,
    Word,
)
from knowngood.syntax.bash.scan import META, Scanner

_DECLARATIONS = frozenset(["export", "declare", "typeset", "local", "readonly"])
_CONTINUED = re.compile(r"(?:^|[^\\])(?:\\\\)*\\$")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_MOST_COMMANDS = 10_000
_MOST_WORDS = 10_000
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[)?")
_REDIRECTION = re.compile(r"(\d+|\{[A-Za-z_]\w*\})?(&>>|&>|<<<|<<-|<<|<&|<>|>>|>&|>\||<(?!\()|>(?!\())")


class SimpleParser(Scanner):
    """What stands between two operators."""

    def __init__(self, text: str, *, first_line: int = 1, depth: int = 0) -> None:
        super().__init__(text, first_line=first_line, depth=depth)
        self._documents: list[tuple[HereDocument, str, bool]] = []
        self.simple_commands: list[tuple[Simple, bool]] = []
        self.functions = 0  # how deep in functions this is

    # --- blanks and lines ---------------------------------------------------------------------------

    def skip_blanks(self) -> bool:
        """Over blanks, continued lines and a comment. Always False, so that a loop can begin with it."""
        while True:
            char = self.text[self.at : self.at + 1]
            if char and char in " \t\\" and (found := _BLANKS.match(self.text, self.at)):
                self.at = found.end()
                char = self.text[self.at : self.at + 1]
            if char != "#":
                return False
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def skip_newlines(self) -> None:
        self.skip_blanks()
        while self.peek() == "\n":
            self.newline()
            self.skip_blanks()

    def newline(self) -> None:
        """Over the end of the line, and the here-documents that begin after it."""
        self.at += 1
        documents, self._documents = self._documents, []
        for document, delimiter, strip in documents:
            self._read_document(document, delimiter, strip)

    def _read_document(self, document: HereDocument, delimiter: str, strip: bool) -> None:
        line = self.line()
        start = self.at
        lines: list[str] = []
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            text = self.text[self.at : end]
            self.at = min(end + 1, len(self.text))
            text = text.lstrip("\t") if strip else text
            if text == delimiter:
                break
            if not document.quoted and _CONTINUED.search(text) and self.text.startswith(delimiter, self.at):
                # The body's own reader joins lines; here the joined line could swallow the delimiter.
                raise self.fail("a here-document whose last line is continued is not understood")
            lines.append(text + "\n")
        body = "".join(lines)
        if document.quoted:
            document.body = Word((Literal(body, True),), start, self.at, line)
        else:
            document.body = self.quoted_word(body, line)

    def expect(self, closer: str) -> None:
        self.skip_blanks()
        if self.peek() != closer:
            raise self.fail(f"a {closer} is missing")
        self.at += 1

    def some_word(self) -> Word:
        start = self.at
        word = self.word()
        if self.at == start:
            raise self.fail("a word is missing")
        return word

    # --- commands -----------------------------------------------------------------------------------

    def simple(self) -> Simple:
        start, line = self.at, self.line()
        assignments: list[Assignment] = []
        words: list[Word | Assignment] = []
        redirections: list[Redirection] = []
        declares = False
        end = start
        while True:
            self.skip_blanks()
            redirection = self.redirection()
            if redirection is not None:
                redirections.append(redirection)
            elif not self.peek() or (self.peek() in META and not self.process_file_here()):
                break
            elif not words and (assignment := self._assignment()):
                assignments.append(assignment)
            elif declares and (assignment := self._assignment()):
                words.append(assignment)
            else:
                word = self.some_word()
                if not words:
                    declares = word.bare in _DECLARATIONS
                words.append(word)
            end = self.at
        if end == start:
            raise self.fail("a command is missing")
        if self.peek() == "(":
            raise self.fail("an unexpected (")
        self._note_extglob(words)
        node = Simple(tuple(assignments), tuple(words), tuple(redirections), start, end, line)
        if not self.substitutions:
            self.simple_commands.append((node, self.functions > 0))
        self.count += 1
        if self.count > _MOST_COMMANDS or len(words) > _MOST_WORDS:
            raise self.fail("more commands or words than are read")
        return node

    def _note_extglob(self, words: list[Word | Assignment]) -> None:
        texts = [word.bare if isinstance(word, Word) else None for word in words]
        if texts[:2] == ["shopt", "-s"] and "extglob" in texts:
            self.extglob = True

    def redirection(self) -> Redirection | None:
        found = _REDIRECTION.match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        descriptor, operator = found.group(1) or "", found.group(2)
        self.skip_blanks()
        target = self.some_word()
        if operator not in ("<<", "<<-"):
            return Redirection(operator, target, descriptor)
        raw = self.text[target.start : target.end]
        delimiter = target.literal
        if delimiter is None or "\n" in delimiter:
            raise self.fail("a here-document with an odd delimiter")
        document = HereDocument(any(char in raw for char in "'\"\\"), target)
        self._documents.append((document, delimiter, operator == "<<-"))
        return Redirection(operator, target, descriptor, document)

    # --- assignments --------------------------------------------------------------------------------

    def _assignment(self) -> Assignment | None:
        start, line = self.at, self.line()
        found = _ASSIGNED.match(self.text, start)
        if not found:
            return None
        self.at = found.end(1)
        index = None
        if found.group(2):
            end = self._closing_bracket(self.at)
            if end is None or self.text[end + 1 : end + 2] not in ("=", "+"):
                self.at = start
                return None
            index = self.quoted_word(self.text[self.at + 1 : end], line, escapable='$`"\\')
            self.at = end + 1
        append = self.peek() == "+"
        if not self.text.startswith("=", self.at + append):
            self.at = start
            return None
        self.at += 1 + append
        value_start = self.at
        if self.peek() == "(" and index is None:
            elements = self._elements()
            return Assignment(found.group(1), elements, append, start, self.at, line, value_start)
        word = self.word()
        return Assignment(found.group(1), word, append, start, self.at, line, value_start, index)

    def _closing_bracket(self, at: int) -> int | None:
        depth = 0
        for end in range(at, min(len(self.text), at + 400)):
            char = self.text[end]
            if char == "\n":
                return None
            depth += {"[": 1, "]": -1}.get(char, 0)
            if not depth:
                return end
        return None

    def _elements(self) -> tuple[Element, ...]:
        opened = self.at
        self.at += 1
        elements: list[Element] = []
        while True:
            self.skip_newlines()
            if self.peek() == ")":
                self.at += 1
                return tuple(elements)
            if not self.peek() or (self.peek() in META and not self.process_file_here()):
                raise self.fail("an array that is never closed", opened)
            elements.append(self._element())

    def _element(self) -> Element:
        line = self.line()
        end = self._closing_bracket(self.at) if self.peek() == "[" else None
        if end is not None and self.text[end + 1 : end + 2] == "=":
            key = self.inner(self.text[self.at + 1 : end], line).word("")
            self.at = end + 2
            return Element(self.word(), key)
        return Element(self.some_word())
