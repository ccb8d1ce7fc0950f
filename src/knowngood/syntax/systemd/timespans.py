"""Spans of time: "1h 30min", 90, 1.5s. Source: systemd.time(7); src/basic/time-util.c (parse_time)."""

from __future__ import annotations

import re

from knowngood.syntax.systemd.numbers import INFINITY, MOST

MICROSECOND = 1
MILLISECOND = 1_000
SECOND = 1_000_000
_MINUTE = 60 * SECOND
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_YEAR = 31_557_600 * SECOND  # 365.25 days
_MONTH = 2_629_800 * SECOND  # a twelfth of it

# In the order in which systemd tries them: the first that fits is taken.
_UNITS = (
    ("seconds", SECOND), ("second", SECOND), ("sec", SECOND), ("s", SECOND),
    ("minutes", _MINUTE), ("minute", _MINUTE), ("min", _MINUTE),
    ("months", _MONTH), ("month", _MONTH), ("M", _MONTH),
    ("msec", MILLISECOND), ("ms", MILLISECOND), ("m", _MINUTE),
    ("hours", _HOUR), ("hour", _HOUR), ("hr", _HOUR), ("h", _HOUR),
    ("days", _DAY), ("day", _DAY), ("d", _DAY),
    ("weeks", 7 * _DAY), ("week", 7 * _DAY), ("w", 7 * _DAY),
    ("years", _YEAR), ("year", _YEAR), ("y", _YEAR),
    ("usec", 1), ("us", 1), ("μs", 1), ("µs", 1),
)  # fmt: skip
_FACTOR = dict(_UNITS)
_PART = re.compile(
    r"[ \t\n\r]*(?:(\+?[0-9]+)(?:(\.)([0-9]*))?|(\.)([0-9]*))([ \t\n\r]*)("
    + "|".join(u for u, _ in _UNITS)
    + ")?"
)
_SHOWN = (
    ("y", _YEAR), ("month", _MONTH), ("w", 7 * _DAY), ("d", _DAY), ("h", _HOUR), ("min", _MINUTE),
    ("s", SECOND), ("ms", MILLISECOND), ("us", 1),
)  # fmt: skip


def timespan(text: str, unit: int = SECOND) -> int | None:
    """Microseconds; None for infinity. `unit` is what a number without one counts, in microseconds.

    Raises ValueError for what systemd would refuse.
    """
    stripped = text.strip(" \t\n\r")
    if stripped == INFINITY:
        return None
    total, at = 0, 0
    while at < len(stripped):
        match = _PART.match(stripped, at)
        if match is None:
            raise ValueError(f"“{text}” is no span of time.")
        whole, dot, places, lone_dot, lone_places, gap, name = match.groups()
        fraction = places if dot else lone_places
        ends = match.end() == len(stripped)
        if ((dot or lone_dot) and not fraction) or not (name or gap or ends):
            raise ValueError(f"“{text}” is no span of time.")
        factor = _FACTOR[name] if name else unit
        total += int(whole or "0") * factor + _fraction(fraction or "", factor)
        if total >= MOST:
            raise ValueError(f"“{text}” is too long a span of time.")
        at = match.end()
    if not stripped:
        raise ValueError("A span of time is missing.")
    return total


def _fraction(digits: str, factor: int) -> int:
    total = 0
    for digit in digits:
        factor //= 10
        if not factor:
            break
        total += int(digit) * factor
    return total


def show_timespan(microseconds: int | None) -> str:
    """The one spelling of a span of time: whole numbers with units, the largest first; 0; infinity."""
    if microseconds is None:
        return INFINITY
    parts = []
    for name, factor in _SHOWN:
        count, microseconds = divmod(microseconds, factor)
        if count:
            parts.append(f"{count}{name}")
    return " ".join(parts) or "0"
