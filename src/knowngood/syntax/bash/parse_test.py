"""What stands inside `[[ … ]]` (bash(1), Compound Commands)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from knowngood.syntax.bash.nodes import Both, Check, Comparison, Condition, Not, Word

if TYPE_CHECKING:
    from knowngood.syntax.bash.parse import Parser

UNARY = frozenset("-" + letter for letter in "abcdefghknoprstuvwxzGLNORS")
BINARY = frozenset(
    ["==", "=", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"]
)
_OPERATOR = re.compile(r"==|=~|!=|=|<|>|-[a-z]{2}(?=[ \t\n])")


def parse_condition(parser: Parser) -> Condition:
    """The condition from after `[[` up to and with `]]`."""
    condition = _either(parser)
    parser.skip_newlines()
    if not parser.looking_at("]]"):
        raise parser.fail("[[ without its ]]")
    parser.at += 2
    return condition


def _either(parser: Parser) -> Condition:
    left = _both(parser)
    while _taken(parser, "||"):
        left = Both(left, "||", _both(parser))
    return left


def _both(parser: Parser) -> Condition:
    left = _single(parser)
    while _taken(parser, "&&"):
        left = Both(left, "&&", _single(parser))
    return left


def _taken(parser: Parser, operator: str) -> bool:
    parser.skip_newlines()
    if parser.looking_at(operator):
        parser.at += len(operator)
        return True
    return False


def _single(parser: Parser) -> Condition:
    parser.skip_newlines()
    parser.nested()
    try:
        if parser.peek() == "!" and parser.peek(1) in (" ", "\t", "\n"):
            parser.at += 1
            return Not(_single(parser))
        if parser.peek() == "(":
            parser.at += 1
            condition = _either(parser)
            if not _taken(parser, ")"):
                raise parser.fail("( without its ) in [[ ]]")
            return condition
        return _primary(parser)
    finally:
        parser.depth -= 1


def _primary(parser: Parser) -> Condition:
    left = _word(parser)
    parser.skip_blanks()
    if left.bare in UNARY and not parser.looking_at("]]") and parser.peek() not in "&|)":
        found = _OPERATOR.match(parser.text, parser.at)
        if not found:
            return Check(left.bare or "", _word(parser))
    found = _OPERATOR.match(parser.text, parser.at)
    if not found:
        return Check("-n", left)
    operator = found.group()
    if operator not in BINARY:
        raise parser.fail(f"{operator} is no test")
    parser.at = found.end()
    parser.skip_blanks()
    return Comparison(left, operator, _regex(parser) if operator == "=~" else _word(parser))


def _word(parser: Parser) -> Word:
    had, parser.extglob = parser.extglob, True
    word = parser.some_word()
    parser.extglob = had
    return word


def _regex(parser: Parser) -> Word:
    """A regular expression's word: parentheses and bars belong to it."""
    start, line = parser.at, parser.line()
    depth = 0
    end = start
    while end < len(parser.text):
        char = parser.text[end]
        if char == "\\":
            end += 1
        elif char in "'\"":
            end = parser.text.find(char, end + 1)
            if end < 0:
                raise parser.fail("a quote in [[ ]] is never closed")
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth < 0:
                break
        elif char in " \t\n" and not depth:
            break
        end += 1
    parser.at = end
    word = parser.inner(parser.text[start:end], line).word("")
    return Word(word.parts, start, end, line)
