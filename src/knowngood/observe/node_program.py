"""The node's program as one file: a zip that `python3 -I -S` runs (PEP 441), the same bytes each time.

It is kept on the node under a name made of its hash, so an upgrade never changes a program that runs.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from knowngood.observe.program import bare

FOLDER = "/var/lib/knowngood"
LASTING = f"{FOLDER}/bin/node.pyz"

# A zip beside the program may have its bytecode (compiled.py); a path that leads nowhere does no harm.
# Links are followed first: modules are read when they are needed, and by then a link may lead elsewhere.
_MAIN = """\
import os, sys
sys.path[0] = os.path.realpath(sys.path[0])
sys.path.insert(0, "%s.%s" % (sys.path[0], sys.implementation.cache_tag))
from knowngood.node.transaction.main import main
from knowngood.node.transaction.places import Home
sys.exit(main(sys.argv[1:], Home()))
"""
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # a zip knows no time before


@cache
def node_program() -> tuple[bytes, str]:
    """The archive, and its SHA-256 in hex."""
    archive = pack(sources())
    return archive, hashlib.sha256(archive).hexdigest()


def node_program_path() -> str:
    """Where the program lies on a node."""
    return f"{FOLDER}/bin/node-{node_program()[1][:12]}.pyz"


def receipt_hook(python: str = "/usr/bin/python3") -> str:
    """The line for a [Service] section that has each start of the unit leave a receipt."""
    return f"ExecStartPre=-+{python} -I -S {LASTING} record %n"


def sources() -> dict[str, str]:
    """The archive's files by name: every module of node/, and what starts them."""
    told = {"__main__.py": _MAIN, "knowngood/__init__.py": ""}
    _add(files("knowngood.node"), "knowngood/node", told)
    return told


def _add(folder: Traversable, name: str, told: dict[str, str]) -> None:
    for each in folder.iterdir():
        if each.is_dir() and each.name != "__pycache__":
            _add(each, f"{name}/{each.name}", told)
        elif each.name.endswith(".py"):
            told[f"{name}/{each.name}"] = bare(each.read_text("utf-8"))


def pack(texts: dict[str, str]) -> bytes:
    """A zip of these files, sorted and without times, so that the same texts are the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(texts):
            info = zipfile.ZipInfo(name, _EARLIEST)
            info.external_attr = 0o600 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, texts[name])
    return out.getvalue()
