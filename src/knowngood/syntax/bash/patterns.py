"""Shell patterns (bash(1), Pattern Matching) on known text, by translation to `re`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_CLASSES = {
    "alnum": "A-Za-z0-9", "alpha": "A-Za-z", "digit": "0-9", "lower": "a-z", "upper": "A-Z", "space": r"\s",
    "xdigit": "0-9A-Fa-f", "word": r"\w", "blank": r" \t", "punct": r"!-/:-@\[-`{-~",
}  # fmt: skip
_LONGEST_TEXT = 100_000


class Pattern:
    """A pattern as (text, quoted) stretches. What can't be translated for certain never matches or misses:
    every method then answers None."""

    def __init__(self, stretches: Iterable[tuple[str, bool]], *, extglob: bool = False) -> None:
        self._chars = [(char, quoted) for text, quoted in stretches for char in text]
        self._extglob = extglob
        self._source = self._translate()

    @property
    def plain(self) -> bool:
        return not any(char in "*?[\\" or (self._extglob and char == "(") for char, q in self._chars if not q)

    def _regex(self, text: str) -> str | None:
        """The translation, where it holds for this text: `?` means a character, and we hold bytes."""
        if self._source is None or len(text) > _LONGEST_TEXT:
            return None
        ascii_only = text.isascii() and all(char.isascii() for char, _ in self._chars)
        return self._source if ascii_only or not self._counts_characters else None

    @property
    def _counts_characters(self) -> bool:
        return any(char in "?[" or (self._extglob and char == "(") for char, q in self._chars if not q)

    def matches(self, text: str) -> bool | None:
        """Whether the whole text matches."""
        source = self._regex(text)
        return None if source is None else re.fullmatch(source, text, re.DOTALL) is not None

    def strip(self, text: str, operator: str) -> str | None:
        """`${X#p}`, `##`, `%`, `%%`: the text without the shortest or longest match at its head or tail."""
        source = self._regex(text)
        if source is None or len(text) > 4000:
            return None
        compiled = re.compile(source, re.DOTALL)
        lengths: Iterable[int] = range(len(text) + 1)
        if len(operator) == 2:
            lengths = reversed(range(len(text) + 1))
        for length in lengths:
            if operator[0] == "#" and compiled.fullmatch(text, 0, length):
                return text[length:]
            if operator[0] == "%" and compiled.fullmatch(text, len(text) - length):
                return text[: len(text) - length]
        return text

    def substitute(self, text: str, operator: str, replacement: str) -> str | None:
        """`${X/p/r}`, `//`, `/#`, `/%`: the longest match replaced."""
        source = self._regex(text)
        if source is None:
            return None
        if not self._chars:
            return None if operator in ("/#", "/%") else text
        if not self.plain and "*" in source and len(text) > 4000:
            return None
        # The longest match is what `re` finds for patterns without alternatives, its `*` being greedy.
        if "(?:" in source:
            return None
        if operator == "/%":
            return self._at_end(text, source, replacement)
        anchored = re.compile(source, re.DOTALL)
        if operator == "/#":
            found = anchored.match(text)
            return text if found is None else replacement + text[found.end() :]
        return _replace(anchored, text, lambda: replacement, once=operator == "/")

    def _at_end(self, text: str, source: str, replacement: str) -> str:
        compiled = re.compile(source, re.DOTALL)
        for start in range(len(text) + 1):
            if compiled.fullmatch(text, start):
                return text[:start] + replacement
        return text

    def change_case(self, text: str, operator: str) -> str | None:
        """`${X^}`, `^^`, `,`, `,,` without a pattern, on ASCII."""
        if not text.isascii() or self._chars:
            return None
        change = str.upper if operator[0] == "^" else str.lower
        return change(text) if len(operator) == 2 else change(text[:1]) + text[1:]

    # --- translation --------------------------------------------------------------------------------

    def _translate(self) -> str | None:
        try:
            source, end = self._sequence(0, nested=False)
        except (ValueError, IndexError):
            return None
        if end != len(self._chars):
            return None
        try:
            re.compile(source)
        except re.error:
            return None
        return source

    def _sequence(self, at: int, *, nested: bool) -> tuple[str, int]:
        source = ""
        chars = self._chars
        while at < len(chars):
            char, quoted = chars[at]
            if quoted:
                source += re.escape(char)
            elif nested and char in "|)":
                break
            elif self._extglob and char in "?*+@!" and chars[at + 1 : at + 2] == [("(", False)]:
                group, at = self._group(at)
                source += group
                continue
            elif char == "*":
                source += "" if source.endswith(".*") else ".*"
            elif char == "?":
                source += "."
            elif char == "[":
                bracket, at = self._bracket(at)
                source += bracket
                continue
            elif char == "\\":
                at += 1
                source += re.escape(chars[at][0])
            else:
                source += re.escape(char)
            at += 1
        return source, at

    def _group(self, at: int) -> tuple[str, int]:
        kind = self._chars[at][0]
        if kind == "!":
            raise ValueError("a negated pattern list has no plain translation")
        options = []
        at += 2
        while True:
            option, at = self._sequence(at, nested=True)
            options.append(option)
            at += 1
            if self._chars[at - 1][0] == ")":
                break
        return f"(?:{'|'.join(options)})" + {"@": "", "?": "?", "*": "*", "+": "+"}[kind], at

    def _bracket(self, at: int) -> tuple[str, int]:
        chars = self._chars
        end = at + 1
        if end < len(chars) and chars[end][0] in "!^":
            end += 1
        if end < len(chars) and chars[end][0] == "]":
            end += 1
        while end < len(chars) and chars[end] != ("]", False):
            if chars[end][0] == "[" and end + 1 < len(chars) and chars[end + 1][0] == ":":
                end = self._class_end(end)
            end += 1
        if end >= len(chars):
            return r"\[", at + 1
        return self._members(at + 1, end), end + 1

    def _class_end(self, at: int) -> int:
        text = "".join(char for char, _ in self._chars[at:])
        found = re.match(r"\[:[a-z]+:\]", text)
        if not found:
            raise ValueError("an odd character class")
        return at + found.end() - 1

    def _members(self, start: int, end: int) -> str:
        chars = self._chars
        negated = chars[start][0] in "!^" and not chars[start][1]
        start += negated
        members = ""
        at = start
        while at < end:
            char, quoted = chars[at]
            if char == "[" and not quoted and at + 1 < end and chars[at + 1][0] in ":.=":
                closed = self._class_end(at)
                name = "".join(c for c, _ in chars[at + 2 : closed - 1])
                members += _CLASSES[name] if name in _CLASSES else _odd(name)
                at = closed + 1
                continue
            if char == "\\" and not quoted:
                at += 1
                char = chars[at][0]
                members += re.escape(char)
            elif char == "-" and not quoted:
                members += "-" if start < at < end - 1 else r"\-"
            else:
                members += re.escape(char)
            at += 1
        return f"[{'^' if negated else ''}{members}]"


def _odd(name: str) -> str:
    raise ValueError(f"unknown character class {name}")


def _replace(pattern: re.Pattern[str], text: str, replacement: Callable[[], str], *, once: bool) -> str:
    pieces: list[str] = []
    at = 0
    while at < len(text):
        found = pattern.match(text, at)
        if found is None or found.end() == at:
            pieces.append(text[at])
            at += 1
            continue
        pieces.append(replacement())
        at = found.end()
        if once:
            break
    if not text and pattern.match(""):
        return replacement()
    return "".join(pieces) + text[at:]
