"""ExecStart= and its like: prefixes, words, specifiers, and variables.

Source: systemd.service(5), "Command Lines"; src/core/load-fragment.c (config_parse_exec) and
src/basic/env-util.c (replace_env_argv).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from knowngood.model import Known, Reading, Unknown, Value
from knowngood.syntax.argv import Partial
from knowngood.syntax.systemd.exec_text import RawWord, read_commands
from knowngood.syntax.systemd.names import UnitName
from knowngood.syntax.systemd.specifiers import expander
from knowngood.syntax.systemd.text import Assignment
from knowngood.syntax.systemd.wordlists import text_of
from knowngood.syntax.systemd.words import Style
from knowngood.syntax.systemd.words import words as split_words

_SPLIT = Style(unquote=True, lenient_ends=True)
_VARIABLE = re.compile(r"\$(?:\{([^}:]*)\}|(\$))")


@dataclass(frozen=True, slots=True)
class ExecCommand:
    """One command. `argv` are the words that the process starts with; a `Partial` for what may be several.

    `program` is what is executed, `prefixes` are the marks before it (`-`, `@`, `:`, `+`, `!`, `!!`).
    `words` are argv before variables are expanded.
    """

    argv: tuple[Reading, ...]
    program: Reading
    prefixes: str
    line: int
    path: str
    words: tuple[Reading, ...] = ()


def commands(assignment: Assignment, unit: UnitName, env: Mapping[str, Reading]) -> Iterator[ExecCommand]:
    """The commands of one assignment: mostly one, more with a lone ; between them."""
    for raw in read_commands(assignment.text, expander(unit)).commands:
        words = tuple(_reading(word, assignment) for word in raw.words)
        argv = words
        if ":" not in raw.marks:
            argv = tuple(each for word in words for each in _with_variables(word, env))
        program = _reading(raw.program, assignment)
        yield ExecCommand(argv, program, raw.marks, program.line, assignment.path, words)


def _reading(word: RawWord, assignment: Assignment) -> Reading:
    value: Value = Unknown(word.unknown) if word.unknown else Known(word.text)
    return Reading(value, assignment.line_at(word.start), assignment.path)


def _with_variables(reading: Reading, env: Mapping[str, Reading]) -> list[Reading]:
    """One word after the expansion of variables: `$X` alone splits at blanks, `${X}` never."""
    if not isinstance(reading.value, Known):
        return [reading]
    text = str(reading.value.value)
    if text.startswith("$") and text[1:2] not in ("{", "$"):
        return _split(text[1:], reading, env)
    unknown: list[str] = []

    def value_of(match: re.Match[str]) -> str:
        if match[2]:
            return "$"
        value = _value(match[1], env)
        if isinstance(value, Unknown):
            unknown.append(f"${{{match[1]}}} is not known: {value.reason}")
            return ""
        return value

    expanded = _VARIABLE.sub(value_of, text)
    value: Value = Unknown(unknown[0]) if unknown else Known(expanded)
    return [Reading(value, reading.line, reading.path)]


def _split(name: str, reading: Reading, env: Mapping[str, Reading]) -> list[Reading]:
    value = _value(name, env)
    if isinstance(value, Unknown):
        why = Unknown(f"${name} is not known: {value.reason}")
        return [Partial(why, reading.line, reading.path, may_split=True)]
    found = split_words(value.encode("utf-8", "surrogateescape"), _SPLIT)
    return [Reading(Known(text_of(word)), reading.line, reading.path) for word in found]


def _value(name: str, env: Mapping[str, Reading]) -> str | Unknown:
    """A variable's text; "" for one that is not set."""
    if not name or name not in env:
        return ""
    value = env[name].value
    if isinstance(value, Unknown):
        return value
    return str(value.value) if isinstance(value, Known) else ""


def shown_commands(text: str) -> list[tuple[str, bool]]:
    """Canonical commands as `systemctl show` prints their words, and whether a `-` marks each."""
    found = read_commands(text, expander(UnitName.of(""))).commands
    return [(" ".join(word.text for word in command.words), "-" in command.marks) for command in found]
