"""Resource limits, Limit*=: "16384", "1024:524288", "infinity".

Source: systemd.exec(5), "Process Properties"; src/basic/rlimit-util.c.
"""

from __future__ import annotations

from collections.abc import Callable

from knowngood.syntax.systemd.numbers import INFINITY, MOST, integer, show_size, size
from knowngood.syntax.systemd.timespans import MICROSECOND, SECOND, show_timespan, timespan

_SIZES = frozenset("FSIZE DATA STACK CORE RSS AS MEMLOCK MSGQUEUE".split())
_COUNTS = frozenset("NOFILE NPROC LOCKS SIGPENDING RTPRIO".split())
RESOURCES = frozenset({*_SIZES, *_COUNTS, "CPU", "RTTIME", "NICE"})


def limit(resource: str, text: str) -> str:
    """The one spelling of a limit: `soft:hard`, or one value where both are the same.

    `resource` is NOFILE, CPU, …. Raises ValueError for what systemd would refuse.
    """
    soft, colon, hard = text.partition(":")
    if not colon:
        return _show(resource, _number(resource, soft))
    low, high = _number(resource, soft), _number(resource, hard)
    if (MOST if low is None else low) > (MOST if high is None else high):
        raise ValueError(f"The soft limit {soft} is above the hard limit {hard}.")
    return join_limit(_show(resource, low), _show(resource, high))


def limit_of_kernel(resource: str, text: str) -> str:
    """The spelling of a limit in the kernel's units (bytes, seconds, microseconds): one, or `soft:hard`."""
    soft, colon, hard = text.partition(":")
    numbers = [
        None if part == INFINITY else integer(part, 0, MOST) for part in (soft, hard if colon else soft)
    ]
    return join_limit(*(_show(resource, None if number == MOST else number) for number in numbers))


def join_limit(soft: str, hard: str) -> str:
    """`soft:hard`, or one value where both are the same."""
    return soft if soft == hard else f"{soft}:{hard}"


def _number(resource: str, text: str) -> int | None:
    if text == INFINITY and resource != "NICE":
        return None
    number = _READERS[resource](text)
    if number is not None and number >= MOST:
        raise ValueError(f"{text} is too large for a limit.")
    return number


def _show(resource: str, number: int | None) -> str:
    if number is None:
        return INFINITY
    if resource == "CPU":
        return show_timespan(number * SECOND)
    if resource == "RTTIME":
        return show_timespan(number)
    return show_size(number) if resource in _SIZES else str(number)


def _count(text: str) -> int:
    return integer(text, 0, MOST)


def _seconds(text: str) -> int | None:
    span = timespan(text)
    return None if span is None else -(-span // SECOND)


def _microseconds(text: str) -> int | None:
    return timespan(text, MICROSECOND)


def _nice(text: str) -> int:
    """A nice level where a sign stands before it, else the limit itself: 20 less the level."""
    if text.startswith("+"):
        return 20 - integer(text[1:], 0, 19)
    if text.startswith("-"):
        return 20 + integer(text[1:], 0, 20)
    return integer(text, 0, 40)


_READERS: dict[str, Callable[[str], int | None]] = {
    **dict.fromkeys(_SIZES, size),
    **dict.fromkeys(_COUNTS, _count),
    "CPU": _seconds,
    "RTTIME": _microseconds,
    "NICE": _nice,
}
