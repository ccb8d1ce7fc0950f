"""A virtual environment of the benchmarks' own: the pinned rivals, and knowngood as this checkout has it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "knowngood-benchmarks"
BIN = CACHE / f"venv-{sys.version_info.major}.{sys.version_info.minor}" / "bin"


def install() -> None:
    """Make the environment, and put the checkout as it now stands in it, where that is not done yet.

    A copy, as users have it: what is edited here while a benchmark runs does not change what it measures.
    """
    lists = _digest([HERE / "requirements.txt", ROOT / "pyproject.toml"])
    if not _done("lists", lists):
        print(f"installing the tools into {BIN.parent} …", file=sys.stderr)
        venv.create(BIN.parent, with_pip=True, clear=True)
        _pip("-r", str(HERE / "requirements.txt"), str(ROOT))
        _note("lists", lists)
    sources = lists + _digest(path for path in (ROOT / "src").rglob("*") if path.suffix != ".pyc")
    if not _done("sources", sources):
        _pip("--no-deps", "--force-reinstall", "--no-build-isolation", str(ROOT))
        _note("sources", sources)


def _pip(*words: str) -> None:
    order = [str(BIN / "pip"), "install", "-q", *words]
    done = subprocess.run(order, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"pip could not install the tools:\n{done.stderr}")


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256(str(ROOT).encode())
    for path in sorted(path for path in paths if path.is_file()):
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _done(what: str, digest: str) -> bool:
    stamp = BIN.parent / f"installed-{what}"
    return stamp.exists() and stamp.read_text() == digest


def _note(what: str, digest: str) -> None:
    (BIN.parent / f"installed-{what}").write_text(digest)


def move_in() -> None:
    """Go on with this program in the environment's own Python; returns at once when it is."""
    if Path(sys.prefix) != BIN.parent:
        install()
        os.execv(BIN / "python", [str(BIN / "python"), *sys.argv])
