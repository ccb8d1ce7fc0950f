"""Command substitutions whose output can be worked out: echo, printf, and `cat` of a here-document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.fields import known_words, presumed_fields
from knowngood.syntax.bash.nodes import CommandOutput, Simple, Word
from knowngood.syntax.bash.printf import echo
from knowngood.syntax.bash.text import Text, lift, plain, unknown

if TYPE_CHECKING:
    from knowngood.syntax.bash.run import Runner


def pure_output(runner: Runner, part: CommandOutput) -> Text | None:
    """The output without its trailing newlines; None where the command is not one of ours to foresee."""
    if part.body is None or len(part.body.items) != 1:
        return None
    item = part.body.items[0]
    node = item.command
    if not isinstance(node, Simple) or item.background or node.assignments:
        return None
    words = [word for word in node.words if isinstance(word, Word)]
    name = words[0].bare if words else None
    if name in runner.state.functions or len(words) != len(node.words):
        return None
    if name == "cat" and len(words) == 1 and len(node.redirections) == 1:
        content = runner._here(node)
        return None if content is None else lift(_trimmed, content)
    if node.redirections or name not in ("echo", "printf"):
        return None
    items = runner.fields(words)
    if name == "printf":
        return (
            lift(_trimmed, runner.printed(items[1:], node.line))
            if known_words(items[1:2]) != ("-v",)
            else None
        )
    said = known_words(items[1:])
    if said is not None:
        text = echo(said)
        return None if text is None else plain(_trimmed(text))
    return _presumed_echo(runner, items[1:], node.line)


def _presumed_echo(runner: Runner, items: tuple, line: int) -> Text:  # type: ignore[type-arg]
    told = presumed_fields(items)
    expected = None if told is None else [texts.presumed(field.text) for field in told]
    presumed = None
    if expected is not None and None not in expected:
        said = echo(tuple(word or "" for word in expected))
        presumed = None if said is None else _trimmed(said)
    return unknown("the output of echo", line, presumed=presumed)


def _trimmed(text: str) -> str:
    return text.rstrip("\n")
