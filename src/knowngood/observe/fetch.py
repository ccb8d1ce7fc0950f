"""One file's content, asked of a node and read from its answer. The node's side is node/fetch.py."""

from __future__ import annotations

import base64
import binascii
import hashlib

from knowngood.model import Failure
from knowngood.observe.answer_frame import FrameError, unframe
from knowngood.observe.answer_parts import NonsenseError, Part
from knowngood.observe.ask import run_of
from knowngood.observe.program import call, program

LARGEST = 4 << 20  # bytes; a node's whole answer has a limit too, and base64 makes four bytes of three


def ask_content(path: str, nonce: bytes) -> bytes:
    """The whole stdin for `python3 -I -S -`: the content of one file, at most LARGEST bytes."""
    request = {"run": run_of(nonce), "path": path, "limit": LARGEST}
    return (program("ground written fetch") + call("fetch", request)).encode("ascii")


def read_content(raw: bytes, nonce: bytes, path: str, sha256: str) -> bytes | Failure:
    """The answer to `ask_content(path, nonce)`, or why there is none.

    It counts only with the sha256 that the node was seen with: else the file changed meanwhile, or the node
    is not to be believed.
    """
    try:
        answer = Part(unframe(raw, run_of(nonce)), "answer")
        if (error := answer.reason("error")) is not None:
            return Failure("incomplete", f"{path} can't be read: {error}")
        content = base64.b64decode(answer.word("content"), validate=True)
    except FrameError as error:
        return Failure("incomplete", str(error))
    except (NonsenseError, binascii.Error) as error:
        return Failure("incomplete", f"the node's answer makes no sense ({error})")
    if hashlib.sha256(content).hexdigest() != sha256:
        return Failure("incomplete", f"{path} changed while it was read; try again")
    return content
