"""Directives that hold several words, each spelled so that it reads back as the same words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowngood.syntax.systemd.specifiers import Expand, escape_specifiers
from knowngood.syntax.systemd.words import BadWordError, Style, Word, first_word, words

_PLAIN = re.compile(r"[^\s\"'\\;\x00-\x1f\x7f]+\Z")
ENVIRONMENT = Style(unquote=True, decode=True)
COMMAND = Style(unquote=True, decode=True)
LENIENT_COMMAND = Style(unquote=True, decode=True, lenient_escapes=True)
NAMES = Style(unquote=True)
_LIST = Style(unquote=True, keep_backslash=True)
_LONE_SEMICOLON = re.compile(rb"(\\?;)(?:[ \t\n\r]+|\Z)")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def text_of(word: Word) -> str:
    """The word's text; bytes that are no UTF-8 as surrogates (PEP 383)."""
    return word.text.decode("utf-8", "surrogateescape")


def quoted(text: str) -> str:
    """The word as a directive spells it: bare where nothing in it needs quotes."""
    return text if _PLAIN.match(text) else quoted_always(text)


def quoted_always(text: str) -> str:
    """The word in double quotes."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    return f"\\x{ord(char):02x}" if char < " " or char == "\x7f" else char


def pairs(_: str, text: str, expand: Expand) -> str:
    """Environment= and UnsetEnvironment=: words with escapes; from a bad one on, systemd ignores the line."""
    return _spelled(text, ENVIRONMENT, expand)


def plain_words(_: str, text: str, expand: Expand) -> str:
    """PassEnvironment=: words without escapes."""
    return _spelled(text, NAMES, expand)


def several_words(_: str, text: str, expand: Expand) -> str:
    """Lists of paths, units and the like: their backslashes stay."""
    spelled = (escape_specifiers(expand(text_of(word))) for word in good_words(text, _LIST))
    return " ".join(f'"{word}"' if " " in word else word for word in spelled)


def command_line(_: str, text: str, expand: Expand) -> str:
    """Exec*=: words with escapes, a lone ; between commands. Raises ValueError for an open quote."""
    out = []
    for word in command_words(text):
        out.append(word if isinstance(word, str) else quoted(escape_specifiers(expand(text_of(word)))))
    if not out:
        raise ValueError("There is no command.")
    return " ".join(out)


def command_words(text: str) -> Iterator[Word | str]:
    """The words of Exec*=; ";" where a new command begins, "\\;" for a word that is a semicolon."""
    data = text.encode("utf-8", "surrogateescape")
    at: int | None = 0
    while at is not None and at < len(data):
        lone = _LONE_SEMICOLON.match(data, at)
        if lone is not None:
            yield lone[1].decode()
            at = lone.end()
            continue
        word = command_word(data, at)
        if word is None:
            return
        yield word
        at = word.after


def command_word(data: bytes, at: int) -> Word | None:
    """A word of a command: an escape that is none stays as it stands. Raises ValueError for an open quote."""
    try:
        return first_word(data, COMMAND, at)
    except BadWordError:
        pass
    try:
        return first_word(data, LENIENT_COMMAND, at)
    except BadWordError as bad:
        raise ValueError(f"There is {bad}.") from None


def good_words(text: str, style: Style) -> Iterator[Word]:
    """The words up to the first that can't be read."""
    try:
        yield from words(text.encode("utf-8", "surrogateescape"), style)
    except BadWordError:
        return


def _spelled(text: str, style: Style, expand: Expand) -> str:
    found = [quoted(escape_specifiers(expand(text_of(word)))) for word in good_words(text, style)]
    if not found:
        raise ValueError("There is no word that can be read.")
    return " ".join(found)
