"""Several files put into a project together: all of them as a whole, or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def place(contents: Mapping[Path, bytes]) -> None:
    """Write every file, the last one last; folders that are missing are made.

    Each is written beside its place first and then renamed. OSError when one can't be: then all places are as
    they were before. Mode 0644, or that of the file that is replaced.
    """
    staged: dict[Path, Path] = {}
    replaced: dict[Path, Path | None] = {}
    try:
        for path, data in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            staged[path] = _staged(path, data)
        for path, temporary in staged.items():
            replaced[path] = _kept(path)
            temporary.replace(path)
    except BaseException:
        for path, former in replaced.items():
            _put_back(path, former)
        raise
    finally:
        for leftover in (*staged.values(), *(former for former in replaced.values() if former)):
            leftover.unlink(missing_ok=True)


def _staged(path: Path, data: bytes) -> Path:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode & 0o7777 if path.exists() else 0o644)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _kept(path: Path) -> Path | None:
    """A second name for the file that is about to be replaced; None where there is none."""
    if not path.exists():
        return None
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(descriptor)
    kept = Path(name)
    kept.unlink()
    os.link(path, kept)
    return kept


def _put_back(path: Path, former: Path | None) -> None:
    with suppress(OSError):
        if former is None:
            path.unlink(missing_ok=True)
        else:
            former.replace(path)
