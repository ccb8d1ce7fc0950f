"""A fault of ours in reading one node's texts costs that node its result, and nobody else."""

from __future__ import annotations

import shutil
from pathlib import Path

from .conftest import CHECKOUT, Cli
from .fleet import Fleet

BREAKS_ON_ONE_NODE = """
import sys
from knowngood.cli import entry
from knowngood.observe import see as room

real = room.see

def see(desired, observation):
    if observation.host == "decode-02":
        raise IndexError("sk-PLANTED-in-the-text")
    return real(desired, observation)

room.see = see
sys.argv[0] = "knowngood"
entry()
"""


def test_the_other_nodes_keep_their_report(fleet: Fleet, tmp_path: Path) -> None:
    for folder in ("inventory", "state"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder)
    cli = Cli(fleet, tmp_path, program=("-c", BREAKS_ON_ONE_NODE))
    run = cli("drift", "--json")
    assert run.statuses() == {"decode-01": "in_sync", "decode-02": "incomplete", "decode-03": "in_sync"}
    assert run.exit_code == 3
    assert "IndexError" in run.error("decode-02")
    assert "PLANTED" not in run.stdout + run.stderr
