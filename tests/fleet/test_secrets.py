"""A planted secret is found in no output, no file on the controller, no process list on a node."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import CHECKOUT, Cli
from .faults.knobs import SECRETS
from .fleet import Fleet
from .node import Node

NODE = "decode-02"
TOKEN, API_KEY = SECRETS

# What the manifest says of the two planted secrets → the findings that the node then has.
DECLARED: dict[str, tuple[str, str, dict[str, str], set[tuple[str, str]]]] = {
    "nothing": ("", "", {}, set()),
    "the same secrets": (
        "    HF_TOKEN: {secret: env:A_TOKEN}\n",
        "    --api-key: {secret: env:A_KEY}\n",
        {"A_TOKEN": TOKEN, "A_KEY": API_KEY},
        set(),
    ),
    "other secrets": (
        "    HF_TOKEN: {secret: env:A_TOKEN}\n",
        "    --api-key: {secret: env:A_KEY}\n",
        {"A_TOKEN": "hf_OTHERPLANTED", "A_KEY": "sk-OTHERPLANTED"},
        {("env:HF_TOKEN", "edited_and_live"), ("arg:--api-key", "edited_and_live")},
    ),
    "that there must be none": (
        "    HF_TOKEN: {absent: true}\n",
        "    --api-key: {absent: true}\n",
        {},
        {("env:HF_TOKEN", "edited_and_live"), ("arg:--api-key", "edited_and_live")},
    ),
    "plain values": (
        "    HF_TOKEN: changeme\n",
        "    --api-key: changeme\n",
        {},
        {("env:HF_TOKEN", "edited_and_live"), ("arg:--api-key", "edited_and_live")},
    ),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("inventory", "state"):
        shutil.copytree(CHECKOUT / folder, tmp_path / "project" / folder)
    return tmp_path / "project"


@pytest.fixture
def watched(fleet: Fleet) -> Iterator[list[str]]:
    """Every command line seen on the node meanwhile, but for those of the unit itself."""
    seen: list[str] = []
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(fleet[NODE], stop, seen))
    watcher.start()
    yield seen
    stop.set()
    watcher.join()


def _watch(node: Node, stop: threading.Event, seen: list[str]) -> None:
    look = (
        "for round in $(seq 4); do for p in /proc/[0-9]*; do grep -q sglang-dsv4 $p/cgroup 2>/dev/null ||"
        " { tr '\\0' ' ' <$p/cmdline; echo; } 2>/dev/null; done; sleep 0.02; done; true"
    )
    while not stop.is_set():
        seen.append(node.run(look).stdout)


def declare(project: Path, knob: str, flag: str) -> None:
    manifest = project / "state/decode.yaml"
    text = manifest.read_text()
    manifest.write_text(
        text.replace("  env:\n", f"  env:\n{knob}", 1).replace("  args:\n", f"  args:\n{flag}", 1)
    )


def files_of(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("case", DECLARED)
def test_drift_compares_secrets_and_tells_none(
    fleet: Fleet, broken: Any, project: Path, watched: list[str], tmp_path: Path, case: str
) -> None:
    knob, flag, environ, expected = DECLARED[case]
    declare(project, knob, flag)
    broken("secrets-planted", NODE)
    home = tmp_path / "home"
    home.mkdir()
    cli = Cli(fleet, project)
    env = environ | {"HOME": str(home), "TMPDIR": str(home)}
    runs = [cli("drift", "--limit", NODE, *words, env=env) for words in ([], ["-v"], ["-vv"], ["--json"])]
    assert runs[-1].findings(NODE) == expected
    assert {run.exit_code for run in runs} == {1 if expected else 0}
    told = "".join(run.stdout + run.stderr for run in runs)
    for secret in (*SECRETS, *environ.values()):
        assert secret not in told
        assert not any(secret in line for line in watched)
        assert not [path for path in files_of(project, home) if secret.encode() in path.read_bytes()]


def test_explain_masks_secrets(fleet: Fleet, knowngood: Cli, broken: Any, tmp_path: Path) -> None:
    broken("secrets-planted", NODE)
    script = tmp_path / "serve.sh"
    script.write_text(fleet[NODE].run("cat /root/serve_dsv4_decode.sh").stdout)
    for words in ([], ["--json"]):
        run = knowngood("explain", str(script), *words)
        assert run.exit_code == 0
        assert "HF_TOKEN" in run.stdout and "--api-key" in run.stdout
        assert not any(secret in run.stdout + run.stderr for secret in SECRETS)
