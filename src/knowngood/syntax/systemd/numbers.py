"""Single values as systemd reads them: whole numbers, sizes, spans of time, shares, modes, truth.

All raise ValueError with a sentence for text that systemd would refuse. Source: systemd.syntax(7),
systemd.time(7), systemd.resource-control(5); src/basic/parse-util.c, time-util.c, percent-util.c.
"""

from __future__ import annotations

import re

INFINITY = "infinity"
MOST = (1 << 64) - 1
BLANKS = " \t\n\r"

_INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0([0-7]*)|([1-9][0-9]*))\Z")
_DIGITS = re.compile(r"[+]?[0-9]+")
_SIZE = re.compile(r"[ \t\n\r]*\+?([0-9]+)(?:\.([0-9]*))?[ \t\n\r]*([EPTGMKB]?)")
_FACTORS: dict[str, int] = {suffix: 1 << 10 * power for power, suffix in enumerate("BKMGTPE")} | {"": 1}
_ORDER = "EPTGMKB"
_TENS = (1, 10, 100)


def integer(text: str, low: int, high: int) -> int:
    """A whole number as C's strtol() reads it (0x…, 0…: octal), and 0b…, 0o…."""
    prefix = text[:2].lower()
    try:
        if prefix in ("0b", "0o"):
            number = int(text[2:], 2 if prefix == "0b" else 8)
        else:
            match = _INTEGER.match(text.lstrip(BLANKS))
            if match is None:
                raise ValueError
            sign, hexadecimal, octal, decimal = match.groups()
            number = (
                int(decimal) if decimal else int(hexadecimal, 16) if hexadecimal else int(octal or "0", 8)
            )
            number = -number if sign == "-" else number
    except ValueError:
        raise ValueError(f"“{text}” is no whole number.") from None
    if not low <= number <= high:
        raise ValueError(f"{text} is not within {low} and {high}.")
    return number


def size(text: str) -> int:
    """Bytes: 64G, 1.5M, "1G 512M"; each suffix is 1024 times the one below, and they fall in order."""
    total, at, allowed = 0, 0, _ORDER
    while True:
        match = _SIZE.match(text, at)
        if match is None:
            raise ValueError(f"“{text}” is no size: a number, with K, M, G, T, P or E behind it.")
        whole, fraction, suffix = match.groups()
        if suffix and suffix not in allowed:
            raise ValueError(f"“{text}” is no size: its parts must come in falling order.")
        factor = _FACTORS[suffix]
        total += int(whole) * factor + int(float("0." + (fraction or "0")) * factor)
        if total > MOST or int(whole) > MOST:
            raise ValueError(f"“{text}” is too large.")
        at = match.end()
        if at == len(text):
            return total
        if not suffix:
            raise ValueError(f"“{text}” is no size: a number, with K, M, G, T, P or E behind it.")
        allowed = allowed[allowed.index(suffix) + 1 :]


def show_size(number: int) -> str:
    """Bytes in the largest unit that leaves no rest: 68719476736 is 64G."""
    for suffix in "EPTGMK":
        if number and number % _FACTORS[suffix] == 0:
            return f"{number // _FACTORS[suffix]}{suffix}"
    return str(number)


def share(text: str) -> int | None:
    """Hundredths of a percent of 12.5%, 5‰, 5‱; None where the text has none of those signs."""
    for sign, places in (("‱", 0), ("‰", 1), ("%", 2)):
        if text.endswith(sign):
            match = re.fullmatch(rf"(.+?)(?:\.([0-9]{{1,{places}}}))?" if places else "(.+)()", text[:-1])
            if match is None:
                raise ValueError(f"“{text}” is no share.")
            digits = (match[2] or "").ljust(places, "0")
            number = integer(match[1], 0, (1 << 31) - 1) * _TENS[places] + int(digits or "0")
            if number > (1 << 31) - 1:
                raise ValueError(f"“{text}” is too large.")
            return number
    return None


def show_share(number: int) -> str:
    """12.5% of 1250."""
    whole, rest = divmod(number, 100)
    return f"{whole}.{rest:02}".rstrip("0") + "%" if rest else f"{whole}%"


def mode(text: str) -> str:
    """A file mode: four octal digits."""
    if not re.fullmatch(r"[0-7]+", text) or int(text, 8) > 0o7777:
        raise ValueError(f"“{text}” is no mode: octal digits, up to 7777.")
    return f"{int(text, 8):04o}"


_TRUE = frozenset("1 yes y true t on".split())
_FALSE = frozenset("0 no n false f off".split())


def truth(text: str) -> str:
    """yes or no."""
    if text.lower() in _TRUE:
        return "yes"
    if text.lower() in _FALSE:
        return "no"
    raise ValueError(f"“{text}” is neither yes nor no.")
