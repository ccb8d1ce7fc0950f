"""The node's program as one file, under every Python here; and the order in which things come to disk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from stage_of_transactions import Stage

from knowngood.observe.answer_frame import unframe
from knowngood.observe.node_program import node_program, pack, receipt_hook, sources

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the program is root's")

_PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
PYTHONS = sorted({sys.executable, *map(str, _PYENV.glob("3.*/bin/python3"))})


def program_in(folder: Path) -> Path:
    """The program, with its state in `folder` rather than in the node's own."""
    main = sources()["__main__.py"].replace("Home()", f"Home({os.fsencode(folder / 'state')!r})")
    archive = folder / "state/bin/node-0.pyz"
    archive.write_bytes(pack(sources() | {"__main__.py": main}))
    return archive


def test_the_same_sources_are_the_same_bytes() -> None:
    archive, sha256 = node_program()
    assert archive == pack(dict(reversed(sources().items())))
    assert len(sha256) == 64
    with zipfile.ZipFile(BytesIO(archive)) as read:
        assert {"__main__.py", "knowngood/node/transaction/main.py", "knowngood/node/ground.py"} <= set(
            read.namelist()
        )


def test_the_receipt_hook_can_neither_fail_a_start_nor_lack_privileges() -> None:
    assert receipt_hook().startswith(
        "ExecStartPre=-+/usr/bin/python3 -I -S /var/lib/knowngood/bin/node.pyz record %n"
    )


@pytest.mark.parametrize("python", PYTHONS)
def test_every_python_since_3_6_runs_a_transaction(python: str, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.write({"a.py": "X = 1\n", "b é": "old\n"})
    os.environ["PATH"], path = stage.environ["PATH"], os.environ["PATH"]
    os.environ["STAGE"] = str(tmp_path)
    try:
        stage.prepared({"a.py": "X = 2\n", "b é": None}, cache_dirs=[stage.path("cache")])
    finally:
        os.environ["PATH"] = path
    program = program_in(tmp_path)

    def call(*words: str) -> subprocess.CompletedProcess[bytes]:
        environ = stage.environ | {"LC_ALL": "C", "INVOCATION_ID": "a" * 32}
        return subprocess.run(
            [python, "-I", "-S", str(program), *words],
            input=b'{"run": "7"}',
            env=environ,
            capture_output=True,
            check=False,
        )

    for words in (["run", "1"], ["record", "decode.service"], ["boot"]):
        done = call(*words)
        assert (done.returncode, done.stderr) == (0, b"")
    answer = unframe(call("status").stdout, "7")
    assert isinstance(answer, dict)
    assert (answer["ok"], answer["pending"]["state"]) == (True, "active"), answer
    assert stage.seen()["a.py"] == "X = 2\n"
    assert (tmp_path / f"state/receipts/decode.service/{'a' * 32}.json").exists()
    assert b'"ok": false' in call("nonsense").stdout


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace here (apt-get install strace)")
def test_each_file_is_on_disk_before_its_rename_and_its_folder_after(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.write({"a": "old\n", "deep/b": "old\n"})
    os.environ["PATH"], path = stage.environ["PATH"], os.environ["PATH"]
    os.environ["STAGE"] = str(tmp_path)
    try:
        stage.prepared({"a": "new\n", "deep/b": "new\n"})
    finally:
        os.environ["PATH"] = path
    trace = tmp_path / "trace"
    wanted = "fsync,rename,renameat,renameat2,linkat"
    program = program_in(tmp_path)
    subprocess.run(
        [
            "strace",
            "-y",
            "-e",
            f"trace={wanted}",
            "-o",
            trace,
            sys.executable,
            "-I",
            "-S",
            program,
            "run",
            "1",
        ],
        env=stage.environ,
        check=True,
    )
    calls = trace.read_text().splitlines()
    live = str(stage.live)
    renames = [at for at, call in enumerate(calls) if call.startswith("rename") and f"<{live}" in call]
    assert len(renames) == 2, calls
    for at in renames:
        staged, folder = re.search(r'<([^>]*)>, "([^"]*)"', calls[at]), re.search(r"<([^>]*)>", calls[at])
        assert staged
        assert folder
        synced = [f"<{staged[1]}/{staged[2]}>" in call for call in calls[:at] if call.startswith("fsync")]
        assert any(synced), f"{staged[2]} was renamed before it was on disk"
        journal = next(
            i for i, call in enumerate(calls[at:], at) if "/journal/1.json" in call and "rename" in call
        )
        after = [f"<{folder[1]}>)" in call for call in calls[at:journal] if call.startswith("fsync")]
        assert any(after), f"{folder[1]} was not on disk before the journal went on"
    # The intent of all renames is on disk, file and folder, before the first.
    intents = [at for at, call in enumerate(calls) if "/journal/1.json" in call and call.startswith("rename")]
    last = max(at for at in intents if at < renames[0])
    assert any("/journal>)" in call for call in calls[last : renames[0]] if call.startswith("fsync"))
