"""What systemd takes for valid UTF-8: the standard's, without the code points set aside as noncharacters.

Source: systemd, src/basic/utf8.c (utf8_is_valid, unichar_is_valid).
"""

from __future__ import annotations

import re

_NONCHARACTERS = re.compile(
    "[\ufdd0-\ufdef"
    + "".join(f"{chr(plane * 0x10000 + low)}" for plane in range(17) for low in (0xFFFE, 0xFFFF))
    + "]"
)


def is_valid(data: bytes) -> bool:
    """Whether systemd would accept these bytes as text."""
    if data.isascii():
        return True
    try:
        return _NONCHARACTERS.search(data.decode("utf-8")) is None
    except UnicodeDecodeError:
        return False


def is_valid_code_point(number: int) -> bool:
    """Whether an escape like \\UHHHHHHHH may name it."""
    if number >= 0x110000 or 0xD800 <= number <= 0xDFFF or 0xFDD0 <= number <= 0xFDEF:
        return False
    return number & 0xFFFE != 0xFFFE
