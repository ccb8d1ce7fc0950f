"""The marks around an answer, and the JSON between them. node/written.py describes the format."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import NoReturn

MOST_JSON = 16 << 20  # bytes, unpacked


class FrameError(Exception):
    """There is no whole answer to this question; the text says what is wrong, for people."""


def unframe(raw: bytes, run: str) -> object:
    """The value between the marks; whatever stands before and behind them is passed over.

    FrameError where it is missing, cut, too large or no JSON.
    """
    mark = f"<<knowngood {run}".encode("ascii")
    _, found, rest = raw.partition(mark + b" ")
    if not found:
        raise FrameError(_why_nothing(raw))
    head, closed, rest = rest.partition(b">>")
    form, _, length = head.partition(b" ")
    if not closed or not length.isdigit() or len(length) > 9:
        raise FrameError("the answer's first mark makes no sense, or is cut")
    body = rest[: int(length)]
    if rest[int(length) :][: len(mark) + 6] != mark + b" end>>":
        raise FrameError(f"the answer is cut: {len(rest)} of {int(length)} bytes came")
    return _parse(_unpack(form, body))


def _why_nothing(raw: bytes) -> str:
    if not raw.strip():
        return "the node answered nothing"
    if b"<<knowngood " in raw:
        return "the node answered another question than ours"
    return "the node's answer is not the probe's"


def _unpack(form: bytes, body: bytes) -> bytes:
    if form == b"json":
        return body
    if form != b"zlib":
        raise FrameError("the answer comes in a form that we don't know")
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(base64.b64decode(body, validate=True), MOST_JSON)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise FrameError("the answer can't be unpacked") from error
    if not unpacking.eof:
        raise FrameError("the answer is too large, or cut")
    return text


def _parse(text: bytes) -> object:
    try:
        return json.loads(text.decode("ascii"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise FrameError("the answer is no JSON") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
