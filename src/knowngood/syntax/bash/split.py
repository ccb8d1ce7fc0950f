"""From expanded pieces to words: word splitting by IFS and the doubt about pathname expansion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

from knowngood.syntax.bash.fields import Field, Gap, Item, Span, all_choices, presumed_fields
from knowngood.syntax.bash.text import (
    MOST_CHOICES,
    Hole,
    Text,
    alternatives,
    concat,
    first_hole,
    known,
    plain,
    presumed,
)

_GLOB = re.compile(r"[*?]|\[.*\]", re.DOTALL)
_WHITE = " \t\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a word. `soft`: the outcome of an unquoted expansion, which is split and globbed.
    `literal`: written unquoted in the word itself, which is globbed but not split."""

    text: Text
    soft: bool = False
    literal: bool = False


@dataclass(slots=True)
class Words:
    """Builds the words that one word of the script becomes."""

    ifs: str | None
    line: int
    span: Span | None
    globs: bool  # pathname expansion is on, or may be
    items: list[Item] = field(default_factory=list)
    _current: list[Piece] | None = None

    def hard(self, text: Text) -> None:
        """Quoted text: a word even when it is empty."""
        if self._rest is None:
            self._add(Piece(text))

    def literal(self, text: str) -> None:
        if self._rest is None:
            self._add(Piece(plain(text), literal=True))

    def soft(self, text: Text, *, last: bool) -> None:
        """The outcome of an unquoted expansion; `last` when no more of the word follows."""
        for at, piece in enumerate(text if self._rest is None else ()):
            if isinstance(piece, str):
                self._split(piece)
            elif self._stands_apart(text, at, last):
                self.finish()
                options = [self._alone(choice) for choice in piece.choices or ()]
                choices = tuple(dict.fromkeys(fields for option in options for fields in option))
                expected = None if piece.presumed is None else self._alone(piece.presumed)
                if any(len(option) != 1 for option in options):
                    self.items.append(Gap(piece.reason, piece.line))
                else:
                    self.items.append(
                        Gap(piece.reason, piece.line, "", choices, expected[0] if expected else None)
                    )
            else:
                self._add(Piece((piece,), soft=True))

    def _stands_apart(self, text: Text, at: int, last: bool) -> bool:
        """Whether a hole is words of its own: it is empty or begins with a blank, and a blank follows it."""
        piece = text[at]
        if not isinstance(piece, Hole) or piece.choices is None:
            return False
        if not all(not choice or choice[0] in _WHITE for choice in piece.choices) or self.ifs != " \t\n":
            return False
        following = text[at + 1] if at + 1 < len(text) else None
        if following is None:
            return last
        if isinstance(following, str):
            return following[0] in _WHITE
        return self._stands_apart(text, at + 1, last)

    def _alone(self, text: str) -> list[tuple[Field, ...]]:
        words = Words(self.ifs, self.line, None, self.globs)
        words.soft(plain(text), last=True)
        return list(all_choices(words.done()) or ())

    def items_of(self, items: Sequence[Item], *, quoted: bool, last: bool) -> None:
        """`$@` or an array: the first joins what stands before it, the last what follows."""
        if self._rest is not None or self._joins_a_gap(items, last):
            return
        for at, item in enumerate(items):
            if at:
                self.finish()
            if isinstance(item, Gap):
                self.items.append(item if quoted else self._split_gap(item))
            elif quoted:
                self._add(Piece(item.text))
                self._remember(item)
            else:
                self.soft(item.text, last=last and at + 1 == len(items))

    def _split_gap(self, gap: Gap) -> Gap:
        """Words of which little is known, split once more."""
        ifs = " \t\n" if self.ifs is None else self.ifs
        start = re.split("[" + re.escape(ifs) + r"*?\[]", gap.start)[0] if ifs else gap.start
        inner = [field for choice in (*(gap.choices or ()), gap.presumed or ()) for field in choice]
        texts = [known(field.text) for field in inner]
        if any(
            text is None or not re.fullmatch(r"[\w./:=-]+", text) or set(text) & set(ifs) for text in texts
        ):
            return Gap(gap.reason, gap.line, start)
        return replace(gap, start=start)

    def _joins_a_gap(self, items: Sequence[Item], last: bool) -> bool:
        """Where a gap touches more of the word, and may be empty, all from here on is one gap."""
        if not items:
            return False
        first, final = items[0], items[-1]
        touches = isinstance(first, Gap) and self._current is not None
        gap = first if touches else final
        if not isinstance(gap, Gap) or not (touches or not last):
            return False
        pieces = [*(self._current or []), *([Piece(first.text)] if isinstance(first, Field) else [])]
        self._current = None
        self._rest = Gap(gap.reason, gap.line, _start(pieces))
        return True

    _origin: Field | None = None
    _rest: Gap | None = None

    def _remember(self, item: Field) -> None:
        """A word that is an array's element and nothing else is written where the element is."""
        self._origin = item if self._current is not None and len(self._current) == 1 else None

    def _add(self, piece: Piece) -> None:
        if self._current is None:
            self._current = []
        self._current.append(piece)
        self._origin = None

    def _split(self, text: str) -> None:
        if self.ifs is None:
            self._add(Piece((Hole("IFS is not known", self.line),), soft=True))
            return
        if not self.ifs:
            if text:
                self._add(Piece(plain(text), soft=True))
            return
        white = "".join(char for char in self.ifs if char in _WHITE)
        hard = "".join(char for char in self.ifs if char not in _WHITE)
        at = 0
        while at < len(text):
            char = text[at]
            if char in white:
                ended = self._current is not None
                self.finish()
                at = _over(text, at, white)
                if ended and text[at : at + 1] and text[at] in hard:
                    at = _over(text, at + 1, white)
            elif char in hard:
                if self._current is None:
                    self._add(Piece(()))
                self.finish()
                at = _over(text, at + 1, white)
            else:
                end = at
                while end < len(text) and text[end] not in self.ifs:
                    end += 1
                self._add(Piece(plain(text[at:end]), soft=True))
                at = end

    def done(self) -> tuple[Item, ...]:
        self.finish()
        return tuple(self.items) if self._rest is None else (*self.items, self._rest)

    def finish(self) -> None:
        """The word in hand is complete."""
        pieces, self._current = self._current, None
        origin, self._origin = self._origin, None
        if pieces is None:
            return
        text = concat(*(piece.text for piece in pieces))
        ragged = [_ragged(piece) for piece in pieces]
        if any(ragged):
            self.items += self._ragged_words(pieces, text)
        elif self.globs and _GLOB.search("".join(_visible(piece) for piece in pieces)):
            self.items.append(Gap("a pattern for file names", self.line, _before_glob(pieces)))
        elif origin is not None:
            self.items.append(origin)
        else:
            self.items.append(Field(text, self.line, self.span))

    def _ragged_words(self, pieces: list[Piece], text: Text) -> list[Item]:
        """A word with an unquoted unknown in it: it may split, vanish or name files."""
        hole = next(first_hole(piece.text) for piece in pieces if _ragged(piece))
        assert hole is not None  # noqa: S101 - a ragged piece has a hole
        expected = self._as_presumed(pieces)
        choices = self._by_choice(pieces)
        whole = {presumed(text)} if choices is None else set(alternatives(text) or ())
        words = (expected,) if choices is None else choices
        if all(word is not None and len(word) == 1 and known(word[0].text) in whole for word in words):
            return [Field(text, self.line, self.span)]
        return [Gap(hole.reason, hole.line, _start(pieces), choices, expected)]

    def _as_presumed(self, pieces: list[Piece]) -> tuple[Field, ...] | None:
        texts = []
        for piece in pieces:
            text: Text = piece.text
            if _ragged(piece):
                hole = text[0]
                if not isinstance(hole, Hole) or hole.presumed is None:
                    return None
                text = plain(hole.presumed)
            texts.append(text)
        return presumed_fields(self._rebuilt(pieces, texts))

    def _by_choice(self, pieces: list[Piece]) -> tuple[tuple[Field, ...], ...] | None:
        options: list[list[Text]] = []
        for piece in pieces:
            if _ragged(piece):
                hole = piece.text[0]
                if not isinstance(hole, Hole) or hole.choices is None:
                    return None
                options.append([plain(choice) for choice in hole.choices])
            else:
                options.append([piece.text])
        if prod(len(option) for option in options) > MOST_CHOICES:
            return None
        found: list[tuple[Field, ...]] = []
        for texts in product(*options):
            choices = all_choices(self._rebuilt(pieces, list(texts)))
            if choices is None:
                return None
            found += choices
        return tuple(dict.fromkeys(found))

    def _rebuilt(self, pieces: list[Piece], texts: list[Text]) -> tuple[Item, ...]:
        words = Words(self.ifs, self.line, None, self.globs)
        for at, (piece, text) in enumerate(zip(pieces, texts, strict=True)):
            if _ragged(piece):
                words.soft(text, last=at + 1 == len(pieces))
            else:
                words._add(Piece(text, piece.soft, piece.literal))
        return words.done()


def _over(text: str, at: int, chars: str) -> int:
    while at < len(text) and text[at] in chars:
        at += 1
    return at


def _ragged(piece: Piece) -> bool:
    return piece.soft and any(isinstance(part, Hole) and not part.solid for part in piece.text)


def _visible(piece: Piece) -> str:
    """The text as far as it can be a pattern."""
    if not (piece.soft or piece.literal):
        return "0"
    return "".join(part if isinstance(part, str) else "0" for part in piece.text)


def _start(pieces: list[Piece]) -> str:
    start = ""
    for piece in pieces:
        text = piece.text
        if not text:
            continue
        if not isinstance(text[0], str):
            break
        start += text[0]
        if len(text) > 1:
            break
    return start


def _before_glob(pieces: list[Piece]) -> str:
    start = ""
    for piece in pieces:
        if not piece.text:
            continue
        if not isinstance(piece.text[0], str):
            break
        text = piece.text[0]
        found = re.search(r"[*?\[]", text) if piece.soft or piece.literal else None
        start += text[: found.start()] if found else text
        if found or len(piece.text) > 1:
            break
    return start
