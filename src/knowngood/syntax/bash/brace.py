"""Brace expansion: `{a,b}` and `{1..4}`, done on a word's parts before any other expansion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from knowngood.syntax.bash.nodes import Literal, Part, Word

_RANGE = re.compile(r"(?:(-?\d{1,9})\.\.(-?\d{1,9})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d{1,6}))?", re.ASCII)
_MOST = 1000

# A word taken apart: characters that may be syntax stand alone, everything else is a part.
_Atom = str | Part


class TooMany(Exception):
    """More words than anyone writes by hand."""


def expand_braces(word: Word) -> list[Word]:
    """The words that a word becomes; itself, where nothing is to be expanded. TooMany past a thousand."""
    if not any(isinstance(p, Literal) and not p.quoted and "{" in p.text for p in word.parts):
        return [word]
    expanded = list(_expand(list(_atoms(word.parts)), 0))
    if len(expanded) == 1 and expanded[0] == list(_atoms(word.parts)):
        return [word]
    return [Word(tuple(_parts(atoms)), word.start, word.end, word.line) for atoms in expanded]


def _atoms(parts: tuple[Part, ...]) -> Iterator[_Atom]:
    for part in parts:
        if isinstance(part, Literal) and not part.quoted:
            yield from part.text
        else:
            yield part


def _parts(atoms: list[_Atom]) -> Iterator[Part]:
    run = ""
    for atom in atoms:
        if isinstance(atom, str):
            run += atom
            continue
        if run:
            yield Literal(run, False)
        run = ""
        yield atom
    if run:
        yield Literal(run, False)


def _expand(atoms: list[_Atom], depth: int) -> list[list[_Atom]]:
    if depth > 20:
        raise TooMany
    at = 0
    while "{" in atoms[at:]:
        opened = atoms.index("{", at)
        closed, commas = _close(atoms, opened)
        if closed is not None:
            inner = atoms[opened + 1 : closed]
            middles = _alternatives(inner, [c - opened - 1 for c in commas], depth)
            if middles is not None:
                tails = _expand(atoms[closed + 1 :], depth + 1)
                if len(middles) * len(tails) > _MOST:
                    raise TooMany
                return [atoms[:opened] + middle + tail for middle in middles for tail in tails]
        at = opened + 1
    return [atoms]


def _close(atoms: list[_Atom], opened: int) -> tuple[int | None, list[int]]:
    """Where the brace closes, and the commas on its own level."""
    depth = 0
    commas: list[int] = []
    for at in range(opened, len(atoms)):
        if atoms[at] == "{":
            depth += 1
        elif atoms[at] == "}":
            depth -= 1
            if not depth:
                return at, commas
        elif atoms[at] == "," and depth == 1:
            commas.append(at)
    return None, commas


def _alternatives(inner: list[_Atom], commas: list[int], depth: int) -> list[list[_Atom]] | None:
    if commas:
        edges = [-1, *commas, len(inner)]
        pieces = [inner[left + 1 : right] for left, right in pairwise(edges)]
        return [expanded for piece in pieces for expanded in _expand(piece, depth + 1)]
    if not all(isinstance(atom, str) for atom in inner):
        return None
    texts = _range("".join(str(atom) for atom in inner))
    return None if texts is None else [list(text) for text in texts]


def _range(text: str) -> list[str] | None:
    found = _RANGE.fullmatch(text)
    if not found:
        return None
    letters = found.group(3) is not None
    first, last = (ord(found[3]), ord(found[4])) if letters else (int(found[1]), int(found[2]))
    step = abs(int(found[5] or 1)) or 1
    if abs(last - first) // step >= _MOST:
        raise TooMany
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    if letters:
        return [chr(number) for number in numbers]
    padded = any(re.match(r"-?0\d", found[side]) for side in (1, 2))
    width = max(len(found[1]), len(found[2])) if padded else 0
    return [f"{number:0{width}d}" for number in numbers]
