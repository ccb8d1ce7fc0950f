"""Expansion: from a script's words to what is known of the words a command gets (bash(1), EXPANSION)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from knowngood.syntax.bash.brace import TooMany, expand_braces
from knowngood.syntax.bash.fields import Field, Gap, Items, Many
from knowngood.syntax.bash.nodes import (
    ArithmeticValue,
    CommandOutput,
    Literal,
    Parameter,
    Part,
    ProcessFile,
    Word,
)
from knowngood.syntax.bash.parameters import Parameters
from knowngood.syntax.bash.patterns import Pattern
from knowngood.syntax.bash.split import Words
from knowngood.syntax.bash.text import EMPTY, Text, concat, known, plain, presumed, unknown

_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_DEFAULTS = ("-", ":-", "+", ":+")


class Expander(Parameters):
    """Expands words in the current state. What runs commands builds on it."""

    def fields(self, words: Iterable[Word]) -> Items:
        """The words of a command line."""
        found: list[Field | Gap] = []
        for word in words:
            found += self.split_word(word)
        return tuple(found)

    def split_word(self, word: Word) -> Items:
        self.step()
        try:
            branches = expand_braces(word)
        except TooMany:
            return (Gap("a brace expansion with too many words", word.line),)
        if len(branches) > 1:
            return tuple(item for branch in branches for item in self._split_one(branch, None))
        span = (word.start, word.end) if self.spans_are_ours and word.end else None
        return self._split_one(word, span)

    def _split_one(self, word: Word, span: tuple[int, int] | None) -> Items:
        first = word.parts[0] if word.parts else None
        looks_assigned = isinstance(first, Literal) and not first.quoted and _ASSIGNED.match(first.text)
        parts = self._tildes(word.parts, assignment=bool(looks_assigned), whole=False)
        words = Words(self.separators(), word.line, span, self.state.option("noglob") is not True)
        for at, part in enumerate(parts):
            self._emit(words, part, last=at + 1 == len(parts), soft_literals=False)
        items = words.done()
        if len(items) == 1 or span is None:
            return items
        # Several words that are written as one are written nowhere by themselves.
        return tuple(
            replace(item, span=None) if isinstance(item, Field) and item.span == span else item
            for item in items
        )

    def _emit(self, words: Words, part: Part, *, last: bool, soft_literals: bool) -> None:
        if isinstance(part, Literal):
            if part.quoted:
                words.hard(plain(part.text))
            elif soft_literals:
                words.soft(plain(part.text), last=last)
            else:
                words.literal(part.text)
        elif isinstance(part, Parameter):
            self._emit_parameter(words, part, last=last)
        elif isinstance(part, CommandOutput | ArithmeticValue):
            text = self._computed(part)
            if part.quoted:
                words.hard(text)
            else:
                words.soft(text, last=last)
        else:
            words.hard(unknown("the name of a pipe", part.line, solid=True))

    def _emit_parameter(self, words: Words, part: Parameter, *, last: bool) -> None:
        argument = part.argument
        if part.operator in _DEFAULTS and argument is not None and (not part.quoted or _lists(argument)):
            use = self.uses_argument(part)
            if use:
                if part.quoted:
                    # Unlike "$@" by itself, this is a word even when there are no arguments.
                    words.hard(EMPTY)
                for at, inner in enumerate(self._tildes(argument.parts, assignment=False, whole=False)):
                    self._emit(words, inner, last=last and at + 1 == len(argument.parts), soft_literals=True)
                return
            if use is None and _lists(argument):
                words.items_of((Gap("it depends on the caller", part.line),), quoted=True, last=last)
                return
            if use is None and not _splits_like_text(argument):
                words.soft(unknown("it depends on the caller", part.line), last=last)
                return
        value = self.parameter(part)
        if isinstance(value, Many) and not (value.star and part.quoted):
            words.items_of(value.items, quoted=part.quoted, last=last)
            return
        text = self.joined(value.items, star=True) if isinstance(value, Many) else value
        if part.quoted:
            words.hard(text)
        else:
            words.soft(text, last=last)

    # --- without splitting --------------------------------------------------------------------------

    def text(self, word: Word, *, assignment: bool = False) -> Text:
        """A word that is not split: an assignment's value, a redirection's target, a case subject."""
        self.step()
        parts = self._tildes(word.parts, assignment=assignment, whole=True)
        return concat(*(self._part_text(part) for part in parts))

    def _part_text(self, part: Part) -> Text:
        if isinstance(part, Literal):
            return plain(part.text)
        if isinstance(part, Parameter):
            value = self.parameter(part)
            return self.joined(value.items, star=value.star) if isinstance(value, Many) else value
        if isinstance(part, ProcessFile):
            return unknown("the name of a pipe", part.line, solid=True)
        return self._computed(part)

    def _computed(self, part: CommandOutput | ArithmeticValue) -> Text:
        if isinstance(part, CommandOutput):
            return self.output(part)
        return self.arithmetic_text(part.expression)

    def pattern(self, word: Word, *, extglob: bool = False) -> tuple[Pattern | None, Pattern | None]:
        """A word as a pattern, in the certain and the presumed world; quoted text stands for itself."""
        certain: list[tuple[str, bool]] | None = []
        expected: list[tuple[str, bool]] | None = []
        for part in self._tildes(word.parts, assignment=False, whole=True):
            text = self._part_text(part)
            quoted = not isinstance(part, ProcessFile) and part.quoted
            certain = _extended(certain, known(text), quoted)
            expected = _extended(expected, presumed(text, lax=True), quoted)
        return (
            None if certain is None else Pattern(certain, extglob=extglob),
            None if expected is None else Pattern(expected, extglob=extglob),
        )

    # --- tildes -------------------------------------------------------------------------------------

    def _tildes(self, parts: Sequence[Part], *, assignment: bool, whole: bool) -> tuple[Part, ...]:
        """The parts with `~` made HOME's value: at the start, and in assignments after `=` and `:`."""
        if not any(isinstance(part, Literal) and not part.quoted and "~" in part.text for part in parts):
            return tuple(parts)
        found: list[Part] = []
        for at, part in enumerate(parts):
            if not isinstance(part, Literal) or part.quoted or "~" not in part.text:
                found.append(part)
                continue
            begins = r"(?:^|(?<=[:=]))" if at == 0 else r"(?<=[:=])"
            if not assignment:
                begins = "^" if at == 0 else "(?!)"
            ends = r"(?=[/:]|$)" if assignment else r"(?=/|$)"
            if at + 1 < len(parts):
                ends = ends.replace("|$", "")
            cut = 0
            for tilde in re.finditer(begins + "~([A-Za-z0-9_+.-]*)" + ends, part.text):
                found += [Literal(part.text[cut : tilde.start()], False)] if tilde.start() > cut else []
                found.append(Parameter("~" + tilde.group(1), True, 0))
                cut = tilde.end()
            if cut < len(part.text):
                found.append(Literal(part.text[cut:], False))
        return tuple(found)


def _extended(
    stretches: list[tuple[str, bool]] | None, text: str | None, quoted: bool
) -> list[tuple[str, bool]] | None:
    return None if stretches is None or text is None else [*stretches, (text, quoted)]


def _lists(word: Word) -> bool:
    """Whether `$@` or an array is in the word, so that it may be several words even in quotes."""
    parameters = [part for part in word.parts if isinstance(part, Parameter)]
    return any(
        part.name == "@" or part.index == "@" or (part.argument is not None and _lists(part.argument))
        for part in parameters
    )


def _splits_like_text(word: Word) -> bool:
    """Whether quotes in an operator's word make no difference to how it is split."""
    return all(_unquoted(part) for part in word.parts)


def _unquoted(part: Part) -> bool:
    if isinstance(part, Literal):
        return not part.quoted or re.fullmatch(r"[\w./:=,@%+-]*", part.text) is not None
    if isinstance(part, Parameter) and part.argument is not None and not _splits_like_text(part.argument):
        return False
    return isinstance(part, ProcessFile) or not part.quoted
