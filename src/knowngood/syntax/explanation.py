"""A serve script or a unit, explained: what each program it launches would get."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from knowngood.model import Reading
from knowngood.syntax import bash, systemd
from knowngood.syntax.argv import Arg, parse_args
from knowngood.syntax.bash.launch import shown_word

_SECTION = re.compile(rb"^[ \t]*\[[A-Za-z-]+\][ \t]*\r?$", re.MULTILINE)
_UNIT_SUFFIXES = (".service", ".conf", ".socket", ".timer")


@dataclass(frozen=True, slots=True)
class Explained:
    """One launch. `env_open` says why names that are not in `env` can't be told."""

    argv0: str
    exec: bool
    line: int
    env: Mapping[str, Reading]
    args: Sequence[Arg]
    positionals: Sequence[Reading]
    env_open: str | None = None
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A lint of either language."""

    line: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """`unread`, with its line: why the text could not be read to its end."""

    kind: Literal["script", "unit"]
    launches: tuple[Explained, ...]
    lint: tuple[Remark, ...]
    unread: tuple[str, int] | None = None


def kind_of(name: str, text: bytes) -> Literal["script", "unit"]:
    """A unit by its name's suffix or its [Section] lines; else a script. A #! line decides for a script."""
    if text.startswith(b"#!"):
        return "script"
    return "unit" if name.endswith(_UNIT_SUFFIXES) or _SECTION.search(text) else "script"


def explain(name: str, text: bytes) -> Explanation:
    """Explain a text by the name of its file. Nothing is known of its caller, and nothing is run."""
    return _unit(name, text) if kind_of(name, text) == "unit" else _script(name, text)


def _script(name: str, text: bytes) -> Explanation:
    script = bash.read_script(text, path=name)
    launches = []
    for launch in script.launches:
        args, positionals = parse_args(launch.argv[1:])
        launches.append(
            Explained(
                argv0=shown_word(launch.argv[0]) if launch.argv else "",
                exec=launch.exec,
                line=launch.line,
                env=launch.env,
                args=args,
                positionals=positionals,
                env_open=launch.env_open,
                conditional=launch.conditional,
            )
        )
    lint = [Remark(remark.line, remark.code, remark.message) for remark in script.lint]
    lint += [Remark(line, "syntax", "bash would not understand this line") for line in script.broken]
    return Explanation("script", tuple(launches), _sorted(lint), script.unread)


def _unit(name: str, text: bytes) -> Explanation:
    unit = systemd.read_unit(name.rpartition("/")[2], (name, text), [])
    env = unit.environment(None)  # nothing of this machine is read: the files belong to some node
    launches = []
    for command in unit.exec_start(env):
        args, positionals = parse_args(command.argv[1:])
        line = command.argv[0].line
        launches.append(Explained(shown_word(command.argv[0]), True, line, env, args, positionals, env.open))
    lint = [Remark(remark.line, remark.code, remark.message) for remark in unit.lint]
    return Explanation("unit", tuple(launches), _sorted(lint))


def _sorted(lint: list[Remark]) -> tuple[Remark, ...]:
    return tuple(sorted(lint, key=lambda remark: remark.line))
