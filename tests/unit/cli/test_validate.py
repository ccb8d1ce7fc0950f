"""`knowngood validate` and `init` as their users call them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = "version: 1\nname: decode\nhosts: [decode]\nunit: sglang.service\n"


def knowngood(*arguments: str | Path, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    program = "import sys; from knowngood.cli import main; main(prog_name='knowngood')"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "inventory").mkdir()
    (tmp_path / "state" / "files").mkdir(parents=True)
    (tmp_path / "state" / "files" / "a").write_text("a\n", encoding="utf-8")
    (tmp_path / "state" / "decode.yaml").write_text(TOP, encoding="utf-8")
    return tmp_path


def test_good_manifests_are_said_to_be_good(project: Path) -> None:
    done = knowngood("validate", cwd=project / "state")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 manifest checked: no mistakes\n", "")


def test_mistakes_are_the_answer_and_stand_on_stdout(project: Path) -> None:
    (project / "state" / "decode.yaml").write_text(TOP + "fils: []\n", encoding="utf-8")
    (project / "state" / "other.yaml").write_text("", encoding="utf-8")
    done = knowngood("validate", "-C", project, cwd=Path("/"))
    assert done.returncode == 2
    assert done.stderr == ""
    assert done.stdout == (
        "state/decode.yaml:5:1: 'fils' has no meaning in a manifest (did you mean 'files'?)\n"
        "    fils: []\n"
        "    ^\n"
        "\n"
        "state/other.yaml:1:1: the manifest is empty: it needs version, name, hosts and unit\n"
        "\n"
        "2 mistakes in 2 manifests\n"
    )


def test_json_has_the_same(project: Path) -> None:
    (project / "state" / "other.yaml").write_text(
        TOP.replace("decode", "other") + "fils: []\n", encoding="utf-8"
    )
    done = knowngood("validate", "--json", cwd=project)
    assert done.returncode == 2
    assert json.loads(done.stdout) == {
        "schema_version": 1,
        "manifests": [{"name": "decode", "path": "state/decode.yaml"}],
        "diagnostics": [
            {
                "path": "state/other.yaml",
                "line": 5,
                "column": 1,
                "message": "'fils' has no meaning in a manifest",
                "hint": "did you mean 'files'?",
            }
        ],
        "written": [],
        "exit_code": 2,
    }


def test_hashes_are_written_and_told(project: Path) -> None:
    manifest = project / "state" / "decode.yaml"
    manifest.write_text(TOP + "files:\n  - path: /a\n    source: files/a\n", encoding="utf-8")
    assert knowngood("validate", cwd=project).returncode == 2
    done = knowngood("validate", "--write-hashes", cwd=project)
    sha256 = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
    assert done.returncode == 0
    assert (
        done.stdout
        == f"state/decode.yaml:7: files/a: sha256 {sha256} added\n1 manifest checked: no mistakes\n"
    )
    assert manifest.read_text(encoding="utf-8").endswith(f"    source: files/a\n    sha256: {sha256}\n")
    assert knowngood("validate", "--write-hashes", cwd=project).stdout == "1 manifest checked: no mistakes\n"


def test_no_project_and_no_manifest_are_usage_errors(project: Path, tmp_path: Path) -> None:
    done = knowngood("validate", "-C", "gone", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "knowngood: no project: -C names gone, which is no directory\n"
    (project / "state" / "decode.yaml").unlink()
    done = knowngood("validate", cwd=project)
    assert done.returncode == 2
    assert "no manifest in" in done.stderr


def test_init_makes_a_project_that_validates(tmp_path: Path) -> None:
    done = knowngood("init", "fleet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote fleet/state/decode.yaml\n" in done.stdout
    assert "knowngood validate" in done.stdout
    assert knowngood("validate", "-C", "fleet", cwd=tmp_path).returncode == 0
    again = knowngood("init", "fleet", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == "knowngood: fleet is a project already; nothing was written\n"


def test_init_says_why_it_cannot(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = knowngood("init", "file", cwd=tmp_path)
    assert done.returncode == 2
    assert "file" in done.stderr


def test_validate_imports_nothing_that_it_does_not_need(project: Path) -> None:
    program = (
        "import sys\n"
        "from knowngood.cli import main\n"
        "try: main(['validate'])\n"
        "except SystemExit as stopped: assert not stopped.code\n"
        "print(sorted({name.split('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].strip("[]").replace("'", "").split(", "))
    assert "yaml" in loaded
    assert not loaded & {
        "pyinfra",
        "gevent",
        "paramiko",
        "rich",
        "deepdiff",
        "tree_sitter",
        "asyncio",
        "sqlite3",
    }
