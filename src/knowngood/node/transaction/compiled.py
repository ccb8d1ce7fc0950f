"""The program's bytecode, kept beside it: compiling it anew for every command would be most of their cost.

NODE.pyz.TAG is a zip of the same modules as .pyc files of this node's Python. Their headers say that nobody
need compare them with sources (PEP 552, hash-based and unchecked): the name has the program's own hash in it.
"""

import importlib.util
import io
import marshal
import os
import zipfile

from knowngood.node.ground import raw
from knowngood.node.transaction.durable import write_bytes

_UNCHECKED = 0b01
_PEP_552 = 3390  # the first magic number of Python 3.7


def keep_compiled(program: str, path: str) -> None:
    """Compile a program into a zip at `path`, where __main__ looks first. OSError where there is no room."""
    out = io.BytesIO()
    with zipfile.ZipFile(program) as archive, zipfile.ZipFile(out, "w") as made:
        for name in archive.namelist():
            if name.endswith(".py") and name != "__main__.py":
                code = compile(archive.read(name), name, "exec", dont_inherit=True)
                made.writestr(name + "c", _header() + marshal.dumps(code))
    write_bytes(raw(path), out.getvalue(), ours=b".%d" % os.getpid())


def _header() -> bytes:
    magic = importlib.util.MAGIC_NUMBER
    if int.from_bytes(magic[:2], "little") >= _PEP_552:
        return magic + _UNCHECKED.to_bytes(4, "little") + bytes(8)
    return magic + bytes(8)
