"""Drop-ins and environment files whose values come back from systemd byte for byte.

What systemd can't carry is refused, and so is what only some of its versions 245 to 257 would. Source:
systemd.syntax(7), systemd.exec(5) (Environment=, EnvironmentFile=); src/basic/env-util.c.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from knowngood.model import Known, Reading
from knowngood.syntax.systemd.canonical import canonical
from knowngood.syntax.systemd.envfile import CONTROL, VALID_NAME, read_environment_file
from knowngood.syntax.systemd.kinds import kind_of
from knowngood.syntax.systemd.lint import LARGEST
from knowngood.syntax.systemd.reading import read_unit
from knowngood.syntax.systemd.specifiers import escape_specifiers
from knowngood.syntax.systemd.spellings import absolute
from knowngood.syntax.systemd.unit import Unit
from knowngood.syntax.systemd.utf8 import is_valid
from knowngood.syntax.systemd.wordlists import ENVIRONMENT, good_words, quoted_always, text_of

_DIRECTIVE = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\.([A-Za-z][A-Za-z0-9-]*)\Z")
_LINE_ENDS = re.compile(r"[\n\r\0]")
_LONGEST_PAIR = (1 << 17) - 1  # bytes of NAME=value: Linux's MAX_ARG_STRLEN, less the NUL at its end
_ORDER = ("Unit", "Service")


class CannotCarry(ValueError):
    """systemd can't carry this value; the message is a sentence that names the setting and not its value."""


def write_dropin(
    directives: Mapping[str, Sequence[str]],
    environment: Mapping[str, str],
    *,
    environment_file: str | None = None,
    header: str = "",
) -> bytes:
    """A drop-in that sets directives ("Service.LimitNOFILE" → its lines, as a unit says them) and variables.

    Directives that add up are reset first, so that the lines given are all there are; no line at all unsets a
    directive. `environment_file` is the absolute path of a further environment file, which must exist when
    the unit starts. `header` goes on top, as comments. Raises CannotCarry.
    """
    sections: dict[str, list[str]] = {}
    for directive, lines in directives.items():
        section, name = _split(directive)
        sections.setdefault(section, []).extend(_lines(directive, name, lines))
    service = [_variable(name, value) for name, value in environment.items()]
    if environment_file is not None:
        service.append(_environment_file(environment_file))
    if service:
        sections.setdefault("Service", []).extend(service)
    data = _text(header, sections).encode()
    if len(data) > LARGEST:
        raise CannotCarry("All of this is too much for a drop-in.")
    _prove(data, directives, environment)
    return data


def write_environment_file(environment: Mapping[str, str], *, header: str = "") -> bytes:
    """An environment file with these variables, for EnvironmentFile=. Raises CannotCarry."""
    lines = [f"# {line}".rstrip(" \\") for line in header.splitlines()]
    for name, value in environment.items():
        _check_pair(name, value)
        escaped = re.sub(r'(["\\`$])', r"\\\1", value)
        lines.append(f'{name}="{escaped}"')
    data = "".join(f"{line}\n" for line in lines).encode()
    read = {entry.name: entry.value for entry in read_environment_file(data).entries}
    if read != dict(environment):
        raise CannotCarry("An environment file can't hold these variables as they are.")
    return data


def _split(directive: str) -> tuple[str, str]:
    match = _DIRECTIVE.match(directive)
    if match is None:
        raise CannotCarry(f"{directive!r} is no directive's name: it should be Section.Directive.")
    return match[1], match[2]


def _lines(directive: str, name: str, lines: Sequence[str]) -> list[str]:
    kind = kind_of(directive)
    resets = kind is None or kind.empty == "reset"
    if not lines and not resets:
        raise CannotCarry(f"A drop-in can't unset {directive}: it must be taken out where it stands.")
    written = [f"{name}="] if resets and (not lines or (kind is not None and kind.adds)) else []
    return written + [_line(directive, name, line.strip(" \t")) for line in lines]


def _line(directive: str, name: str, text: str) -> str:
    if _LINE_ENDS.search(text):
        raise CannotCarry(f"The value of {directive} holds a line end or NUL, which no unit file can carry.")
    if not is_valid(text.encode("utf-8", "surrogateescape")):
        raise CannotCarry(f"The value of {directive} is no text in UTF-8: systemd would refuse the file.")
    if text and kind_of(directive) is not None:
        try:
            canonical(directive, text)
        except ValueError as bad:
            raise CannotCarry(f"systemd would not take this value of {directive}. {bad}") from None
    # A blank behind a last backslash keeps the next line from being joined; systemd trims it.
    return f"{name}={text}" + (" " if text.endswith("\\") else "")


def _variable(name: str, value: str) -> str:
    _check_pair(name, value)
    return "Environment=" + quoted_always(escape_specifiers(f"{name}={value}"))


def _check_pair(name: str, value: str) -> None:
    if not VALID_NAME.match(name):
        raise CannotCarry(f"{name!r} is no name that systemd takes for a variable.")
    if not is_valid(value.encode("utf-8", "surrogateescape")):
        raise CannotCarry(f"The value of {name} is no text in UTF-8: systemd would ignore it.")
    if CONTROL.search(value):
        raise CannotCarry(f"The value of {name} holds a control character, which not every systemd takes.")
    if len(f"{name}={value}".encode()) > _LONGEST_PAIR:
        raise CannotCarry(f"The value of {name} is longer than Linux lets a variable be (128 KiB).")


def _environment_file(path: str) -> str:
    try:
        plain = absolute(path) == path and _LINE_ENDS.search(path) is None
    except ValueError:
        plain = False
    if not plain or any(char in path for char in "*?[]{}\\~") or path != path.strip():
        raise CannotCarry("The environment file's path must be absolute and plain, without patterns.")
    return f"EnvironmentFile={escape_specifiers(path)}"


def _text(header: str, sections: Mapping[str, list[str]]) -> str:
    lines = [f"# {line}".rstrip() for line in header.splitlines()]
    for section in sorted(sections, key=lambda name: (_ORDER.index(name) if name in _ORDER else 9, name)):
        lines += [*([""] if lines else []), f"[{section}]", *sections[section]]
    return "".join(f"{line}\n" for line in lines)


def _prove(data: bytes, directives: Mapping[str, Sequence[str]], environment: Mapping[str, str]) -> None:
    """Read it back: a writer that is wrong says so here, and not on a node."""
    unit = read_unit("unit.service", None, [("", data)])
    variables = _pairs(unit)
    for name, value in environment.items():
        if variables.get(name) != value:
            raise CannotCarry(f"The value of {name} would not come back as it is.")
    for directive, lines in directives.items():
        if kind_of(directive) is not None and not _comes_back(unit, directive, lines):
            raise CannotCarry(f"The value of {directive} would not come back as it is.")


def _pairs(unit: Unit) -> dict[str, str]:
    """What Environment= alone sets."""
    found = {}
    for reading in unit.lines("Service", "Environment"):
        for word in good_words(_plain(reading), ENVIRONMENT):
            name, _, value = text_of(word).partition("=")
            found[name] = value.replace("%%", "%")
    return found


def _comes_back(unit: Unit, directive: str, lines: Sequence[str]) -> bool:
    section, _, name = directive.partition(".")
    wanted = [text for text in (line.strip(" \t") for line in lines) if text]
    kind = kind_of(directive)
    if directive == "Service.Environment" or kind is None:
        return True
    return [_plain(reading) for reading in unit.lines(section, name)] == (
        wanted if kind.adds else wanted[-1:]
    )


def _plain(reading: Reading) -> str:
    return str(reading.value.value) if isinstance(reading.value, Known) else ""
