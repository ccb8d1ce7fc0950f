"""A command line as flags and values: the words of a launch, or of a process, read as argparse reads them.

Words come in as Readings of Known text. A word that is not known is a Reading of Unknown: one word exactly.
Where a text says less than that, the word is a `Partial`, which tells what is known of it all the same.

The rules are argparse's (https://docs.python.org/3/library/argparse.html): a word that begins with a dash is
a flag unless it is a negative number or a lone dash; `--a=b` is `--a b`; of several occurrences the last
wins; after `--` all words are positional.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal, TypeAlias

from knowngood.model import ABSENT, Known, Occurrences, Reading, Unknown

Shape: TypeAlias = Literal["bare", "one", "many", "repeat"]

# argparse's own pattern for "a value, not a flag", widened by exponents and underscores
_NEGATIVE_NUMBER = re.compile(r"-\.?\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?")
_MOST_SCENARIOS = 64


@dataclass(frozen=True, slots=True)
class Partial(Reading):
    """Words that are known in part; `value` is always Unknown.

    `start`: text that the (first) word is known to begin with: `--port=` of `--port="$1"`.
    `may_split`: it stands for any number of words, none included (but at least one where `start` is given).
    `choices`: when not None, the words it stands for are one of these sequences.
    `default`: when the caller gives nothing, it stands for the first choice, or for no words without choices.
    """

    start: str = ""
    may_split: bool = False
    choices: tuple[tuple[Reading, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Arg:
    """A flag as it is written: `flag` without `=value`; `value` is None for a flag that no word follows.

    `more` are the further words up to the next flag. Only the server knows whether they are the flag's
    (`--cuda-graph-bs 1 2 4`), so they stand among the positionals too.
    """

    flag: str
    value: Reading | None
    line: int
    more: tuple[Reading, ...] = ()


def parse_args(words: Sequence[Reading]) -> tuple[tuple[Arg, ...], tuple[Reading, ...]]:
    """The words after a program's name as (flags, positionals), in their order.

    A flag takes the word that follows it as its value unless that one is a flag too; what takes none by
    itself (`--verbose model`) can't be told from the text. Choices count as their first when they are a
    default; else as one unknown positional.
    """
    args: list[Arg] = []
    positionals: list[Reading] = []
    words = list(_presumed(words))
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if _text(word) == "--":
            positionals += words[at:]
            break
        name, value = _split_flag(word)
        if name is None:
            positionals.append(word)
            continue
        following = _values_from(words, at)
        if value is None and following:
            value = following[0]
            at += 1
            following = following[1:]
        args.append(Arg(name, value, word.line, tuple(following)))
    return tuple(args), tuple(positionals)


def flag_value(
    words: Sequence[Reading], names: Sequence[str], shape: Shape, *, underscores: bool = True
) -> Reading:
    """What a flag is given as: Known(Occurrences), Absent, or Unknown with the reason.

    `names` are the flag and its aliases, as `--tp`. The shape is the one wanted of it: a bare flag takes no
    words, `one` takes one, `many` all up to the next flag; `repeat` takes one and keeps every occurrence.
    An occurrence that lacks its word has none: ((),). With `underscores`, --foo_bar is --foo-bar.
    A word that is not known can be the flag itself, unless it directly follows another flag as its value.
    """
    wanted = frozenset(_normal(name, underscores) for name in names)
    scan = _Scan(wanted, shape, underscores)
    words = _without_bystanders(words, scan)
    choosers = [word for word in words if isinstance(word, Partial) and word.choices]
    if prod(len(word.choices or ()) for word in choosers) > _MOST_SCENARIOS:
        return scan.read(words)
    readings = [scan.read(scenario) for scenario in _scenarios(words)]
    first = readings[0]
    if all(reading.value == first.value for reading in readings):
        return first if all(r.default == first.default for r in readings) else _as_default(first)
    if all(word.default for word in choosers):
        return _as_default(first)
    culprit = choosers[0]
    return Reading(Unknown("given under a condition"), culprit.line, culprit.path)


def _scenarios(words: Sequence[Reading]) -> Iterable[list[Reading]]:
    """Every way to take the choices, the presumed one first."""
    options = [
        word.choices if isinstance(word, Partial) and word.choices is not None else ((word,),)
        for word in words
    ]
    for taken in product(*options):
        yield [word for choice in taken for word in choice]


def _without_bystanders(words: Sequence[Reading], scan: _Scan) -> list[Reading]:
    """Leave out choices that can't touch the flag: other flags, with nothing after them to be swallowed."""
    kept: list[Reading] = []
    for word in reversed(words):
        if isinstance(word, Partial) and word.choices is not None:
            leads_on = not kept or _begins_with_flag(kept[-1])
            apart = all(not choice or _begins_with_flag(choice[0]) for choice in word.choices)
            named = any(scan.may_name(inner) for choice in word.choices for inner in choice)
            if leads_on and apart and not named:
                continue
        kept.append(word)
    return kept[::-1]


def _begins_with_flag(word: Reading) -> bool:
    if isinstance(word, Partial) and word.choices is not None:
        return all(bool(choice) and _begins_with_flag(choice[0]) for choice in word.choices)
    return _split_flag(word)[0] is not None


@dataclass(frozen=True, slots=True)
class _Scan:
    wanted: frozenset[str]
    shape: Shape
    underscores: bool

    def names(self, flag: str) -> bool:
        return _normal(flag, self.underscores) in self.wanted

    def may_name(self, word: Reading) -> bool:
        """Whether the word is the flag or, not being known, may turn out to be."""
        text = _text(word)
        flag, _ = _split_flag(word)
        if flag is not None:
            return self.names(flag)
        if text is not None:
            return text == "--"
        start = _normal(word.start, self.underscores) if isinstance(word, Partial) else ""
        return any(name.startswith(start) for name in self.wanted) or _splits(word)

    def read(self, words: Sequence[Reading]) -> Reading:
        """The flag in words without choices (any that are left count as unknown)."""
        found: list[tuple[Reading, ...]] = []
        where: Reading | None = None
        doubt: Reading | None = None
        presumed = False
        after_flag = False
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            if _text(word) == "--":
                break
            if _vanishes(word):
                presumed = True
                continue
            flag, value = _split_flag(word)
            if flag is None:
                if self.may_name(word) and not (after_flag and not _splits(word)):
                    doubt = word
                after_flag = False
                continue
            if self.names(flag):
                taken = (value,) if value is not None else self._take(words, at)
                found = [*found, taken] if self.shape == "repeat" else [taken]
                where, doubt = word, doubt if self.shape == "repeat" else None
                presumed = presumed and self.shape == "repeat"
                at += len(taken) if value is None else 0
            if _splits(word):
                doubt = word
            after_flag = value is None and not self.names(flag)
        return self._answer(found, where, doubt, presumed)

    def _take(self, words: Sequence[Reading], at: int) -> tuple[Reading, ...]:
        if self.shape == "bare":
            return ()
        values = _values_from(words, at)
        return tuple(values if self.shape == "many" else values[:1])

    def _answer(
        self, found: list[tuple[Reading, ...]], where: Reading | None, doubt: Reading | None, presumed: bool
    ) -> Reading:
        if doubt is not None and not (found and self.shape == "bare" and not found[-1]):
            return Reading(Unknown(f"other words may hold it: {_reason(doubt)}"), doubt.line, doubt.path)
        if where is None:
            return Reading(ABSENT, default=presumed)
        words = [word for occurrence in found for word in occurrence]
        unknown = next((word for word in words if isinstance(word.value, Unknown)), None)
        if unknown is not None:
            return Reading(Unknown(_reason(unknown)), unknown.line, unknown.path)
        texts = tuple(tuple(_text(word) or "" for word in occurrence) for occurrence in found)
        default = presumed or where.default or any(word.default for word in words)
        occurrences = Occurrences(texts, listed=self.shape == "many")
        return Reading(Known(occurrences), where.line, where.path, default)


def _text(word: Reading) -> str | None:
    return word.value.value if isinstance(word.value, Known) and isinstance(word.value.value, str) else None


def _reason(word: Reading) -> str:
    return word.value.reason if isinstance(word.value, Unknown) else ""


def _splits(word: Reading) -> bool:
    return isinstance(word, Partial) and word.may_split


def _vanishes(word: Reading) -> bool:
    """Words that only a caller would give."""
    return isinstance(word, Partial) and word.default and word.choices is None


def _presumed(words: Sequence[Reading]) -> Iterable[Reading]:
    """The words with each default taken: what stands there when the caller gives nothing."""
    for word in words:
        if isinstance(word, Partial) and word.default:
            yield from (_as_default(inner) for inner in (word.choices or ((),))[0])
        else:
            yield word


def _as_default(reading: Reading) -> Reading:
    return Reading(reading.value, reading.line, reading.path, True)


def _normal(flag: str, underscores: bool) -> str:
    return flag.replace("_", "-") if underscores and flag.startswith("--") else flag


def is_flag(text: str) -> bool:
    """Whether a word is a flag: it begins with a dash, and is no lone dash and no negative number."""
    return len(text) > 1 and text[0] == "-" and text != "--" and not _NEGATIVE_NUMBER.fullmatch(text)


def _split_flag(word: Reading) -> tuple[str | None, Reading | None]:
    """(flag, value) of `--a=b`; (flag, None) of `--a`; (None, None) of a word that may be none.

    A space before the first `=` makes it a value, as argparse has it: `-- a=b`, or JSON in odd quotes.
    """
    text = _text(word)
    if text is not None:
        if not is_flag(text):
            return None, None
        name, equals, value = text.partition("=")
        if " " in name:
            return None, None
        return name, Reading(Known(value), word.line, word.path, word.default) if equals else None
    start = word.start if isinstance(word, Partial) else ""
    name, equals, _ = start.partition("=")
    if equals and is_flag(start) and " " not in name:
        return name, Reading(word.value, word.line, word.path)
    return None, None


def _values_from(words: Sequence[Reading], at: int) -> list[Reading]:
    """The words from there up to the next flag; one that may stand for several ends them too."""
    values: list[Reading] = []
    for word in words[at:]:
        if _text(word) == "--" or _split_flag(word)[0] is not None or _vanishes(word):
            break
        values.append(word)
        if _splits(word):
            break
    return values
