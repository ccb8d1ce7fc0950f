"""Where things stand in a script: every simple command, every assignment of a name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from knowngood.syntax.bash.nodes import Assignment, Function, Program, Simple, Word


@dataclass(frozen=True, slots=True)
class Site:
    """An assignment (or a word NAME=value, or the bare NAME after export) within its command."""

    command: Simple
    node: Assignment | Word
    kind: str  # "assigned", "declared", "prefix", "word", "named"
    in_function: bool

    @property
    def start(self) -> int:
        return self.node.start

    @property
    def end(self) -> int:
        return self.node.end


def simple_commands(program: Program) -> Iterator[tuple[Simple, bool]]:
    """Every simple command that has a place of its own in the text, and whether a function holds it."""
    for line in program.lines:
        yield from _inside(line, False)


def _inside(node: object, in_function: bool) -> Iterator[tuple[Simple, bool]]:
    if isinstance(node, tuple):
        for part in node:
            yield from _inside(part, in_function)
    elif is_dataclass(node):
        if isinstance(node, Simple):
            yield node, in_function
        in_function = in_function or isinstance(node, Function)
        for field in fields(node):
            yield from _inside(getattr(node, field.name), in_function)


_DECLARING = ("export", "declare", "typeset", "local", "readonly")
# Programs that take NAME=value among their words, by the option that stands before it.
_TAKE_NAMES = {
    "env": "", "sudo": "", "docker": "-e", "podman": "-e", "nerdctl": "-e", "mpirun": "-x", "mpiexec": "-x",
    "systemd-run": "-E",
}  # fmt: skip


def sites(program: Program, name: str) -> list[Site]:
    """Every place where the name is given a value or exported, in the order of the text."""
    found: list[Site] = []
    for command, in_function in simple_commands(program):
        words = command.words
        first = words[0].bare if words and isinstance(words[0], Word) else None
        declares = first in _DECLARING
        for assignment in command.assignments:
            if assignment.name == name:
                kind = "prefix" if words else "assigned"
                found.append(Site(command, assignment, kind, in_function))
        for at, word in enumerate(words):
            if isinstance(word, Assignment):
                if word.name == name:
                    found.append(Site(command, word, "declared", in_function))
            elif declares and at and word.literal == name:
                found.append(Site(command, word, "named", in_function))
            elif _gives(command, at, name):
                found.append(Site(command, word, "word", in_function))
    return sorted(found, key=lambda site: site.start)


def _gives(command: Simple, at: int, name: str) -> bool:
    """Whether a word of a command is NAME=value for what it runs."""
    word = command.words[at]
    text = word.parts[0] if isinstance(word, Word) and word.parts else None
    starts = getattr(text, "text", "")
    if not starts.startswith(name + "="):
        return False
    before = [w.bare if isinstance(w, Word) else None for w in command.words[:at]]
    for program, option in _TAKE_NAMES.items():
        if program in before and (not option or before[-1] in (option, "--env", "--setenv")):
            return True
    return bool(before) and before[0] in _DECLARING
