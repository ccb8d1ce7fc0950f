"""How each kind of directive is read, and what several lines of it come to.

A kind says how one line is spelled canonically, what an empty assignment does, and whether lines add up.
Source: the man pages that `directives.py` names; src/core/load-fragment.c.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from knowngood.syntax.systemd.cpus import cpus
from knowngood.syntax.systemd.directives import KIND_OF
from knowngood.syntax.systemd.limits import limit
from knowngood.syntax.systemd.numbers import (
    INFINITY,
    MOST,
    integer,
    mode,
    share,
    show_share,
    show_size,
    size,
    truth,
)
from knowngood.syntax.systemd.specifiers import Expand, escape_specifiers
from knowngood.syntax.systemd.timespans import show_timespan, timespan
from knowngood.syntax.systemd.wordlists import (
    RefusedError,
    assignments,
    command_line,
    merged_assignments,
    names,
    names_or_assignments,
    several_words,
    unit_names,
)

_INT_MAX = (1 << 31) - 1
_UINT_MAX = (1 << 32) - 1
PAGE = 4096  # bytes; the kernel counts memory limits in pages


@dataclass(frozen=True, slots=True)
class Kind:
    """`spell` gives the canonical text of one line, or raises ValueError for what systemd ignores or refuses.

    `empty`: what an empty assignment does: reset all lines before it, nothing (kept), or what depends on
    systemd's version (unsure). `adds`: lines add up; else the last one counts.
    """

    spell: Spell
    empty: Literal["reset", "kept", "unsure"] = "unsure"
    adds: bool = False
    joined_by: str = "\n"


# (the directive's name without its section, the text, how specifiers expand)
Spell: TypeAlias = Callable[[str, str, Expand], str]


def _plain(spell: Callable[[str, str], str]) -> Spell:
    """Where systemd expands no specifiers."""
    return lambda name, text, expand: spell(name, text)


def _whole(spell: Callable[[str, str], str]) -> Spell:
    """Where specifiers are expanded in the text as a whole; what is spelled is a unit's text again."""
    return lambda name, text, expand: escape_specifiers(spell(name, expand(text)))


def kind_of(directive: str) -> Kind | None:
    """The kind of `Section.Directive`; None for one that no systemd from 245 to 257 knows there."""
    name = KIND_OF.get(directive)
    return None if name is None else KINDS[name]


def _fatal(spell: Spell) -> Spell:
    """Where systemd does not just ignore a value that it can't read, but gives up the file."""

    def spell_or_refuse(name: str, text: str, expand: Expand) -> str:
        try:
            return spell(name, text, expand)
        except ValueError as bad:
            raise RefusedError(str(bad)) from None

    return spell_or_refuse


def _one_of(words: str) -> Callable[[str, str], str]:
    allowed = words.split()

    def spell(_: str, text: str) -> str:
        if text not in allowed:
            raise ValueError(f"“{text}” is none of {', '.join(allowed)}.")
        return text

    return spell


def _span(_: str, text: str) -> str:
    return show_timespan(timespan(text))


def _span_or_never(_: str, text: str) -> str:
    """Zero means never here."""
    return show_timespan(timespan(text) or None)


def _abort_span(name: str, text: str) -> str:
    return "" if not text else _span_or_never(name, text)


_CHOICES = {
    "ProtectSystem": "full strict",
    "ProtectHome": "read-only tmpfs",
    "PrivateTmp": "disconnected",
    "PrivateUsers": "self identity full managed",
    "ProtectControlGroups": "private strict",
    "ProtectHostname": "private",
    "RuntimeDirectoryPreserve": "restart",
    "FileDescriptorStorePreserve": "restart",
    "PrivateIPC": "",
    "PrivatePIDs": "",
}


def _mode(name: str, text: str) -> str:
    """The kernel has no umask beyond the nine bits of permissions."""
    return f"0{mode(text)[1:]}" if name == "UMask" else mode(text)


def _truth_or_word(name: str, text: str) -> str:
    """yes, no, or one of a few words; any words where their number is large."""
    if name in _CHOICES and text not in _CHOICES[name].split():
        return truth(text)
    return truth(text) if _is_truth(text) else " ".join(text.split())


def _is_truth(text: str) -> bool:
    try:
        truth(text)
    except ValueError:
        return False
    return True


def _memory(_: str, text: str) -> str:
    if text == INFINITY:
        return INFINITY
    part = share(text)
    if part is not None:
        if part > 10000:
            raise ValueError(f"{text} is more than all of the memory.")
        return show_share(part)
    number = size(text)
    if not 0 < number < MOST:
        raise ValueError(f"{text} is out of range for a memory limit.")
    return show_size(number - number % PAGE if number > PAGE else number)


def _memory_or_none(name: str, text: str) -> str:
    return "0" if text.strip("0") in ("", "B") and text else _memory(name, text)


def _tasks(_: str, text: str) -> str:
    if text == INFINITY:
        return INFINITY
    part = share(text)
    if part is not None:
        if part > 10000:
            raise ValueError(f"{text} is more than all tasks.")
        return show_share(part)
    return str(integer(text, 1, MOST - 1))


def _quota(_: str, text: str) -> str:
    part = share(text)
    if not part:
        raise ValueError(f"“{text}” is no share of a CPU, as 150%.")
    return show_share(part)


def _weight(name: str, text: str) -> str:
    return "idle" if text == "idle" and "CPU" in name else str(integer(text, 1, 10000))


_USER = re.compile(r"[^:/\x00-\x1f\x7f]+\Z")


def _user(_: str, text: str) -> str:
    number = text.isascii() and text.isdigit()
    bad = not _USER.match(text) or text in (".", "..") or (text.startswith("-") and text[1:].isdigit())
    if bad or (number and (int(text) >= _UINT_MAX or str(int(text)) != text)):
        raise ValueError(f"“{text}” is no name or number of a user or group.")
    if number:
        return text if int(text) else "root"
    return text


def _folder(name: str, text: str, expand: Expand) -> str:
    """Only where a - allows the folder to be missing, systemd does without it; else it gives up."""
    mark = "-" if text.startswith("-") else ""
    rest = text[len(mark) :]
    if rest == "~":
        return text
    spell = _whole(_path)
    return mark + (spell if mark else _fatal(spell))(name, rest, expand)


def absolute(path: str) -> str:
    """An absolute path without doubled or trailing slashes; ValueError for any other, or one with `..`."""
    if not path.startswith("/"):
        raise ValueError(f"“{path}” is no absolute path.")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError(f"“{path}” holds “..”, which systemd does not take.")
    if len(path.encode()) >= 4096:
        raise ValueError("The path is too long.")
    return "/" + "/".join(parts)


def _path(_: str, text: str) -> str:
    return absolute(text)


def _pid_file(_: str, text: str) -> str:
    return absolute(text if text.startswith("/") else f"/run/{text}")


def _environment_file(_: str, text: str) -> str:
    mark = "-" if text.startswith("-") else ""
    return mark + absolute(text[len(mark) :])


def _text(_: str, text: str) -> str:
    return text.strip(" \t")  # what an empty specifier leaves at its ends


def _cpus(_: str, text: str) -> str:
    return text if text in ("numa", "all") else cpus([text])


def _blanks(_: str, text: str) -> str:
    return " ".join(text.split())


def _signal(_: str, text: str) -> str:
    name = text.removeprefix("SIG")
    if name in SIGNALS:
        return "SIG" + name
    realtime = re.fullmatch(r"RT(?:MIN(?:\+([0-9]+))?|(MAX)(?:-([0-9]+))?)", name)
    if realtime is not None:
        low, from_top, high = realtime.groups()
        number = _RTMAX - int(high or "0") if from_top else _RTMIN + int(low or "0")
    else:
        number = integer(text, 1, _RTMAX)
    if not 1 <= number <= _RTMAX:
        raise ValueError(f"“{text}” is no signal.")
    if number >= _RTMIN:
        return f"SIGRTMIN+{number - _RTMIN}"
    return next((f"SIG{each}" for each, value in SIGNALS.items() if value == number), str(number))


_RTMIN, _RTMAX = 34, 64  # as glibc has them
# signal(7), on x86 and ARM
SIGNALS = {
    name: number
    for number, name in enumerate(
        """HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP
        TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS""".split(),
        1,
    )
}

KINDS: dict[str, Kind] = {
    "truth": Kind(_plain(lambda _, text: truth(text)), empty="kept"),
    "fatal_truth": Kind(_fatal(_plain(lambda _, text: truth(text))), empty="kept"),
    "optional_truth": Kind(_plain(lambda _, text: truth(text)), empty="reset"),
    "truth_or_word": Kind(_plain(_truth_or_word)),
    "span": Kind(_plain(_span), empty="kept"),
    "span_or_never": Kind(_plain(_span_or_never), empty="kept"),
    "abort_span": Kind(_plain(_abort_span), empty="reset"),
    "optional_span": Kind(_plain(_span), empty="reset"),
    "nanoseconds": Kind(_plain(_blanks)),
    "mode": Kind(_plain(_mode), empty="kept"),
    "count": Kind(_plain(lambda _, text: str(integer(text, 0, _UINT_MAX))), empty="kept"),
    "nice": Kind(_plain(lambda _, text: str(integer(text, -20, 19))), empty="reset"),
    "oom": Kind(_plain(lambda _, text: str(integer(text, -1000, 1000))), empty="reset"),
    "limit": Kind(_plain(lambda name, text: limit(name.removeprefix("Limit"), text)), empty="kept"),
    "memory": Kind(_plain(_memory), empty="reset"),
    "memory_or_none": Kind(_plain(_memory_or_none), empty="reset"),
    "tasks": Kind(_plain(_tasks), empty="reset"),
    "quota": Kind(_plain(_quota), empty="reset"),
    "weight": Kind(_plain(_weight), empty="reset"),
    "user": Kind(_fatal(_whole(_user)), empty="reset"),
    "type": Kind(_plain(_one_of("simple exec forking oneshot dbus notify notify-reload idle")), empty="kept"),
    "restart": Kind(
        _plain(_one_of("no always on-success on-failure on-abnormal on-watchdog on-abort")), empty="kept"
    ),
    "kill_mode": Kind(_plain(_one_of("control-group mixed process none"))),
    "exit_type": Kind(_plain(_one_of("main cgroup")), empty="kept"),
    "notify_access": Kind(_plain(_one_of("none main exec all")), empty="kept"),
    "oom_policy": Kind(_plain(_one_of("continue stop kill")), empty="kept"),
    "restart_mode": Kind(_plain(_one_of("normal direct debug")), empty="kept"),
    "failure_mode": Kind(_plain(_one_of("terminate abort kill")), empty="kept"),
    "signal": Kind(_plain(_signal), empty="kept"),
    "folder": Kind(_folder, empty="reset"),
    "path": Kind(_whole(_path), empty="reset"),
    "fatal_path": Kind(_fatal(_whole(_path)), empty="reset"),
    "pid_file": Kind(_whole(_pid_file), empty="reset"),
    "text": Kind(_whole(_text), empty="reset"),
    "word": Kind(_plain(_blanks)),
    "cpus": Kind(_whole(_cpus), empty="reset", adds=True),
    "cpu_list": Kind(_whole(_cpus), empty="reset", adds=True),
    "command": Kind(command_line, empty="reset", adds=True),
    "environment": Kind(assignments, empty="reset", adds=True),
    "environment_file": Kind(_whole(_environment_file), empty="reset", adds=True),
    "names": Kind(names, empty="reset", adds=True, joined_by=" "),
    "names_or_pairs": Kind(names_or_assignments, empty="reset", adds=True, joined_by=" "),
    "words": Kind(several_words, empty="reset", adds=True, joined_by=" "),
    "units": Kind(unit_names, empty="kept", adds=True, joined_by=" "),
    "kept_words": Kind(several_words, empty="kept", adds=True, joined_by=" "),
    "set": Kind(_plain(_blanks), empty="reset", adds=True),
    "lines": Kind(_whole(_text), empty="reset", adds=True),
    "obsolete": Kind(_plain(_blanks)),
}


def joined(directive: str, spelled: list[str]) -> str:
    """One text of several lines in force, each already spelled."""
    if KIND_OF.get(directive) in ("cpus", "cpu_list"):
        words = [text for text in spelled if text in ("numa", "all")]
        if spelled[-1:] == words[-1:]:
            return spelled[-1]
        return cpus(spelled[len(spelled) - spelled[::-1].index(words[-1]) :] if words else spelled)
    if KIND_OF.get(directive) == "environment":
        return merged_assignments(spelled)
    kind = kind_of(directive)
    if kind is None or not kind.adds:
        return spelled[-1]
    if kind.joined_by == " ":
        return " ".join(dict.fromkeys(word for line in spelled for word in line.split(" ")))
    return kind.joined_by.join(spelled)
