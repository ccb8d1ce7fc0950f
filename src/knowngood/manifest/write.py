"""Writing a manifest: plain structures → YAML that reads back as the same text values.

write_manifest([
    Line("version", 1),
    Line("serve_script", Block([
        Line("env", Block([
            Line("NCCL_DEBUG", "WARN", "line 12, confirmed by pid 4711"),
            Note("env SEED: left out: $RANDOM can't be read"),
        ])),
    ])),
])
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from knowngood.manifest.diagnostic import printable
from knowngood.manifest.fill import escaped
from knowngood.manifest.tree import is_word


@dataclass(frozen=True, slots=True)
class Block:
    """A map in lines of its own."""

    lines: Sequence[Line | Note]


@dataclass(frozen=True, slots=True)
class Blocks:
    """A list of maps, each in lines of its own."""

    blocks: Sequence[Block]


class HostData(str):
    """Text in which {host.NAME} is meant: host data of the inventory stands for it."""

    __slots__ = ()


# Text; true, or a number of the format itself, as in version: 1; a list in brackets; a map in braces.
Value: TypeAlias = "str | bool | int | Sequence[Value] | Mapping[str, Value] | Block | Blocks"


@dataclass(frozen=True, slots=True)
class Line:
    """A key, its value, and a comment beside it."""

    key: str
    value: Value
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A comment in a line of its own; an empty one is an empty line."""

    text: str = ""


# Characters with which YAML reads text without quotes as it stands, also within brackets and braces.
_PLAIN = re.compile(r"[A-Za-z0-9_/.+-](?:[A-Za-z0-9_/.+%@^()~=-]|:(?=[A-Za-z0-9_/.+-]))*")
_NUMBER = re.compile(r"[-+]?\.?[0-9].*")
# 010 is a number in some readings of YAML and text in others; quotes say that it is text.
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def write_manifest(lines: Sequence[Line | Note]) -> str:
    """The text of a manifest.

    Values are literal: where one looks like host data it is escaped. ValueError for what no manifest can
    hold: NUL and lone surrogates (bytes that are no UTF-8).
    """
    return "".join(f"{line}\n" for line in _block(lines, 0))


def can_hold(text: str) -> bool:
    """Whether a manifest can hold this text as a value."""
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


def _block(lines: Sequence[Line | Note], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for line in lines:
        if isinstance(line, Note):
            yield f"{indent}# {printable(line.text)}" if line.text else ""
        elif isinstance(line.value, Block):
            yield f"{indent}{_text(line.key)}:{_comment(line)}"
            yield from _block(line.value.lines, depth + 1)
        elif isinstance(line.value, Blocks):
            yield f"{indent}{_text(line.key)}:{_comment(line)}"
            for block in line.value.blocks:
                yield from _item(block, depth + 1)
        else:
            # Knobs may be numbers; a role's name may not, though it can be made of digits.
            value = _inline(line.value, numbers=depth > 0)
            yield f"{indent}{_text(line.key)}: {value}{_comment(line)}"


def _item(block: Block, depth: int) -> Iterator[str]:
    """A map as an item of a list: the first line carries the dash."""
    dash = "  " * depth + "- "
    for line in _block(block.lines, depth + 1):
        yield dash + line[len(dash) :] if dash else line
        dash = ""


def _comment(line: Line) -> str:
    return f"  # {printable(line.comment)}" if line.comment else ""


def _inline(value: Value, numbers: bool = True) -> str:
    if isinstance(value, str):
        return _text(value if isinstance(value, HostData) else escaped(value), numbers)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(key)}: {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_inline(item) for item in value) + "]"
    raise TypeError("a block can't stand within brackets or braces")


def _text(text: str, numbers: bool = True) -> str:
    """Text as a YAML scalar: without quotes where that is safe in every reading of YAML."""
    if not can_hold(text):
        raise ValueError("a manifest can't hold NUL, nor bytes that are no UTF-8")
    safe = _PLAIN.fullmatch(text) and not is_word(text) and text.strip("-.") and not _LEADING_ZERO.match(text)
    if safe and (numbers or not _NUMBER.match(text)):
        return text
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
