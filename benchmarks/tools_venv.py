"""A virtual environment of the benchmarks' own: the pinned rivals, and knowngood from this checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "knowngood-benchmarks"
BIN = CACHE / f"venv-{sys.version_info.major}.{sys.version_info.minor}" / "bin"


def install() -> None:
    """Make the environment, unless it is there and made from the same lists and the same checkout."""
    wanted = "\n".join(
        [str(ROOT), (HERE / "requirements.txt").read_text(), (ROOT / "pyproject.toml").read_text()]
    )
    stamp = BIN.parent / "installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"installing the tools into {BIN.parent} …", file=sys.stderr)
    venv.create(BIN.parent, with_pip=True, clear=True)
    order = [str(BIN / "pip"), "install", "-q", "-r", str(HERE / "requirements.txt"), "-e", str(ROOT)]
    done = subprocess.run(order, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"pip could not install the tools:\n{done.stderr}")
    stamp.write_text(wanted)


def move_in() -> None:
    """Go on with this program in the environment's own Python; returns at once when it is."""
    install()
    if Path(sys.prefix) != BIN.parent:
        os.execv(BIN / "python", [str(BIN / "python"), *sys.argv])
