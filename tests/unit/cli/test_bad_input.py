"""Bad input gets a message that says where and what to do, and exit code 2; nothing is contacted."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

MANIFEST = "version: 1\nname: a\nhosts: [decode]\nunit: x.service\n"
INVENTORY = "decode = ['127.0.0.99']\n"
SECRET = "serve_script: {path: /a.sh, env: {HF_TOKEN: {secret: 'env:KNOWNGOOD_TEST_UNSET'}}}\n"


@dataclass
class Case:
    """Files of a project, and what `knowngood drift` must say of it on stderr."""

    says: list[str]
    files: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()


GOOD = {"state/a.yaml": MANIFEST, "inventory/fleet.py": INVENTORY}
CASES = {
    "no project": Case(["no project", "knowngood init"]),
    "no manifest": Case(["no manifest", "knowngood capture"], {"inventory/fleet.py": INVENTORY}),
    "no inventory": Case(["no inventory", "fleet.py does not exist"], {"state/a.yaml": MANIFEST}),
    "an inventory that raises": Case(
        ["inventory/fleet.py:2", "ValueError: boom"],
        GOOD | {"inventory/fleet.py": "x = 1\nraise ValueError('boom')\n"},
    ),
    "an inventory without hosts": Case(["no hosts"], GOOD | {"inventory/fleet.py": "x = 1\n"}),
    "an empty manifest": Case(["state/a.yaml:1:1", "empty"], GOOD | {"state/a.yaml": ""}),
    "two manifests on one unit": Case(
        ["x.service", "claimed", "state/b.yaml:4"],
        GOOD | {"state/b.yaml": MANIFEST.replace("name: a", "name: b")},
    ),
    "hosts in no inventory": Case(
        ["'decoed'", "did you mean 'decode'"],
        GOOD | {"state/a.yaml": MANIFEST.replace("[decode]", "[decoed]")},
    ),
    "host data that is missing": Case(
        ["state/a.yaml:5", "{host.head}", "127.0.0.99"],
        GOOD | {"state/a.yaml": MANIFEST + "serve_script: {path: /a.sh, args: {--x: '{host.head}:1'}}\n"},
    ),
    "an unset secret": Case(["KNOWNGOOD_TEST_UNSET", "HF_TOKEN"], GOOD | {"state/a.yaml": MANIFEST + SECRET}),
    "a limit that matches nothing": Case(["'nope'"], GOOD, ("--limit", "nope")),
    "an inventory file that is not there": Case(["no such inventory file"], GOOD, ("-i", "nope/fleet.py")),
    "hosts that no manifest is for": Case(["no manifest applies"], GOOD, ("-i", "127.0.0.98")),
    "an unknown option": Case(["No such option"], GOOD, ("--frob",)),
}


def run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("KNOWNGOOD")}
    return subprocess.run(
        [sys.executable, "-m", "knowngood", *words],
        cwd=project,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", CASES)
def test_drift_refuses_before_it_contacts_anything(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    for folder in {path.split("/")[0] for path in case.files} and ("state", "inventory"):
        (tmp_path / folder).mkdir()
    for path, text in case.files.items():
        (tmp_path / path).write_text(text)
    done = run(tmp_path, "drift", *case.words)
    assert (done.returncode, done.stdout) == (2, "")
    for words in case.says:
        assert words in done.stderr
    assert "Traceback" not in done.stderr and "asking" not in done.stderr
    assert not (tmp_path / ".knowngood").exists()


def test_an_unknown_verb_gets_the_nearest_one(tmp_path: Path) -> None:
    done = run(tmp_path, "drfit")
    assert done.returncode == 2
    assert "Did you mean 'drift'?" in done.stderr


@pytest.mark.parametrize("words", ["--help", "--version", "validate", "drift --help", "explain a.sh"])
def test_what_needs_no_node_imports_no_network_code(tmp_path: Path, words: str) -> None:
    for path, text in GOOD.items():
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(text)
    (tmp_path / "a.sh").write_text("exec python3 -m sglang.launch_server --tp 4\n")
    code = (
        "import sys\nfrom knowngood.cli import main\n"
        "try:\n    main(prog_name='knowngood')\nexcept SystemExit as e:\n    assert not e.code, e.code\n"
        "heavy = {'pyinfra', 'gevent', 'paramiko', 'rich.live', 'deepdiff'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
