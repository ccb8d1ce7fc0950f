"""The grammar: bash's commands, by recursive descent (bash(1), SHELL GRAMMAR; POSIX.1-2017 XCU 2.10).

Why not a ready-made grammar: tree-sitter-bash recovers from what it can't read by guessing, and reads valid
scripts wrongly without a sign (`A=$(x)` and `unset B` on the next line become one command). Here text that
is not understood ends the reading, as it ends bash's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from knowngood.syntax.bash.nodes import (
    AndOr,
    Arithmetic,
    Case,
    CaseArm,
    Command,
    Coprocess,
    CountingFor,
    For,
    Function,
    Group,
    If,
    Item,
    Pipeline,
    Program,
    Redirection,
    Sequence,
    Test,
    While,
    Word,
)
from knowngood.syntax.bash.parse_simple import SimpleParser
from knowngood.syntax.bash.parse_test import parse_condition
from knowngood.syntax.bash.scan import BLANK, META, BadSyntax

_CLOSERS = frozenset(["then", "elif", "else", "fi", "do", "done", "esac", "}", "in"])
_KEYWORD = re.compile(r"[a-z]+|[!{}]|\[\[")
_NEXT = re.compile(r"\S{1,20}")
_EMPTY_PARENTHESES = re.compile(r"[ \t]*\([ \t]*\)")
_FUNCTION = re.compile(r"([^\s|&;()<>\\'\"$`{}=]+)[ \t]*\([ \t]*\)")


class Parser(SimpleParser):
    """Reads a text's commands. Nested texts (`$(…)`) are read in place."""

    def program(self) -> Program:
        """All commands, by complete lines; what follows a syntax error is left unread."""
        lines: list[Sequence] = []
        try:
            if "\0" in self.text:
                raise BadSyntax(1, "it holds NUL bytes")
            while True:
                self.skip_newlines()
                if self.at >= len(self.text):
                    return Program(tuple(lines), tuple(self.simple_commands))
                lines.append(self.sequence(single_line=True))
        except BadSyntax as error:
            return Program(tuple(lines), tuple(self.simple_commands), (error.line, error.message))

    def commands_until(self, closer: str) -> Sequence:
        body = self.sequence()
        self.expect(closer)
        return body

    # --- lists --------------------------------------------------------------------------------------

    def sequence(self, *, single_line: bool = False) -> Sequence:
        """Commands separated by `;`, `&` and newlines, up to a closing word or character."""
        items: list[Item] = []
        while True:
            self.skip_blanks()
            if not single_line:
                self.skip_newlines()
            if self._at_close():
                break
            start = self.at
            command = self.and_or()
            end = self.at
            self.skip_blanks()
            background = self.peek() == "&"
            items.append(Item(command, background, start, end))
            if background or (self.peek() == ";" and self.peek(1) not in (";", "&")):
                self.at += 1
                if single_line:
                    self.skip_blanks()
                    if self.peek() == "\n":
                        self.newline()
                        break
                continue
            if self.peek() == "\n":
                self.newline()
                if single_line:
                    break
                continue
            break
        if single_line and self.at < len(self.text) and self._at_close():
            raise self.fail(f"an unexpected {self._next_text()}")
        return Sequence(tuple(items))

    def _next_text(self) -> str:
        found = _NEXT.match(self.text, self.at)
        return repr(found.group()) if found else "end"

    def _at_close(self) -> bool:
        char = self.peek()
        if not char or char == ")" or self.looking_at(";;") or self.looking_at(";&"):
            return True
        return self.keyword() in _CLOSERS

    def body(self) -> Sequence:
        """A list that must not be empty."""
        commands = self.sequence()
        if not commands.items:
            raise self.fail(f"a command is missing before {self._next_text()}")
        return commands

    def and_or(self) -> Command:
        left = self.pipeline()
        while True:
            self.skip_blanks()
            operator = self.text[self.at : self.at + 2]
            if operator not in ("&&", "||"):
                return left
            self.at += 2
            self.skip_newlines()
            left = AndOr(left, operator, self.pipeline())

    def pipeline(self) -> Command:
        line = self.line()
        negated = False
        plain = True
        while (word := self.keyword()) in ("!", "time"):
            self.at += len(word)
            self.skip_blanks()
            plain = False
            negated ^= word == "!"
            if word == "time" and self.looking_at("-p") and self.peek(2) in BLANK:
                self.at += 2
                self.skip_blanks()
        commands = [self.command()]
        while True:
            self.skip_blanks()
            if self.peek() != "|" or self.peek(1) == "|":
                break
            self.at += 2 if self.peek(1) == "&" else 1
            self.skip_newlines()
            commands.append(self.command())
        if plain and len(commands) == 1:
            return commands[0]
        return Pipeline(tuple(commands), negated, line)

    # --- commands -----------------------------------------------------------------------------------

    def keyword(self) -> str:
        """The reserved word, or any plain word like one, that stands here; "" for none."""
        found = _KEYWORD.match(self.text, self.at)
        if not found:
            return ""
        after = self.text[found.end() : found.end() + 1]
        if after == "\\" and self.text.startswith("\\\n", found.end()):
            raise self.fail("a word continued on the next line is not understood")
        return found.group() if not after or after in META else ""

    def take_keyword(self, *words: str) -> str:
        self.skip_blanks()
        word = self.keyword()
        if word not in words:
            raise self.fail(f"{self._next_text()} where {' or '.join(words)} should stand")
        self.at += len(word)
        return word

    def command(self) -> Command:
        self.skip_blanks()
        self.nested()
        command = self._command()
        self.depth -= 1
        return command

    def _command(self) -> Command:
        word = self.keyword()
        line = self.line()
        compound = _COMPOUNDS.get(word)
        if compound:
            self.at += len(word)
            return compound(self, line, word)
        if word in _CLOSERS - {"in"} or word in ("!", "time"):
            raise self.fail(f"an unexpected {word!r}")
        if self.peek() == "(":
            return self._parenthesis(line)
        if found := _FUNCTION.match(self.text, self.at):
            self.at = found.end()
            return self._function_body(found.group(1), line)
        return self.simple()

    def redirections(self) -> tuple[Redirection, ...]:
        found: list[Redirection] = []
        while True:
            self.skip_blanks()
            redirection = self.redirection()
            if redirection is None:
                return tuple(found)
            found.append(redirection)

    def _if(self, line: int, _: str) -> Command:
        arms = []
        otherwise = None
        word = "if"
        while word in ("if", "elif"):
            condition = self.body()
            self.take_keyword("then")
            arms.append((condition, self.body()))
            word = self.take_keyword("elif", "else", "fi")
        if word == "else":
            otherwise = self.body()
            self.take_keyword("fi")
        self.redirections()
        return If(tuple(arms), otherwise, line)

    def _while(self, line: int, word: str) -> Command:
        condition = self.body()
        body = self._do_group()
        return While(condition, body, word == "until", self.redirections(), line)

    def _do_group(self) -> Sequence:
        self.take_keyword("do")
        body = self.body()
        self.take_keyword("done")
        return body

    def _for(self, line: int, word: str) -> Command:
        self.skip_blanks()
        if word == "for" and self.looking_at("(("):
            return self._counting_for(line)
        name = self.word().bare
        if not name or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise self.fail("a loop's variable is no name")
        self.skip_newlines()
        words: list[Word] | None = None
        if self.keyword() == "in":
            self.at += 2
            words = []
            while self.skip_blanks() or self.peek() not in ";\n":
                words.append(self.some_word())
        self.skip_blanks()
        if self.peek() == ";":
            self.at += 1
        self.skip_newlines()
        body = self._braced_or_do()
        self.redirections()
        return For(name, None if words is None else tuple(words), body, word == "select", line)

    def _braced_or_do(self) -> Sequence:
        if self.keyword() != "{":
            return self._do_group()
        self.at += 1
        body = self.body()
        self.take_keyword("}")
        return body

    def _counting_for(self, line: int) -> Command:
        fields = self._arithmetic_text().split(";")
        if len(fields) != 3:
            raise self.fail("an arithmetic for without its three parts")
        first, condition, step = (self.quoted_word(field, line) for field in fields)
        self.skip_blanks()
        if self.peek() == ";":
            self.at += 1
        self.skip_newlines()
        body = self._braced_or_do()
        self.redirections()
        return CountingFor(first, condition, step, body, line)

    def _arithmetic_text(self) -> str:
        end = self.closing_parentheses(self.at + 2)
        if end is None:
            raise self.fail("(( is never closed")
        text = self.text[self.at + 2 : end]
        self.at = end + 2
        return text

    def _case(self, line: int, _: str) -> Command:
        self.skip_blanks()
        subject = self.some_word()
        self.skip_newlines()
        self.take_keyword("in")
        arms: list[CaseArm] = []
        while True:
            self.skip_newlines()
            if self.keyword() == "esac":
                self.at += 4
                break
            arms.append(self._case_arm())
        self.redirections()
        return Case(subject, tuple(arms), line)

    def _case_arm(self) -> CaseArm:
        if self.peek() == "(":
            self.at += 1
        patterns: list[Word] = []
        while True:
            self.skip_blanks()
            patterns.append(self.some_word())
            self.skip_blanks()
            self.at += 1
            if self.text[self.at - 1 : self.at] == ")":
                break
            if self.text[self.at - 1 : self.at] != "|":
                raise self.fail("a case pattern without its )", self.at - 1)
        body = self.sequence()
        self.skip_blanks()
        for end in (";;&", ";;", ";&"):
            if self.looking_at(end):
                self.at += len(end)
                return CaseArm(tuple(patterns), body, end)
        if self.keyword() != "esac":
            raise self.fail("a case arm without its ;;")
        return CaseArm(tuple(patterns), body, ";;")

    def _group(self, line: int, _: str) -> Command:
        body = self.body()
        self.take_keyword("}")
        return Group(body, False, self.redirections(), line)

    def _parenthesis(self, line: int) -> Command:
        if self.looking_at("((") and self.closing_parentheses(self.at + 2) is not None:
            expression = self.quoted_word(self._arithmetic_text(), line)
            self.redirections()
            return Arithmetic(expression, line)
        self.at += 1
        body = self.body()
        self.expect(")")
        return Group(body, True, self.redirections(), line)

    def _test(self, line: int, _: str) -> Command:
        condition = parse_condition(self)
        self.redirections()
        return Test(condition, line)

    def _function_word(self, line: int, _: str) -> Command:
        self.skip_blanks()
        name = self.word().bare
        if not name:
            raise self.fail("a function without a plain name")
        found = _EMPTY_PARENTHESES.match(self.text, self.at)
        if found:
            self.at = found.end()
        return self._function_body(name, line)

    def _function_body(self, name: str, line: int) -> Command:
        self.skip_newlines()
        if self.keyword() not in ("{", "if", "while", "until", "for", "case", "[[", "select") and (
            self.peek() != "("
        ):
            raise self.fail("a function without a body")
        self.functions += 1
        body = self.command()
        self.functions -= 1
        return Function(name, body, line)

    def _coprocess(self, line: int, _: str) -> Command:
        self.skip_blanks()
        return Coprocess(self.command(), line)


_COMPOUNDS: dict[str, Callable[[Parser, int, str], Command]] = {
    "if": Parser._if,
    "while": Parser._while,
    "until": Parser._while,
    "for": Parser._for,
    "select": Parser._for,
    "case": Parser._case,
    "{": Parser._group,
    "[[": Parser._test,
    "function": Parser._function_word,
    "coproc": Parser._coprocess,
}


def parse(text: str, *, first_line: int = 1, extglob: bool = False) -> Program:
    """A script's commands. `text` is bytes decoded as Latin-1."""
    parser = Parser(text, first_line=first_line)
    parser.extglob = extglob
    return parser.program()
