"""How the command ends when it is interrupted, or its answer can't be written."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = "exec python3 -m sglang.launch_server --tp 4\n"


def test_an_answer_that_cannot_be_written_is_neither_drift_nor_in_sync(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text(SCRIPT)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "knowngood", "explain", "a.sh"],
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "could not be written" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("after", [0.3, 1.5])
def test_ctrl_c_ends_with_130(tmp_path: Path, after: float) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "inventory").mkdir()
    (tmp_path / "state/a.yaml").write_text("version: 1\nname: a\nhosts: [decode]\nunit: x.service\n")
    (tmp_path / "inventory/fleet.py").write_text("import time\ntime.sleep(30)\ndecode = ['127.0.0.99']\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "knowngood", "drift"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(after + 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
