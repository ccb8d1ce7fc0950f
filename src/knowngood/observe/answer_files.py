"""Files, bytecode and whole texts of an answer."""

from __future__ import annotations

import re

from knowngood.model import FileState, Pyc, Text
from knowngood.observe.answer_parts import NonsenseError, Part

SHA256 = re.compile(r"[0-9a-f]{64}")
_MODE = re.compile(r"[0-7]{4,5}")
_KINDS = frozenset(("regular", "missing", "directory", "other", "unreadable"))


def file_state(path: str, files: Part) -> FileState:
    """The state of one declared file, from the object of all."""
    if path not in files and files.problem is not None:
        return FileState(path, "unreadable", files.problem)
    part = files.part(path)
    kind = part.word("kind")
    if kind not in _KINDS:
        raise NonsenseError("a file of a kind that we don't know")
    return FileState(
        path=path,
        kind=kind,
        error=part.reason("error"),
        sha256=_matching(SHA256, part.word_or_none("sha256")),
        size=part.number("size", 0),
        mode=_matching(_MODE, part.word_or_none("mode")),
        owner=part.word_or_none("owner"),
        group=part.word_or_none("group"),
        mtime_ns=part.number("mtime_ns", 0),
        ctime_ns=part.number("ctime_ns", 0),
        symlink=part.word_or_none("symlink"),
        pycs=tuple(_pyc(each) for each in part.parts("pycs") if _is_telling(each)) if "pycs" in part else (),
    )


def _matching(pattern: re.Pattern[str], text: str | None) -> str | None:
    if text is not None and not pattern.fullmatch(text):
        raise NonsenseError("a hash or mode of a file that is none")
    return text


def _is_telling(pyc: Part) -> bool:
    """Bytecode that goes by a hash of its source says nothing where the node could not check the hash."""
    return not pyc.truth("hash_based") or pyc.truth("matches_source") is not None


def _pyc(part: Part) -> Pyc:
    return Pyc(
        path=part.word("path"),
        tag=part.word("tag"),
        source_mtime=part.number("source_mtime"),
        source_size=part.number("source_size"),
        mtime_ns=part.number("mtime_ns"),
        ctime_ns=part.number("ctime_ns"),
        matches_source=part.truth("matches_source"),
    )


def text_file(part: Part) -> Text:
    """A whole text, or the reason why it could not be read."""
    data = part.data("data")
    error = part.reason("error")
    return Text(
        part.word("path"), data, error if data is None and error else None if data is not None else "unread"
    )
