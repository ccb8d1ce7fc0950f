"""Values of single kinds of directives, spelled canonically.

Each function takes the directive's name, without its section, and the text; it raises ValueError with a
sentence for text that systemd would not take. Source: the man pages that `directives.py` names;
src/core/load-fragment.c.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from knowngood.syntax.systemd.cpus import cpus
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
from knowngood.syntax.systemd.timespans import show_timespan, timespan

_UINT_MAX = (1 << 32) - 1
PAGE = 4096  # bytes; the kernel counts memory limits in pages


def one_of(words: str) -> Callable[[str, str], str]:
    allowed = words.split()

    def spell(_: str, text: str) -> str:
        if text not in allowed:
            raise ValueError(f"“{text}” is none of {', '.join(allowed)}.")
        return text

    return spell


def spell_span(_: str, text: str) -> str:
    return show_timespan(timespan(text))


def spell_span_or_never(_: str, text: str) -> str:
    """Zero means never here."""
    return show_timespan(timespan(text) or None)


def spell_abort_span(name: str, text: str) -> str:
    return "" if not text else spell_span_or_never(name, text)


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


def spell_mode(name: str, text: str) -> str:
    """The kernel has no umask beyond the nine bits of permissions."""
    return f"0{mode(text)[1:]}" if name == "UMask" else mode(text)


def spell_truth_or_word(name: str, text: str) -> str:
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


def spell_memory(_: str, text: str) -> str:
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


def spell_memory_or_none(name: str, text: str) -> str:
    return "0" if text.strip("0") in ("", "B") and text else spell_memory(name, text)


def spell_tasks(_: str, text: str) -> str:
    if text == INFINITY:
        return INFINITY
    part = share(text)
    if part is not None:
        if part > 10000:
            raise ValueError(f"{text} is more than all tasks.")
        return show_share(part)
    return str(integer(text, 1, MOST - 1))


def spell_quota(_: str, text: str) -> str:
    part = share(text)
    if not part:
        raise ValueError(f"“{text}” is no share of a CPU, as 150%.")
    return show_share(part)


def spell_weight(name: str, text: str) -> str:
    return "idle" if text == "idle" and "CPU" in name else str(integer(text, 1, 10000))


_USER = re.compile(r"[^:/\x00-\x1f\x7f]+\Z")


def spell_user(_: str, text: str) -> str:
    number = text.isascii() and text.isdigit()
    bad = not _USER.match(text) or text in (".", "..") or (text.startswith("-") and text[1:].isdigit())
    if bad or (number and (int(text) >= _UINT_MAX or str(int(text)) != text)):
        raise ValueError(f"“{text}” is no name or number of a user or group.")
    if number:
        return text if int(text) else "root"
    return text


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


def spell_path(_: str, text: str) -> str:
    return absolute(text)


def spell_pid_file(_: str, text: str) -> str:
    return absolute(text if text.startswith("/") else f"/run/{text}")


def spell_environment_file(_: str, text: str) -> str:
    mark = "-" if text.startswith("-") else ""
    return mark + absolute(text[len(mark) :])


def spell_text(_: str, text: str) -> str:
    return text.strip(" \t")  # what an empty specifier leaves at its ends


def spell_cpus(_: str, text: str) -> str:
    return text if text in ("numa", "all") else cpus([text])


def spell_blanks(_: str, text: str) -> str:
    return " ".join(text.split())


def spell_signal(_: str, text: str) -> str:
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


def spell_truth(_: str, text: str) -> str:
    return truth(text)


def spell_count(_: str, text: str) -> str:
    return str(integer(text, 0, _UINT_MAX))


def spell_nice(_: str, text: str) -> str:
    return str(integer(text, -20, 19))


def spell_oom(_: str, text: str) -> str:
    return str(integer(text, -1000, 1000))


def spell_limit(name: str, text: str) -> str:
    return limit(name.removeprefix("Limit"), text)
