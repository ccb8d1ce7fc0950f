"""Command substitutions whose output can be worked out, because nothing but their words makes it.

echo, printf, `cat` of a here-document, dirname, basename, seq, and the usual way to a script's own directory.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.fields import Field, Items, known_words, presumed_fields
from knowngood.syntax.bash.nodes import AndOr, Command, CommandOutput, Redirection, Sequence, Simple, Word
from knowngood.syntax.bash.printf import echo
from knowngood.syntax.bash.text import Text, lift, plain, unknown

if TYPE_CHECKING:
    from knowngood.syntax.bash.run import Runner


def pure_output(runner: Runner, part: CommandOutput) -> Text | None:
    """The output without its trailing newlines; None where the command is not one to foresee."""
    if part.body is None:
        return None
    directory = _own_directory(runner, part.body)
    if directory is not None:
        return directory
    if len(part.body.items) != 1 or part.body.items[0].background:
        return None
    node = part.body.items[0].command
    if not isinstance(node, Simple) or node.assignments:
        return None
    words = [word for word in node.words if isinstance(word, Word)]
    name = words[0].bare if words else None
    if name is None or name in runner.state.functions or len(words) != len(node.words):
        return None
    if name == "cat" and len(words) == 1 and len(node.redirections) == 1:
        content = runner.here(node)
        return None if content is None else lift(_trimmed, content)
    if not all(_discards_errors(redirection) for redirection in node.redirections):
        return None
    items = runner.fields(words[1:])
    if name == "printf":
        return lift(_trimmed, runner.printed(items, node.line)) if known_words(items[:1]) != ("-v",) else None
    writer = _WRITERS.get(name)
    return None if writer is None else _written(writer, items, f"the output of {name}", node.line)


def _discards_errors(redirection: Redirection) -> bool:
    target = redirection.target
    return redirection.descriptor == "2" and target is not None and target.bare == "/dev/null"


def _written(
    writer: Callable[[tuple[str, ...]], str | None], items: Items, reason: str, line: int
) -> Text | None:
    said = known_words(items)
    if said is not None:
        text = writer(said)
        return None if text is None else plain(_trimmed(text))
    if len(items) == 1 and isinstance(items[0], Field):
        return lift(lambda word: _trimmed_or_none(writer((word,))), items[0].text)
    told = presumed_fields(items)
    expected = None if told is None else [texts.presumed(field.text) for field in told]
    presumed = None
    if expected is not None and None not in expected:
        presumed = _trimmed_or_none(writer(tuple(word or "" for word in expected)))
    return unknown(reason, line, presumed=presumed)


def _trimmed(text: str) -> str:
    return text.rstrip("\n")


def _trimmed_or_none(text: str | None) -> str | None:
    return None if text is None else _trimmed(text)


def _dirname(words: tuple[str, ...]) -> str | None:
    words = words[1:] if words[:1] == ("--",) else words
    if len(words) != 1 or words[0].startswith("-"):
        return None
    path = words[0].rstrip("/")
    if not path:
        return "/" if words[0] else "."
    head = path.rpartition("/")[0]
    return (head.rstrip("/") or "/") if "/" in path else "."


def _basename(words: tuple[str, ...]) -> str | None:
    words = words[1:] if words[:1] == ("--",) else words
    if len(words) not in (1, 2) or words[0].startswith("-"):
        return None
    name = words[0].rstrip("/").rpartition("/")[2] or ("/" if words[0] else "")
    if len(words) == 2 and words[1] and name.endswith(words[1]) and name != words[1]:
        name = name[: -len(words[1])]
    return name


def _seq(words: tuple[str, ...]) -> str | None:
    separator = "\n"
    if words and words[0].startswith("-s"):
        separator = words[0][2:] or (words[1] if len(words) > 1 else "")
        words = words[1:] if words[0][2:] else words[2:]
    if not 1 <= len(words) <= 3 or not all(
        re.fullmatch(r"-?(0|[1-9]\d{0,6})", word, re.ASCII) for word in words
    ):
        return None
    numbers = [int(word) for word in words]
    first, step, last = (1, 1, numbers[0]) if len(words) == 1 else (numbers[0], 1, numbers[-1])
    if len(words) == 3:
        step = numbers[1]
    if step == 0 or abs(last - first) > 1000 * abs(step):
        return None
    numbers = list(range(first, last + (1 if step > 0 else -1), step))
    return separator.join(str(number) for number in numbers) + ("\n" if numbers else "")


_WRITERS: dict[str, Callable[[tuple[str, ...]], str | None]] = {
    "echo": echo, "dirname": _dirname, "basename": _basename, "seq": _seq,
}  # fmt: skip


def _own_directory(runner: Runner, body: Sequence) -> Text | None:
    """`cd "$(dirname "$0")" && pwd`: a directory by its absolute path is what pwd says of it."""
    commands = [item.command for item in body.items]
    if len(commands) == 1 and isinstance(commands[0], AndOr) and commands[0].operator == "&&":
        commands = [commands[0].left, commands[0].right]
    if len(commands) != 2:
        return None
    there = _cd_target(commands[0])
    if there is None or not _is_pwd(commands[1]) or runner.state.functions.keys() & {"cd", "pwd"}:
        return None
    path = texts.known(runner.text(there))
    # With a `..` in it the answer depends on symbolic links.
    if path is None or not path.startswith("/") or ".." in path.split("/"):
        return None
    return plain(posixpath.normpath(path))


def _cd_target(node: Command) -> Word | None:
    if not isinstance(node, Simple) or node.assignments:
        return None
    words = [word for word in node.words if isinstance(word, Word)]
    if len(words) == 3 and words[1].bare in ("--", "-P"):
        return words[2] if words[0].bare == "cd" and words[1].bare == "--" else None
    return words[1] if len(words) == 2 and words[0].bare == "cd" else None


def _is_pwd(node: Command) -> bool:
    return (
        isinstance(node, Simple)
        and len(node.words) == 1
        and isinstance(node.words[0], Word)
        and (node.words[0].bare == "pwd")
    )
