"""Secrets that stand in texts: in a value of one line, or in the lines of a whole file.

A secret is told by the name it is given to (see `secrets`), by the shape of well-known tokens, or by its
place in a URL. A reference ($TOKEN, $(cat /run/token)) is none, for it holds no secret itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from knowngood.syntax.secrets import looks_secret


class SecretLine(NamedTuple):
    """A line, counted from 1, that seems to hold a secret, and the name it is given to."""

    line: int
    name: str


# Tokens of Hugging Face, OpenAI, GitHub, AWS, Slack and GitLab; JWT (RFC 7519), and keys in PEM (RFC 7468).
_TOKENS = re.compile(
    r"\bhf_[A-Za-z0-9]{12,}|\bsk-[A-Za-z0-9_-]{12,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bglpat-[\w-]{16,}"
    r"|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_URL = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
_VALUE = r"""("(?:[^"\\]|\\.)*"|'[^']*'|[^\s;,&}"']+)"""
# NAME=value, name: value, "name": value; --flag value; Bearer value; redis's own words for its passwords.
_NAMED = re.compile(
    r"""(?P<name>[A-Za-z0-9_.-]*[A-Za-z0-9_])["']?(?:\s*(?::=|=>|[=:])\s*|\s+)""" + _VALUE, re.MULTILINE
)
_JOINED = re.compile(r"""["']?\s*(?::=|=>|[=:])\s*\Z""")
_SPACED = re.compile(r"--?[A-Za-z]|bearer\Z|requirepass\Z|masterauth\Z", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(?:#|;|//|\*)")
_ALWAYS = ("requirepass", "masterauth")
# Names of which code is full (a cache's key, a query's key) are told by their value's quotes there.
_STRONG = re.compile(
    r"(?i)(?:^|[^a-z0-9])(?:secrets?|passw(?:or)?d|passwort|passphrase|pwd|credentials?|apikey|token|bearer"
    r"|(?:api|auth|access|private|signing|encryption|secret)[_-]?key)(?:$|[^a-z0-9])"
    r"|requirepass|masterauth|(?:Token|Secret|Password|Passphrase|ApiKey|AccessKey|PrivateKey)$"
)
_NO_SECRETS = frozenset(
    "true false yes no on off none null nil undefined required optional default auto str int bytes".split()
)
# Text in single quotes holds no references; it stands here to be passed over.
_REFERENCE = re.compile(
    r"'[^']*'|\$\([^)]*\)|`[^`]*`|\$\{[A-Za-z_]\w*(?::?[?][^}]*|:?-)?\}|\$[A-Za-z_]\w*|\$\d|%[a-zA-Z%]|\{\{[^}]*\}\}"
)
# A command that a sentence quotes, up to the last bracket; not one that is reduced to its name already.
_QUOTED = re.compile(r"(?:\$\((?![\w./-]*(?: …)?\))|`(?=[^`]*\s))\s*([\w./-]*)(.*[)`]|.*\Z)", re.DOTALL)
_CODE = (".py", ".pyi", ".c", ".h", ".cc", ".cpp", ".hpp", ".cu", ".cuh", ".rs", ".go", ".js", ".ts", ".java")


def holds_secret(text: str) -> bool:
    """Whether a value (a knob's, a word of argv, a directive's line) seems to hold a secret."""
    return any(_in_line(text, code=False, strict=True))


def untelling(sentence: str) -> str:
    """A sentence for people, which may quote what a script says, as one that tells no secret.

    Of a command only its name is left, and of what holds a secret all the same only that it does.
    """
    short = _QUOTED.sub(r"$(\1 …)", sentence)
    return "the reason quotes what looks like a secret" if holds_secret(short) else short


def secret_lines(data: bytes, path: str) -> list[SecretLine]:
    """The lines of a file that seem to hold a secret. `path` tells code from configuration.

    In code, and for names that are usual there (`key`), only a literal counts that looks like a secret.
    """
    text = data.decode("utf-8", "replace")
    code = path.endswith(_CODE)
    strict = not code and (text.startswith("#!") or path.endswith((".sh", ".bash", ".env")))
    return [
        SecretLine(number, name)
        for number, line in enumerate(text.split("\n"), 1)
        for name in dict.fromkeys(_in_line(line, code, strict))
    ]


def _in_line(line: str, code: bool, strict: bool) -> Iterator[str]:
    """The names to which secrets are given in a line."""
    line = _REFERENCE.sub(lambda found: found[0] if found[0].startswith("'") else "$", line)
    if _TOKENS.search(line):
        yield "a token"
    for found in _URL.finditer(line):
        if _is_literal(found[1]):
            yield "a password in a URL"
    prose = _COMMENT.match(line) is not None
    at = 0
    while named := _NAMED.search(line, at):
        at = named.end("name")
        name, value = named["name"], named[2]
        joined = bool(_JOINED.match(line[at : named.start(2)]))
        if not joined and not (_SPACED.match(name) and (strict or not prose)):
            continue
        if name.lower() not in _ALWAYS and not looks_secret(name.lstrip("-")):
            continue
        if _holds_literal(name, value, code, strict):
            yield name.lstrip("-")


def _holds_literal(name: str, value: str, code: bool, strict: bool) -> bool:
    quoted = value[:1] in ("'", '"')
    bare = value.strip("\"'")
    if not _is_literal(bare):
        return False
    if strict:
        return True
    shouted = name.isupper() or _STRONG.search(name) is not None
    return shouted and not (code and not quoted) and _could_be_secret(name, bare)


def _is_literal(text: str) -> bool:
    """Whether anything stands there that can be a secret's text; of references only their `$` is left."""
    return bool(re.search(r"[A-Za-z0-9]", text)) and text.lower() not in _NO_SECRETS


def _could_be_secret(name: str, text: str) -> bool:
    """Whether a literal has the shape of a secret: no path, no number, no marker such as <s>, no prose."""
    if re.search(r"\s", text) or text.startswith(("/", "./", "../", "~/", "<", "[", "{", "(")):
        return False
    if re.search(r"pass|pwd", name, re.IGNORECASE):
        return len(text) >= 3
    return len(text) >= 8 and not text.isdigit() and not re.fullmatch(r"[a-z_]+|[\w.]+\(.*", text)
