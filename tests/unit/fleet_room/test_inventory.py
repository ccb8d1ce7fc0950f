"""The cases of tests/cases/inventory: good/NAME/fleet.py → expected.json, bad/NAME/fleet.py → expected.txt.

Reading an inventory loads pyinfra, which patches its process for gevent: all are read in one process apart.
With UPDATE_GOLDEN=1 in the environment the expected files are written anew, for reading in a diff.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parents[2] / "cases" / "inventory"
SOURCES = {
    "good": ["a,b", "a, @local ,@ssh/c", "localhost"],
    "bad": ["a,,b", "root@a,b", "inventory/none.py", "none.py", ".", "@dockr/a", ","],
}
READER = """
import json, os, sys
from knowngood.fleet.inventory import InventoryError, limit, load_inventory

def told(source, cwd):
    os.chdir(cwd)
    try:
        inventory = load_inventory(source)
    except InventoryError as error:
        return str(error)
    hosts = [{"name": h.name, "groups": list(h.groups), "data": dict(h.data)} for h in inventory.hosts]
    return {"hosts": hosts, "warnings": list(inventory.warnings)}

stdout, sys.stdout = sys.stdout, sys.stderr
answers = [told(source, cwd) for source, cwd in json.load(sys.stdin)]

from pyinfra.context import ctx_config, ctx_inventory, ctx_state
answers.append([manager.isset() for manager in (ctx_config, ctx_inventory, ctx_state)])
json.dump(answers, stdout)
"""


def cases(kind: str) -> list[Path]:
    return sorted((CASES / kind).iterdir())


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What each source gives: the case's name or the source → hosts and warnings, or the error's text."""
    asked = {case.name: ("fleet.py", str(case)) for kind in ("good", "bad") for case in cases(kind)}
    asked |= {source: (source, str(CASES)) for kind in ("good", "bad") for source in SOURCES[kind]}
    run = subprocess.run(
        [sys.executable, "-c", READER],
        input=json.dumps(list(asked.values())),
        capture_output=True,
        text=True,
        check=False,
        env={k: v for k, v in os.environ.items() if k != "KNOWNGOOD_NO_SUCH_VARIABLE"},
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    *answers, contexts = json.loads(run.stdout)
    assert contexts == [False, False, False], "pyinfra's global contexts are left as they were found"
    return dict(zip(asked, answers, strict=True))


def golden(path: Path, actual: str) -> str:
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(actual, encoding="utf-8")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", cases("good"), ids=lambda case: case.name)
def test_hosts_groups_and_data_are_pyinfras(case: Path, told: dict[str, Any]) -> None:
    actual = json.dumps(told[case.name], indent=1, ensure_ascii=False) + "\n"
    assert actual == golden(case / "expected.json", actual)


@pytest.mark.parametrize("case", cases("bad"), ids=lambda case: case.name)
def test_a_bad_inventory_is_told_by_file_and_line(case: Path, told: dict[str, Any]) -> None:
    actual = f"{told[case.name]}\n"
    assert actual == golden(case / "expected.txt", actual)


def test_hosts_by_name(told: dict[str, Any]) -> None:
    names = {source: [host["name"] for host in told[source]["hosts"]] for source in SOURCES["good"]}
    assert names == {
        "a,b": ["a", "b"],
        "a, @local ,@ssh/c": ["a", "@local", "@ssh/c"],
        "localhost": ["localhost"],
    }


def test_names_that_are_none(told: dict[str, Any]) -> None:
    assert {source: told[source] for source in SOURCES["bad"]} == {
        "a,,b": "'a,,b': a host's name is missing",
        ",": "',': a host's name is missing",
        "root@a,b": "root@a: pyinfra knows no user@host; write a and set its user in ~/.ssh/config, "
        "or ssh_user in an inventory file",
        "inventory/none.py": "inventory/none.py: no such inventory file",
        "none.py": "none.py: no such inventory file",
        ".": ".: is a directory, not an inventory file",
        "@dockr/a": "@dockr/a: pyinfra has no connector @dockr; did you mean @docker?",
    }
