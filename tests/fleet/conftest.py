"""Real nodes for tests: one fleet of three for the run; who breaks a node mends it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .faults import FAULTS
from .fleet import Fleet
from .mend import mend

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Three nodes, up and healthy; gone when the run ends, also when it is killed."""
    with Fleet(tmp_path_factory.mktemp("fleet"), owned=True) as nodes:
        nodes.up(3)
        yield nodes


@dataclass
class Run:
    """What a run of the command line gave."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def report(self) -> dict[str, Any]:
        assert self.stdout, self.stderr
        parsed: dict[str, Any] = json.loads(self.stdout)
        return parsed

    def findings(self, host: str) -> set[tuple[str, str]]:
        """The host's findings as (setting, verdict)."""
        (found,) = [entry for entry in self.report["hosts"] if entry["host"] == host]
        return {(finding["setting"], finding["verdict"]) for finding in found["findings"]}

    def statuses(self) -> dict[str, str]:
        return {entry["host"]: entry["status"] for entry in self.report["hosts"]}

    def error(self, host: str) -> str:
        (found,) = [entry for entry in self.report["hosts"] if entry["host"] == host]
        return str(found["error"])


class Cli:
    """The installed command line, run as a user would, against one fleet."""

    def __init__(
        self, fleet: Fleet, project: Path = CHECKOUT, program: tuple[str, ...] = ("-m", "knowngood")
    ) -> None:
        self.fleet = fleet
        self.project = project
        self.program = program

    def __call__(self, *words: str, env: dict[str, str] | None = None, timeout: float = 120) -> Run:
        environ = os.environ | {"KNOWNGOOD_FLEET": str(self.fleet.state), "NO_COLOR": "1"} | (env or {})
        done = subprocess.run(
            [sys.executable, *self.program, *words],
            cwd=self.project,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Run(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def knowngood(fleet: Fleet) -> Cli:
    """Run `knowngood` in this checkout's project."""
    return Cli(fleet)


@pytest.fixture
def broken(fleet: Fleet) -> Iterator[Any]:
    """Break a node: `broken("knob-live", "decode-02")`. All broken nodes are mended after the test."""
    touched: set[str] = set()

    def break_node(fault: str, node: str) -> None:
        touched.add(node)
        FAULTS[fault](fleet[node])

    yield break_node
    for name in touched:
        mend(fleet[name])
