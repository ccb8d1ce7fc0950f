"""What a running process has of a file that it read when it started, by the best evidence there is.

In this order: its receipt; for a .py, the header of the .pyc beside it (PEP 552: the source's mtime in
seconds and size in bytes); else times. A process cannot be asked which source its modules came from: an
imported .py leaves neither an open file nor a mapping.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from knowngood.model import FileState, Known, Process, Pyc, Receipt, Unknown, Value

TOLERANCE_NS = 2 * 10**9  # start ticks and file times come from different clocks
# A server imports its modules within this time of its (or its youngest child's) start; a .pyc that was
# written later may stem from someone else's import of newer source.
STARTUP_NS = 60 * 10**9


def loaded_content(
    file: FileState, server: Process, newest_start_ns: int, receipt: Receipt | None
) -> tuple[Value, str]:
    """What the server loaded of `file` (its sha256), and the evidence in a sentence.

    `newest_start_ns`: wall-clock start of the unit's youngest process, in ns. A value that is only known
    to be another than the disk's content comes as Unknown with `not_value` set to that content.
    """
    if file.sha256 is None:
        return Unknown(file.error or "the file can't be read now"), ""
    if receipt is not None and file.path in receipt.files:
        sha256, _ = receipt.files[file.path]
        return Known(sha256), f"pid {server.pid} started with {sha256[:8]} (receipt)"
    started = f"pid {server.pid} started {clock(server.started_ns)}"
    pyc = _pyc_of(file, server)
    untouched = file.ctime_ns <= server.started_ns + TOLERANCE_NS
    if untouched:
        if pyc is not None and pyc.matches_source is False and _records(pyc, file):
            return _another(
                file, f"stale bytecode: {pyc.path} was compiled from other source of this size and mtime"
            )
        return Known(file.sha256), f"{started}, the file last changed {clock(file.ctime_ns)}"
    if pyc is not None and pyc.mtime_ns <= newest_start_ns + STARTUP_NS:
        by_pyc = _by_bytecode(file, file.sha256, server, pyc)
        if by_pyc is not None:
            return by_pyc
    if file.mtime_ns > server.started_ns + TOLERANCE_NS:
        return _another(file, f"{started}, the file changed {clock(file.mtime_ns)}")
    return (
        Unknown("the file's inode changed after the start (a chmod, or a restore that kept its mtime)"),
        f"{started}, ctime {clock(file.ctime_ns)}, mtime {clock(file.mtime_ns)}",
    )


def _by_bytecode(file: FileState, sha256: str, server: Process, pyc: Pyc) -> tuple[Value, str] | None:
    if not _records(pyc, file):
        return _another(
            file,
            f"pid {server.pid} runs bytecode of a source with mtime {clock(pyc.source_mtime * 10**9)} and"
            f" {pyc.source_size} bytes; the file has mtime {clock(file.mtime_ns)} and {file.size} bytes",
        )
    if pyc.matches_source is False:
        return _another(file, f"{pyc.path} was compiled from other source of the same size and mtime")
    if pyc.mtime_ns > server.started_ns + TOLERANCE_NS and file.mtime_ns > server.started_ns + TOLERANCE_NS:
        return None  # compiled from source newer than the start: maybe by someone else's import
    return Known(sha256), f"the bytecode that pid {server.pid} loaded was compiled from this content"


def _records(pyc: Pyc, file: FileState) -> bool:
    """Whether Python would take the .pyc for the source: low 32 bits of mtime in seconds, and of size."""
    mtime = file.mtime_ns // 10**9 & 0xFFFFFFFF
    return (pyc.source_mtime, pyc.source_size) == (mtime, file.size & 0xFFFFFFFF)


def _pyc_of(file: FileState, server: Process) -> Pyc | None:
    """The .pyc that the server's interpreter reads; None where that can't be told."""
    if not file.pycs:
        return None
    version = re.search(r"python(\d)\.(\d+)", server.exe or "")
    if version:
        tag = f"cpython-{version[1]}{version[2]}"
        return next((pyc for pyc in file.pycs if pyc.tag == tag), None)
    return file.pycs[0] if len(file.pycs) == 1 else None


def _another(file: FileState, evidence: str) -> tuple[Value, str]:
    return Unknown("not the content that is on disk now", not_value=file.sha256), evidence


def clock(ns: int) -> str:
    """A wall-clock time in ns, for people: ISO 8601 in UTC, whole seconds."""
    try:
        return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return f"at {ns} ns"
