"""Where a name is given a value in a script."""

from __future__ import annotations

from dataclasses import dataclass

from knowngood.syntax.bash.nodes import Assignment, Program, Simple, Word


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


_DECLARING = ("export", "declare", "typeset", "local", "readonly")
# Programs that take NAME=value among their words, by the option that stands before it.
_TAKE_NAMES = {
    "env": "", "sudo": "", "docker": "-e", "podman": "-e", "nerdctl": "-e", "mpirun": "-x", "mpiexec": "-x",
    "systemd-run": "-E",
}  # fmt: skip


def sites(program: Program, name: str) -> list[Site]:
    """Every place where the name is given a value or exported, in the order of the text."""
    found: list[Site] = []
    for command, in_function in program.commands:
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
