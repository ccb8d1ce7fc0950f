"""Deadlines that hold when the wall clock jumps, and across a reboot.

Within a boot CLOCK_BOOTTIME counts, which nothing can set and which goes on while the machine sleeps. After a
reboot only the wall clock is left; what it says is clamped, so a clock that came up wrong can shorten a
deadline, and never lengthen it beyond its whole span.
"""

import time

from knowngood.node.ground import read_kernel, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BOOTTIME = 7  # CLOCK_BOOTTIME; named in the time module since Python 3.7


def boot_id() -> str:
    """Which boot of the machine this is (random(4))."""
    return word(read_kernel(b"/proc/sys/kernel/random/boot_id", 99)).strip()


def boot_seconds() -> float:
    """Seconds since the machine booted."""
    return time.clock_gettime(_BOOTTIME)


def deadline(seconds: float) -> "dict[str, Any]":
    """A deadline so many seconds from now, to be kept as JSON."""
    return {
        "boot_id": boot_id(),
        "boottime": boot_seconds() + seconds,
        "wall": time.time() + seconds,
        "span": seconds,
    }


def left(until: "dict[str, Any]") -> float:
    """Seconds until the deadline; 0 or less when it has passed."""
    if until["boot_id"] == boot_id():
        return float(until["boottime"] - boot_seconds())
    return min(float(until["wall"] - time.time()), float(until["span"]))


def wall_time() -> str:
    """Now, for people: ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
