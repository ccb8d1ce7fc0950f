"""The node's program as one text for `python3 -I -S -`: the modules of node/, each after those it needs.

A node has nothing of ours installed, so the text carries each module's source and enters it in sys.modules
under its own name; their imports of one another then work as they do here.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

# Each after those that it imports.
_PROBE = "ground command names block seals bytecode hashes filestate manager unitfiles texts cgroup process"
_PROBE += " records written probe"

_PROLOGUE = """\
import sys
def enter(name, source):
    module = type(sys)(name)
    sys.modules[name] = module
    exec(compile(source, name, "exec"), module.__dict__)
"""


@cache
def probe_program() -> str:
    """The probe without its request: Python source in ASCII that defines, and does nothing yet."""
    return _PROLOGUE + "".join(f"enter({_name(module)!r}, {_source(module)})\n" for module in _PROBE.split())


def call_of_probe(request: object) -> str:
    """The line that starts the probe with a request of dicts, lists, texts, numbers and None."""
    return f"sys.modules[{_name('probe')!r}].main({request!a})\n"


def _name(module: str) -> str:
    return f"knowngood.node.{module}"


def _source(module: str) -> str:
    return ascii((files("knowngood.node") / f"{module}.py").read_text("utf-8"))
