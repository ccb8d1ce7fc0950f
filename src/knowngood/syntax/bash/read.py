"""Reading a script: text in, what it launches out. Nothing is ever run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from knowngood.model import Value
from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.fields import Field, Gap, Items
from knowngood.syntax.bash.launch import Script
from knowngood.syntax.bash.lint import lint_of
from knowngood.syntax.bash.nodes import Program
from knowngood.syntax.bash.parse import parse
from knowngood.syntax.bash.run import Runner
from knowngood.syntax.bash.shell import Died, Doubt, Exhausted
from knowngood.syntax.bash.state import Caller, to_latin

LARGEST = 256 << 10  # bytes


def read_script(
    text: bytes,
    *,
    path: str = "",
    caller: Mapping[str, Value] | None = None,
    files: Mapping[str, bytes] | None = None,
    args: Sequence[str] | None = None,
) -> Script:
    """What a bash script launches, and with which words and environment.

    `caller` is the environment that the script is started with: a mapping is all of it (its values may be
    Unknown), None that nothing is known of it. `files` are the texts of files that it may source, by absolute
    path. `args` are its arguments, None when they are not known. Never raises on a text, whatever it holds.

    A value that is Known is what bash would give. One that is Known with `default` is so when the caller
    gives nothing: no environment, no arguments.
    """
    return run(text, path=path, caller=caller, files=files, args=args)[0]


def run(
    text: bytes,
    *,
    path: str = "",
    caller: Mapping[str, Value] | None = None,
    files: Mapping[str, bytes] | None = None,
    args: Sequence[str] | None = None,
) -> tuple[Script, Runner, Program]:
    """The same, with the reading itself for those who edit."""
    runner = Runner(Caller(caller), _positional(args), path, files or {})
    if len(text) > LARGEST:
        program = Program((), error=(1, "it is larger than a script would be"))
    else:
        program = parse(text.decode("latin-1"))
    try:
        runner.program(program)
    except Died:
        pass
    except Doubt as doubt:
        runner.unread = (doubt.reason, doubt.line)
    except (Exhausted, RecursionError):
        runner.unread = ("it takes too many steps to follow", 0)
    broken = () if program.error is None else (program.error[0],)
    script = Script(tuple(runner.launches), (), broken, runner.unread)
    return (
        Script(script.launches, lint_of(text, script, program, runner.taints), broken, runner.unread),
        runner,
        program,
    )


def _positional(args: Sequence[str] | None) -> Items:
    if args is None:
        return (Gap("the script's arguments are the caller's", 0, presumed=()),)
    return tuple(Field(texts.plain(to_latin(arg)), 0) for arg in args)
