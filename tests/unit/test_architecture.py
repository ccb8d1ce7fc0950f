"""The map in ARCHITECTURE.md names every module: `scripts/map` writes it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def test_the_map_is_up_to_date(tmp_path: Path) -> None:
    copy = tmp_path / "checkout"
    (copy / "src").mkdir(parents=True)
    (copy / "scripts").mkdir()
    (copy / "src/knowngood").symlink_to(CHECKOUT / "src/knowngood")
    for name in ("ARCHITECTURE.md", "scripts/map"):
        (copy / name).write_bytes((CHECKOUT / name).read_bytes())
    subprocess.run([sys.executable, copy / "scripts/map"], check=True)
    assert (copy / "ARCHITECTURE.md").read_text() == (CHECKOUT / "ARCHITECTURE.md").read_text(), (
        "run scripts/map"
    )
