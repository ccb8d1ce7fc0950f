"""Specifiers: %i, %n, %h … in a unit's texts.

Those that the unit's name tells are expanded, and those that are the same for every system manager. All
others (the host's name, ids, versions) can't be known from texts. Source: systemd.unit(5), "Specifiers";
src/shared/specifier.c, src/core/unit-printf.c.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from knowngood.syntax.systemd.names import UnitName, unescape_name, unescape_path

_SPECIFIER = re.compile(r"%(.?)", re.DOTALL)
_OF_MANAGER = {
    "C": "/var/cache", "E": "/etc", "L": "/var/log", "S": "/var/lib", "t": "/run",
    "h": "/root", "u": "root", "U": "0", "g": "root", "G": "0",
}  # fmt: skip
_OF_NODE = "aAbBcdDHlmMoqrRsTvVwWyY"


Expand: TypeAlias = Callable[[str], str]


class UnknownSpecifierError(Exception):
    """A specifier whose value only the node can tell; the message says which."""


class BadSpecifierError(ValueError):
    """A specifier that systemd does not know: it ignores the whole assignment."""


def expand(text: str, unit: UnitName | None) -> str:
    """The text with its specifiers expanded. Raises UnknownSpecifierError, BadSpecifierError.

    Without a unit (`None`) those that its name tells are unknown.
    """
    if "%" not in text:
        return text
    return _SPECIFIER.sub(lambda match: _value(match[1], unit), text)


def _value(letter: str, unit: UnitName | None) -> str:
    if letter in ("", "%"):
        return "%"
    if not (letter.isascii() and letter.isalnum()):
        return "%" + letter
    if letter in _OF_MANAGER:
        return _OF_MANAGER[letter]
    if letter in "iIjJnNpPf":
        if unit is None:
            raise UnknownSpecifierError(f"%{letter} depends on the unit's name")
        value = _of_name(letter, unit)
        if value is None:
            raise BadSpecifierError(f"%{letter} can't be made of the unit's name")
        return value
    if letter in _OF_NODE:
        raise UnknownSpecifierError(f"%{letter} is known on the node alone")
    raise BadSpecifierError(f"%{letter} is no specifier")


def _of_name(letter: str, unit: UnitName) -> str | None:
    instance = unit.instance or ""
    if letter == "f":
        return unescape_path(instance) if unit.instance else unescape_path(unit.prefix)
    values = {
        "i": instance, "I": instance, "j": unit.last_component, "J": unit.last_component,
        "n": unit.whole, "N": unit.stem, "p": unit.prefix, "P": unit.prefix,
    }  # fmt: skip
    return unescape_name(values[letter]) if letter in "IJP" else values[letter]


def escape_specifiers(text: str) -> str:
    """The text as a unit says it where it means no specifiers."""
    return text.replace("%", "%%")


def expander(unit: UnitName | None) -> Expand:
    """expand() for one unit."""
    return lambda text: expand(text, unit)
