"""Directives that hold several words, each spelled so that it reads back as the same words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from knowngood.syntax.systemd.exec_text import RawCommand, RawWord, read_commands
from knowngood.syntax.systemd.specifiers import (
    BadSpecifierError,
    Expand,
    UnknownSpecifierError,
    escape_specifiers,
)
from knowngood.syntax.systemd.utf8 import is_valid
from knowngood.syntax.systemd.words import BadWordError, Style, Word, words

_PLAIN = re.compile(r"[^\s\"'\\;\x00-\x1f\x7f]+\Z")
_UNIT_NAME = re.compile(
    r"[A-Za-z0-9:_.\\@-]+\.(?:service|socket|device|mount|automount|swap|target|path|timer|slice|scope)\Z"
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
ENVIRONMENT = Style(unquote=True, decode=True)
NAMES = Style(unquote=True)
_LIST = Style(unquote=True, keep_backslash=True)
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class RefusedError(ValueError):
    """A value at which systemd gives up the whole file."""


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


def assignments(_: str, text: str, expand: Expand) -> str:
    """Environment=: words with escapes; those that are no assignment are left out, as systemd does."""
    return _spelled(text, ENVIRONMENT, expand, _is_assignment)


def names_or_assignments(_: str, text: str, expand: Expand) -> str:
    """UnsetEnvironment=: words with escapes."""
    return _spelled(text, ENVIRONMENT, expand, lambda word: _is_assignment(word) or _is_name(word))


def names(_: str, text: str, expand: Expand) -> str:
    """PassEnvironment=: words without escapes."""
    return _spelled(text, NAMES, expand, _is_name)


def merged_assignments(lines: Sequence[str]) -> str:
    """Spelled lines of Environment= as one: each name where it came first, with its last value."""
    found: dict[str, str] = {}
    for word in good_words(" ".join(lines), ENVIRONMENT):
        found[text_of(word).partition("=")[0]] = quoted(text_of(word))
    return " ".join(found.values())


def _is_name(word: str) -> bool:
    return _NAME.match(word) is not None


def _is_assignment(word: str) -> bool:
    name, equals, value = word.partition("=")
    return bool(equals) and _is_name(name) and is_valid(value.encode("utf-8", "surrogateescape"))


def several_words(_: str, text: str, expand: Expand) -> str:
    """Lists of paths, units and the like: their backslashes stay."""
    spelled = [escape_specifiers(expand(text_of(word))) for word in good_words(text, _LIST)]
    if not spelled:
        raise ValueError("There is no word that can be read.")
    return " ".join(f'"{word}"' if " " in word else word for word in spelled)


def unit_names(_: str, text: str, expand: Expand) -> str:
    """Lists of units; a word that can't be a unit's name is left out, as systemd does."""
    found = [expand(text_of(word)) for word in good_words(text, _LIST)]
    named = [escape_specifiers(word) for word in found if _UNIT_NAME.match(word) and len(word) < 256]
    if not named:
        raise ValueError("There is no unit's name.")
    return " ".join(named)


def command_line(_: str, text: str, expand: Expand) -> str:
    """Exec*=: the commands that systemd takes, a lone ; between them.

    Raises RefusedError where it would give up the file, ValueError where it takes none.
    """
    found = read_commands(text, expand)
    if found.fatal:
        raise RefusedError(found.problem)
    if not found.commands:
        raise ValueError(found.problem or "There is no command.")
    for command in found.commands:
        for word in (command.program, *command.words):
            if word.unknown:
                raise UnknownSpecifierError(word.unknown)
    return spell_commands(found.commands)


def spell_commands(commands: Sequence[RawCommand]) -> str:
    """The commands as one line; words that are not known as they are written."""
    return " ; ".join(map(_command, commands))


def _command(command: RawCommand) -> str:
    program = quoted(command.marks + _as_written(command.program))
    rest = command.words if "@" in command.marks else command.words[1:]
    return " ".join([program, *(quoted(_as_written(word)) for word in rest)])


def _as_written(word: RawWord) -> str:
    return word.text if word.unknown else escape_specifiers(word.text)


def good_words(text: str, style: Style) -> Iterator[Word]:
    """The words up to the first that can't be read."""
    try:
        yield from words(text.encode("utf-8", "surrogateescape"), style)
    except BadWordError:
        return


def _spelled(text: str, style: Style, expand: Expand, counts: Callable[[str], bool]) -> str:
    found = []
    for word in good_words(text, style):
        try:
            whole = expand(text_of(word))
        except BadSpecifierError:
            continue  # systemd ignores this word alone
        if counts(whole):
            found.append(quoted(escape_specifiers(whole)))
    if not found:
        raise ValueError("There is no word that can be read.")
    return " ".join(found)
