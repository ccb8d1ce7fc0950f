"""Remarks on a script, for people: what bash does with it that its writer may not have meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowngood.model import Unknown
from knowngood.syntax.argv import Partial
from knowngood.syntax.bash.launch import Launch, Lint, Script, pick_launch
from knowngood.syntax.bash.nodes import Assignment, Program, Simple, Word

_KNOB = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")


def lint_of(text: bytes, script: Script, program: Program, taints: list[tuple[str, int]]) -> tuple[Lint, ...]:
    """The remarks, by line. `taints` are the reasons for which variables became unknown."""
    source = text.decode("latin-1")
    found = [
        *_unread(script, program),
        *_carriage_returns(source),
        *_never_exported(source, program, script),
        *_set_twice(source, program),
        *_cut_short(program),
        *_without_exec(script),
        *_unquoted(script),
        *(
            Lint(line, "opaque", f"From here on variables may be anything: {reason}.")
            for reason, line in taints
        ),
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda lint: (lint.line, lint.code)))


def _unread(script: Script, program: Program) -> Iterator[Lint]:
    if program.error is not None:
        line, message = program.error
        yield Lint(line, "syntax", f"The script can't be read beyond this line: {message}.")
    elif script.unread is not None:
        yield Lint(
            script.unread[1], "unread", f"The script could not be followed to its end: {script.unread[0]}."
        )


def _carriage_returns(source: str) -> Iterator[Lint]:
    at = source.find("\r\n")
    if at >= 0:
        line = source.count("\n", 0, at) + 1
        yield Lint(line, "crlf", "The line ends in CR LF; bash takes the CR for a part of the last word.")


def _assignments(program: Program) -> Iterator[tuple[Simple, Assignment]]:
    for command, in_function in program.commands:
        if not in_function:
            for word in (*command.assignments, *command.words):
                if isinstance(word, Assignment):
                    yield command, word


def _never_exported(source: str, program: Program, script: Script) -> Iterator[Lint]:
    """A name in the form of a knob that is assigned, never exported and never used."""
    given = {name for launch in script.launches for name in launch.env}
    for command, node in _assignments(program):
        name = node.name
        if command.words or name in given or not _KNOB.fullmatch(name):
            continue
        # Used anywhere, as $NAME, in arithmetic, or as a word of export or read.
        if len(re.findall(rf"(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9_])", source)) == 1:
            message = f"{name} is assigned but neither exported nor used: no program gets it."
            yield Lint(node.line, "not-exported", message)


def _set_twice(source: str, program: Program) -> Iterator[Lint]:
    """The same knob exported twice in the script's own flow, nothing in between making use of it."""
    seen: dict[str, Assignment] = {}
    top = {item.start for line in program.lines for item in line.items}
    for command, node in _assignments(program):
        if command.start not in top or not command.words or node.append or node.index is not None:
            continue
        first = command.words[0]
        if not isinstance(first, Word) or first.bare != "export":
            continue
        earlier = seen.get(node.name)
        between = "" if earlier is None else source[earlier.end : node.end]
        if earlier is not None and not re.search(rf"\$\{{?[#!]?{node.name}\b", between):
            message = f"{node.name} is set here and again on line {node.line}; the last one counts."
            yield Lint(earlier.line, "set-twice", message)
        seen[node.name] = node


def _cut_short(program: Program) -> Iterator[Lint]:
    for command, _ in program.commands:
        first = command.words[0] if command.words else None
        if isinstance(first, Word) and (first.bare or "").startswith("-"):
            message = (
                "This line is a command of its own: the one before was ended by a comment or a blank line."
            )
            yield Lint(command.line, "cut-short", message)


def _without_exec(script: Script) -> Iterator[Lint]:
    picked = pick_launch(script, None)
    if isinstance(picked, Launch) and not picked.exec and not picked.background:
        message = "The server is started without exec: bash stays the main process, and signals stop at it."
        yield Lint(picked.line, "no-exec", message)


def _unquoted(script: Script) -> Iterator[Lint]:
    for launch in script.launches:
        for word in launch.argv[1:]:
            if isinstance(word, Partial) and word.may_split and not word.default and word.choices is None:
                reason = word.value.reason if isinstance(word.value, Unknown) else ""
                message = (
                    f"A word that is not known may be several, other flags among them: {reason}. Quote it."
                )
                yield Lint(word.line or launch.line, "unquoted", message)
