"""Cutting words and commands out of a text so that what stays looks as if they had never been there."""

from __future__ import annotations

import re

from knowngood.syntax.bash.nodes import Simple

_CONTINUED = re.compile(r"[ \t]*\\\r?\n[ \t]*$")
_BLANKS_BEFORE = re.compile(r"[ \t]+$")
_BLANKS_AFTER = re.compile(r"[ \t]*")
_LINE_END = re.compile(r"[ \t]*(?:\r?\n|$)")


def replaced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def without_word(text: str, start: int, end: int) -> str:
    """The text without a word, and without the blanks, the continuation or the line that it leaves empty."""
    line_start = text.rfind("\n", 0, start) + 1
    if continued := _CONTINUED.search(text, max(0, start - 300), start):
        return replaced(text, continued.start(), end, "")
    ends_line = _LINE_END.match(text, end)
    if not text[line_start:start].strip(" \t"):
        if ends_line:
            return replaced(text, line_start, ends_line.end(), "")
        after = re.compile(r"[ \t]*(?:\\\r?\n[ \t]*)?").match(text, end)
        return replaced(text, start, after.end() if after else end, "")
    before = _BLANKS_BEFORE.search(text, line_start, start)
    if before:
        return replaced(text, before.start(), end, "")
    after = _BLANKS_AFTER.match(text, end)
    return replaced(text, start, after.end() if after else end, "")


def without_command(text: str, command: Simple) -> str:
    """The text without a command; its line goes too, unless more stands on it."""
    start, end = command.start, command.end
    line_start = text.rfind("\n", 0, start) + 1
    alone_before = not text[line_start:start].strip(" \t")
    following = re.compile(r"[ \t]*;?[ \t]*").match(text, end)
    ends_line = re.compile(r"[ \t]*;?[ \t]*(?:\r?\n|$)").match(text, end)
    if alone_before and ends_line:
        return replaced(text, line_start, ends_line.end(), "")
    if alone_before and following:
        return replaced(text, start, following.end(), "")
    if following and ";" in following.group() and not ends_line:
        return replaced(text, start, following.end(), "")
    preceding = re.compile(r"[ \t]*;[ \t]*$").search(text, line_start, start)
    if preceding:
        return replaced(text, preceding.start(), end, "")
    return replaced(text, start, end, "")


def line_start(text: str, at: int) -> int:
    """Where the line begins that holds `at`."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Where the next line begins."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def indent(text: str, at: int) -> str:
    """The blanks that the line of `at` begins with."""
    found = _BLANKS_AFTER.match(text, line_start(text, at))
    return found.group() if found else ""
