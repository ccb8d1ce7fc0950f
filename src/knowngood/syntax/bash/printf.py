"""What bash's `printf` and `echo` write, for the directives that scripts use."""

from __future__ import annotations

import re

_DIRECTIVE = re.compile(r"%(?:%|([-0]*)(\d*)(?:\.(\d+))?([sdi])|([qbcxXofeEgGuaAT(*+# ].*))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "v": "\v", '"': '"'}


def printf(template: str, words: tuple[str, ...]) -> str | None:
    """The text, the template being used again until the words are used up; None for what is not followed."""
    template_text = _unescaped(template)
    if template_text is None or not (template_text.isascii() and all(word.isascii() for word in words)):
        return None
    written: list[str] = []
    left = list(words)
    for _ in range(len(words) + 1):
        before = len(left)
        text = _once(template_text, left)
        if text is None:
            return None
        written.append(text)
        if not left or len(left) == before:
            break
    whole = "".join(written)
    return None if "\0" in whole or len(whole) > 100_000 else whole


def _unescaped(template: str) -> str | None:
    pieces = []
    at = 0
    while at < len(template):
        char = template[at]
        if char != "\\":
            pieces.append(char)
            at += 1
            continue
        following = template[at + 1 : at + 2]
        if following not in _ESCAPES:
            return None
        # A percent sign can't come from an escape here, so directives are read afterwards.
        pieces.append(_ESCAPES[following])
        at += 2
    return "".join(pieces)


def _once(template: str, left: list[str]) -> str | None:
    pieces: list[str] = []
    at = 0
    while at < len(template):
        if template[at] != "%":
            pieces.append(template[at])
            at += 1
            continue
        found = _DIRECTIVE.match(template, at)
        if not found or found.group(5) is not None:
            return None
        at = found.end()
        if found.group(4) is None:
            pieces.append("%")
            continue
        text = _converted(found, left.pop(0) if left else None)
        if text is None:
            return None
        pieces.append(text)
    return "".join(pieces)


def _converted(found: re.Match[str], word: str | None) -> str | None:
    flags, width, precision, kind = found.group(1), found.group(2), found.group(3), found.group(4)
    if int(width or 0) > 1000:
        return None
    if kind == "s":
        text = (word or "")[: int(precision)] if precision else (word or "")
        return text.ljust(int(width or 0)) if "-" in flags else text.rjust(int(width or 0))
    if word is not None and not re.fullmatch(r"-?(0|[1-9]\d{0,17})", word, re.ASCII):
        return None
    number = int(word or 0)
    if precision:
        return None
    if "0" in flags and "-" not in flags:
        return f"{number:0{int(width or 0)}d}" if width else str(number)
    return str(number).ljust(int(width or 0)) if "-" in flags else str(number).rjust(int(width or 0))


def echo(words: tuple[str, ...]) -> str | None:
    """What `echo words…` writes; None where an escape is to be read."""
    newline = "\n"
    escapes = False
    at = 0
    while at < len(words) and re.fullmatch(r"-[neE]+", words[at]):
        newline = "" if "n" in words[at] else newline
        escapes = words[at].rstrip("n")[-1] == "e" if words[at].strip("-n") else escapes
        at += 1
    text = " ".join(words[at:])
    return None if escapes and "\\" in text else text + newline
