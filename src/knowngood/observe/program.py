"""The node's program as one text for `python3 -I -S -`: the modules of node/, each after those it needs.

A node has nothing of ours installed, so the text carries the modules' sources and enters each in sys.modules
under its own name; their imports of one another then work as they do here. Comments and docstrings stay at
home, their lines don't: a traceback from a node names the true line.
"""

from __future__ import annotations

import base64
import io
import tokenize
import zlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

_PACKAGE = "knowngood.node"
_PROBE = (
    "ground sha256 command names block seals bytecode hashes filestate manager unitfiles texts cgroup process"
)
_PROBE += " records written probe"

# A collection of garbage never pays in a program that lives for some milliseconds.
_LOADER = """\
import binascii, gc, sys, zlib
gc.disable()
for name, source in eval(zlib.decompress(binascii.a2b_base64({sources!r})).decode("ascii")):
    module = sys.modules[name] = type(sys)(name)
    exec(compile(source, name, "exec"), module.__dict__)
"""


def probe_program() -> str:
    """The probe without its request: Python source in ASCII that defines, and does nothing yet."""
    return program(_PROBE)


@cache
def program(modules: str) -> str:
    """Modules of node/, named between spaces, as Python source in ASCII that defines and does nothing yet."""
    sources = [(f"{_PACKAGE}.{module}", bare(_source(module))) for module in modules.split()]
    packed = base64.b64encode(zlib.compress(ascii(sources).encode("ascii"), 9)).decode("ascii")
    return _LOADER.format(sources=packed)


def call_of_probe(request: object) -> str:
    """The line that starts the probe with a request of dicts, lists, texts, numbers and None."""
    return call("probe", request)


def call(module: str, request: object) -> str:
    """The line that calls a module's main with a request of dicts, lists, texts, numbers and None."""
    return f"sys.modules['{_PACKAGE}.{module}'].main({request!a})\n"


def _source(module: str) -> str:
    return (files(_PACKAGE) / f"{module}.py").read_text("utf-8")


def bare(source: str) -> str:
    """Python source without comments and docstrings, every other token on its line."""
    lines = source.split("\n")
    for token in _needless(source):
        (first, start), (last, end) = token.start, token.end
        after = lines[last - 1][end:]
        lines[first - 1] = lines[first - 1][:start] + ("0" if token.type == tokenize.STRING else "") + after
        lines[first:last] = [""] * (last - first)
    return "\n".join(line.rstrip() for line in lines)


def _needless(source: str) -> Iterator[tokenize.TokenInfo]:
    """Comments, and the strings that are a whole statement; the last first, so that positions hold."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    begins = (None, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.COMMENT)
    for at in reversed(range(len(tokens) - 1)):
        before = tokens[at - 1].type if at else None
        alone = before in begins and tokens[at + 1].type == tokenize.NEWLINE
        if tokens[at].type == tokenize.COMMENT or (tokens[at].type == tokenize.STRING and alone):
            yield tokens[at]
