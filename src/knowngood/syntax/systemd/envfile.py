"""Environment files, in systemd's own dialect: quotes and backslashes as in a shell, and nothing else of it.

No `export`, no expansion, no comment behind a value. Source: systemd.exec(5), EnvironmentFile=, and
src/basic/env-file.c of systemd 245 to 257.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from knowngood.syntax.systemd.envfile_scan import Raw, assignments
from knowngood.syntax.systemd.lint import LARGEST, MOST_REMARKS, Lint
from knowngood.syntax.systemd.utf8 import is_valid

VALID_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# Older systemds take of the control characters only tabs and line feeds in an environment's values.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_EXPORT = re.compile(rb"export[ \t]+[A-Za-z_][A-Za-z0-9_]*\Z")
_COMMENT_BEHIND = re.compile(rb"[ \t]#")
CONTROL_DISPUTED = "it holds a control character, which older systemds do not take"
_DISPUTED = "the comment above ends in a backslash, and systemd before 254 reads on"
_EXPANSION = re.compile(rb"(?<!\\)(?:\$[A-Za-z_{(]|`)")


@dataclass(frozen=True, slots=True)
class EnvEntry:
    """One assignment. `disputed` is why not every systemd from 245 to 257 reads it; "" where all do."""

    name: str
    value: str
    line: int
    disputed: str = ""


@dataclass(frozen=True, slots=True)
class EnvFile:
    """All assignments with a valid name, in the file's order (the last of a name counts).

    `refused` is why systemd takes nothing at all of the file: then a unit with it can't start, unless a `-`
    stands before the file's path. `unread` is why we did not read it.
    """

    entries: tuple[EnvEntry, ...]
    lint: tuple[Lint, ...]
    refused: Lint | None = None
    unread: Lint | None = None


def read_environment_file(data: bytes, path: str = "") -> EnvFile:
    """Read one file. Any bytes are taken."""
    if len(data) > LARGEST:
        unread = Lint(
            0, "too-large", "The file is larger than a list of variables would be: it was not read.", path
        )
        return EnvFile((), (unread,), unread=unread)
    if b"\0" in data:
        line = 1 + data.count(b"\n", 0, data.index(b"\0"))
        nul = Lint(line, "nul", "systemd refuses the whole file: there is a NUL byte in it.", path)
        return EnvFile((), (nul,), nul)
    entries: list[EnvEntry] = []
    lint: list[Lint] = []
    for raw, disputed in _both_readings(data):
        if not (is_valid(raw.name) and is_valid(raw.value)):
            refused = Lint(raw.line, "not-utf8", "systemd refuses the whole file: this is not UTF-8.", path)
            return EnvFile((), (*lint, refused), refused)
        if raw.equals and VALID_NAME.match(raw.name.decode()):
            value = raw.value.decode()
            why = disputed or (CONTROL_DISPUTED if CONTROL.search(value) else "")
            entries.append(EnvEntry(raw.name.decode(), value, raw.line, why))
        if len(lint) < MOST_REMARKS:
            lint += _remarks(raw, disputed, path)
    if b"\r\n" in data:
        line = 1 + data.count(b"\n", 0, data.index(b"\r\n"))
        message = "The lines end as on Windows: systemd takes that, a shell has a \\r in each value."
        lint.append(Lint(line, "crlf", message, path))
    return EnvFile(tuple(entries), tuple(lint))


def parse_environment_file(data: bytes) -> tuple[list[tuple[str, str, int]], tuple[Lint, ...]]:
    """(name, value, line) of every assignment, and remarks; nothing where systemd refuses the file."""
    file = read_environment_file(data)
    return [(entry.name, entry.value, entry.line) for entry in file.entries], file.lint


def _both_readings(data: bytes) -> Iterator[tuple[Raw, str]]:
    """The assignments as systemd reads them, and which of them depend on its version.

    Until 253 a backslash at the end of a comment made the next line part of the comment.
    """
    newer = list(assignments(data, comments_go_on=False))
    if b"\\\n" not in data and b"\\\r" not in data:
        yield from ((raw, "") for raw in newer)
        return
    older = list(assignments(data, comments_go_on=True))
    agreed = set(newer) & set(older)
    for raw in sorted({*newer, *older}, key=lambda raw: raw.line):
        yield raw, "" if raw in agreed else _DISPUTED


def _remarks(raw: Raw, disputed: str, path: str) -> Iterator[Lint]:
    name = raw.name.decode("utf-8", "replace")
    if not raw.equals:
        yield Lint(raw.line, "no-assignment", "There is no =: systemd ignores this line.", path)
    elif _EXPORT.match(raw.name):
        message = f"systemd knows no export: it ignores this line, and {name.split()[-1]} is not set by it."
        yield Lint(raw.line, "export", message, path)
    elif not VALID_NAME.match(name):
        yield Lint(raw.line, "bad-name", "This is no variable's name: systemd ignores this line.", path)
    else:
        if _COMMENT_BEHIND.search(raw.unquoted):
            message = f"A # behind a value begins no comment: it is part of the value of {name}."
            yield Lint(raw.line, "inline-comment", message, path)
        if _EXPANSION.search(raw.expandable):
            message = f"systemd expands nothing here: the $ stands in the value of {name} as it is."
            yield Lint(raw.line, "no-expansion", message, path)
    if disputed:
        yield Lint(raw.line, "comment-goes-on", f"Not every systemd reads this line: {disputed}.", path)
