"""The .pyc files beside a .py: what their headers record, and whether they are this source's bytecode.

Formats: PEP 3147 (names), PEP 552 (headers, since Python 3.7: magic, flags, then mtime and size or a hash;
before it: magic, mtime, size), all numbers little-endian.
"""

import os

from knowngood.node.ground import Problem, Round, names_in, read_file, word

_CHECKS_HASH, _FLAGS = 0b10, 0b11
_PEP_552 = 3390  # the first magic number of Python 3.7
_LIMIT = 16 << 20
_MOST = 32  # .pyc files of one source
_COMPARING = 2.0  # seconds that must be left to compile a source


def pycs_of(path: bytes, source: os.stat_result, turn: Round) -> "list[dict[str, object]]":
    """Every .pyc of a source file that can be read, by the names of model.Pyc's fields.

    A hash-based one has "hash_based": true, and its source_mtime and source_size are those of the source.
    """
    folder, _, name = path.rpartition(b"/")
    folder += b"/__pycache__"
    stem = name[: -len(b".py")] + b"."
    try:
        names = names_in(folder)
    except OSError:
        return []  # then times must do
    mine = [each for each in names if each.startswith(stem) and each.endswith(b".pyc")]
    told = []
    for each in mine[:_MOST]:
        tag = word(each[len(stem) : -len(b".pyc")])
        if tag.startswith(("cpython-", "pypy")):
            try:
                told.append(_pyc(folder + b"/" + each, tag, path, source, turn))
            except (OSError, Problem):
                continue
    return told


def _pyc(pyc: bytes, tag: str, path: bytes, source: os.stat_result, turn: Round) -> "dict[str, object]":
    data = read_file(pyc, _LIMIT)
    found = os.stat(pyc)
    magic = int.from_bytes(data[:2], "little")
    if len(data) < 16 or data[2:4] != b"\r\n":
        raise Problem("no bytecode file")
    told = {
        "path": word(pyc),
        "tag": tag,
        "mtime_ns": found.st_mtime_ns,
        "ctime_ns": found.st_ctime_ns,
        "source_mtime": source.st_mtime_ns // 10**9 & 0xFFFFFFFF,
        "source_size": source.st_size & 0xFFFFFFFF,
    }  # type: dict[str, object]
    flags = int.from_bytes(data[4:8], "little") if magic >= _PEP_552 else 0
    if flags & ~_FLAGS:
        raise Problem("unknown flags")
    if flags:
        told["hash_based"] = True
        told["matches_source"] = _hash_matches(data, path)
        return told
    header = data[8:16] if magic >= _PEP_552 else data[4:12]
    recorded = int.from_bytes(header[:4], "little"), int.from_bytes(header[4:], "little")
    accepted = recorded == (told["source_mtime"], told["source_size"])
    told["source_mtime"], told["source_size"] = recorded
    if accepted and source.st_ctime_ns >= found.st_ctime_ns and turn.left() > _COMPARING:
        told["matches_source"] = _recompiled_alike(data, tag, path)
    return told


def _hash_matches(data: bytes, path: bytes) -> "bool | None":
    """PEP 552: SipHash-2-4 (1-3 since 3.11) of the source, keyed with the magic number."""
    if data[:4] != _own_magic():
        return None
    import _imp

    key = int.from_bytes(data[:4], "little")
    return bool(_imp.source_hash(key, read_file(path, _LIMIT)) == data[8:16])


def _own_magic() -> bytes:
    import _frozen_importlib_external

    return bytes(_frozen_importlib_external.MAGIC_NUMBER)


def _recompiled_alike(data: bytes, tag: str, path: bytes) -> "bool | None":
    """Compile the source as the interpreter of the .pyc would, and compare; nothing is run.

    None where this interpreter writes other bytecode than that one, or the source does not compile. Releases
    of one minor version share a magic number, and lay out some code otherwise all the same: so where the
    .pyc may stem from another release, code that differs in nothing but its layout proves nothing.
    """
    if data[:4] != _own_magic():
        return None
    import marshal
    import warnings

    optimize = int(tag[-1]) if tag[-6:-1] == ".opt-" and tag[-1].isdigit() else 0
    header = 16 if int.from_bytes(data[:2], "little") >= _PEP_552 else 12
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(read_file(path, _LIMIT), "", "exec", dont_inherit=True, optimize=optimize)
        compiled = marshal.loads(data[header:])
    except (SyntaxError, ValueError, TypeError, EOFError, MemoryError, RecursionError):
        return None
    if not _alike(code, compiled, _MEANING):
        return False
    return _alike(code, compiled, "co_code") or (False if _is_our_own(path) else None)


def _is_our_own(path: bytes) -> bool:
    """Whether the source lies in a tree of packages whose interpreter runs this very program."""
    prefix = path.partition(b"/lib/python")[0]
    return os.path.realpath(prefix + b"/bin/python3") == os.path.realpath(b"/proc/self/exe")


_MEANING = "co_names co_varnames co_freevars co_cellvars co_name co_flags co_argcount co_kwonlyargcount"


def _alike(one: "object", other: "object", parts: str) -> bool:
    """Whether two constants of bytecode are the same; code objects by these parts and their constants."""
    if type(one) is not type(other):
        return False
    if hasattr(one, "co_code"):
        same = all(getattr(one, name) == getattr(other, name) for name in parts.split())
        return same and _alike(one.co_consts, other.co_consts, parts)  # type: ignore[attr-defined]
    if isinstance(one, tuple) and isinstance(other, tuple):
        same = len(one) == len(other)
        return same and all(_alike(one[at], other[at], parts) for at in range(len(one)))
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    return repr(one) == repr(other)
