"""The answer as it goes over the wire: JSON in ASCII between two marks that tell its length.

    <<knowngood RUN FORM LENGTH>>BODY<<knowngood RUN end>>

RUN is the request's, so that only an answer to this very question counts; FORM is `json`, or `zlib` for JSON
that is compressed and in base64; LENGTH counts the body's bytes. Whatever a login shell prints before or
behind it does not matter, and a cut is seen.
"""

import os

_SMALL = 2048


def encode(value: "object") -> str:
    """JSON in ASCII. The json module would bring in `re`, and cost more than all that it is needed for."""
    try:
        from _json import encode_basestring_ascii as quoted
    except ImportError:
        import json

        return json.dumps(value)

    def encoded(part: "object") -> str:
        if isinstance(part, str):
            return str(quoted(part))
        if part is None or isinstance(part, bool):
            return {None: "null", True: "true", False: "false"}[part]
        if isinstance(part, dict):
            return "{" + ",".join(quoted(key) + ":" + encoded(each) for key, each in part.items()) + "}"
        if isinstance(part, (list, tuple)):
            return "[" + ",".join(encoded(each) for each in part) + "]"
        if isinstance(part, (int, float)):
            return repr(part)
        raise TypeError(type(part).__name__)

    return encoded(value)


def frame(run: str, text: str) -> bytes:
    """The whole answer around a JSON text."""
    form, body = b"json", text.encode("ascii")
    if len(body) > _SMALL:
        try:
            import binascii
            import zlib

            form, body = b"zlib", binascii.b2a_base64(zlib.compress(body, 1)).strip()
        except ImportError:
            pass
    mark = b"<<knowngood " + run.encode("ascii")
    return mark + b" " + form + b" %d>>" % len(body) + body + mark + b" end>>\n"


def write(answer: bytes) -> None:
    """Print it, past Python's buffers and whatever encoding they were given."""
    while answer:
        answer = answer[os.write(1, answer) :]
