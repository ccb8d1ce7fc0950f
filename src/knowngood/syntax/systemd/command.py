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
from knowngood.syntax.systemd.names import UnitName
from knowngood.syntax.systemd.specifiers import UnknownSpecifierError, expand
from knowngood.syntax.systemd.text import Assignment
from knowngood.syntax.systemd.wordlists import command_words, text_of
from knowngood.syntax.systemd.words import Style, words

_PREFIXES = "-@:+!|"
_SPLIT = Style(unquote=True, lenient_ends=True)
_VARIABLE = re.compile(r"\$(?:\{([^}:]*)\}|(\$))")


@dataclass(frozen=True, slots=True)
class ExecCommand:
    """One command. `argv` are the words that the process starts with; a `Partial` for what may be several.

    `program` is what is executed, `prefixes` are the marks before it (`-`, `@`, `:`, `+`, `!`, `!!`, `|`).
    """

    argv: tuple[Reading, ...]
    program: Reading
    prefixes: str
    line: int
    path: str


def commands(assignment: Assignment, unit: UnitName, env: Mapping[str, Reading]) -> Iterator[ExecCommand]:
    """The commands of one assignment: mostly one, more with a lone ; between them. It must be readable."""
    found: list[Reading] = []
    for word in command_words(assignment.text):
        if word == ";":
            if found:
                yield _command(found, assignment, env)
            found = []
        elif isinstance(word, str):
            found.append(Reading(Known(";"), assignment.line, assignment.path))
        else:
            line = assignment.line_at(word.start)
            found.append(Reading(_expanded(text_of(word), unit), line, assignment.path))
    if found:
        yield _command(found, assignment, env)


def _expanded(text: str, unit: UnitName) -> Value:
    try:
        return Known(expand(text, unit))
    except UnknownSpecifierError as unknown:
        return Unknown(str(unknown))


def _command(found: list[Reading], assignment: Assignment, env: Mapping[str, Reading]) -> ExecCommand:
    first, *rest = found
    marks, program = _without_prefixes(first)
    argv = rest if "@" in marks else [program, *rest]
    if ":" not in marks:
        argv = [word for reading in argv for word in _with_variables(reading, env)]
    return ExecCommand(tuple(argv), program, marks, first.line, assignment.path)


def _without_prefixes(first: Reading) -> tuple[str, Reading]:
    """The marks before the program, and the program."""
    if not isinstance(first.value, Known):
        return "", first
    text = str(first.value.value)
    at = 0
    while at < len(text) and text[at] in _PREFIXES:
        at += 1
    return text[:at], Reading(Known(text[at:]), first.line, first.path)


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
    found = words(value.encode("utf-8", "surrogateescape"), _SPLIT)
    return [Reading(Known(text_of(word)), reading.line, reading.path) for word in found]


def _value(name: str, env: Mapping[str, Reading]) -> str | Unknown:
    """A variable's text; "" for one that is not set."""
    if not name or name not in env:
        return ""
    value = env[name].value
    if isinstance(value, Unknown):
        return value
    return str(value.value) if isinstance(value, Known) else ""


def shown_command(command: str, unit: UnitName) -> tuple[str, bool]:
    """A command as `systemctl show` prints its words, with blanks between them; and whether `-` marks it."""
    found = [
        _expanded(text_of(word), unit) if not isinstance(word, str) else Known(";")
        for word in command_words(command)
    ]
    texts = [str(value.value) if isinstance(value, Known) else "" for value in found]
    marks, program = _without_prefixes(Reading(Known(texts[0] if texts else "")))
    first = [] if "@" in marks else [str(program.value.value) if isinstance(program.value, Known) else ""]
    return " ".join([*first, *texts[1:]]), "-" in marks
