"""A unified diff of two texts that shows no secret.

Both texts are masked line by line before they are compared: declared secrets by their texts, others by the
names they are given to or by the shape of well-known tokens. What can't be masked with certainty hides its
whole line.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence

from knowngood.syntax.secret_texts import holds_secret, secret_lines
from knowngood.syntax.secrets import MASK, looks_secret, mask

CONTEXT = 2  # lines
_GIVEN = re.compile(
    r"""(?P<name>-{0,2}[A-Za-z0-9_.-]*[A-Za-z0-9])(?P<joint>["']?(?:\s*(?::=|=>|[=:])\s*|\s+))"""
    r"""(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s;,&}"']+)"""
)
_REFERENCE = "$s"  # holds no secret itself, as MASK would in the eyes of holds_secret
_PEM_BEGIN, _PEM_END = "-----BEGIN ", "-----END "


def masked_diff(old: bytes | None, new: bytes | None, path: str, secrets: Sequence[str]) -> tuple[str, ...]:
    """The diff's lines, without line ends; none where nothing differs that can be shown.

    None is no file. Bytes that are no UTF-8 come as surrogate escapes (PEP 383), not fit for a screen.
    """
    before, after = (list(_masked(data or b"", path, secrets)) for data in (old, new))
    from_name, to_name = ("/dev/null" if data is None else path for data in (old, new))
    return tuple(difflib.unified_diff(before, after, from_name, to_name, n=CONTEXT, lineterm=""))


def _masked(data: bytes, path: str, secrets: Sequence[str]) -> Iterator[str]:
    suspects = {found.line for found in secret_lines(data, path)}
    text = mask(data.decode("utf-8", "surrogateescape"), secrets)
    in_key = False
    for number, line in enumerate(_lines(text), 1):
        in_key = in_key or (_PEM_BEGIN in line and "PRIVATE KEY" in line)
        if in_key:
            yield MASK
            in_key = _PEM_END not in line
        else:
            yield _masked_line(line, suspected=number in suspects)


def _lines(text: str) -> Iterable[str]:
    """Lines as `secret_lines` counts them; a file's last line end makes no empty line after it."""
    return text.removesuffix("\n").split("\n") if text else ()


def _masked_line(line: str, *, suspected: bool) -> str:
    masked = _without_values(line)
    if masked == line and suspected:
        return MASK
    return MASK if holds_secret(masked.replace(MASK, _REFERENCE)) else masked


def _without_values(line: str) -> str:
    """The line without what is given to secret-looking names. One can be another's value: `export KEY=x`."""
    at = 0
    while given := _GIVEN.search(line, at):
        at = given.end("name")
        if _gives_secret(given):
            line = line[: given.start("value")] + MASK + line[given.end("value") :]
            at = given.start("value") + len(MASK)
    return line


def _gives_secret(given: re.Match[str]) -> bool:
    name, joint = given["name"], given["joint"]
    if not looks_secret(name.lstrip("-")) or given["value"].startswith("$"):
        return False
    # Without a joint only a flag gives: "the key is" in a comment gives nothing to anything.
    return not joint.isspace() or name.startswith("-")
