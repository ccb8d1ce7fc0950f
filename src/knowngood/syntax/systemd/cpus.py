"""Sets of CPUs, as ranges: "0-3 8". Source: systemd.exec(5), CPUAffinity=; src/shared/cpu-set-util.c."""

from __future__ import annotations

from collections.abc import Iterable

from knowngood.syntax.systemd.numbers import integer
from knowngood.syntax.systemd.words import BadWordError, Style, words

_STYLE = Style(unquote=True, separators=b" \t\n\r,")
_MOST = 65536  # no machine has so many; a larger number would only cost memory


def cpus(lines: Iterable[str]) -> str:
    """The CPUs of all lines together; "" where an empty line was the last. Raises ValueError."""
    chosen: set[int] | None = None
    for line in lines:
        try:
            found = [word.text.decode("utf-8", "replace") for word in words(line.encode(), _STYLE)]
        except BadWordError:
            raise ValueError(f"“{line}” has an open quote.") from None
        chosen = (chosen or set()).union(*map(_range, found)) if found else None
    return show_cpus(chosen or ())


def _range(text: str) -> range:
    low, dash, high = text.partition("-")
    first = integer(low, 0, _MOST)
    last = integer(high, 0, _MOST) if dash else first
    if last < first:
        raise ValueError(f"The CPUs {text} run backwards.")
    return range(first, last + 1)


def show_cpus(chosen: Iterable[int]) -> str:
    """Numbers as ranges, with blanks between them."""
    ranges: list[tuple[int, int]] = []
    for cpu in sorted(chosen):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1] = (ranges[-1][0], cpu)
        else:
            ranges.append((cpu, cpu))
    return " ".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)
