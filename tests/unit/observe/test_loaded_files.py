"""What a running process has of a file that it read when it started: receipt, bytecode, times."""

from __future__ import annotations

import pytest

from knowngood.model import FileState, Known, Process, Pyc, Receipt, Unknown, Value
from knowngood.observe.loaded_files import loaded_content

S = 10**9
START = 1_000 * S
PATH = "/site/kernel.py"
DISK = "d" * 64


def server(exe: str = "/usr/bin/python3.11") -> Process:
    return Process(7, 1, 0, START, exe, ("python3",), {}, {})


def file(*, mtime: int, ctime: int, pyc: Pyc | None = None, path: str = PATH, size: int = 100) -> FileState:
    pycs = () if pyc is None else (pyc,)
    return FileState(
        path, "regular", None, DISK, size, "0644", "root", "root", mtime * S, ctime * S, None, pycs
    )


def pyc(source_mtime: int, written: int, *, size: int = 100, matches: bool | None = None) -> Pyc:
    return Pyc(f"{PATH}c", "cpython-311", source_mtime, size, written * S, written * S, matches)


def loaded(state: FileState, receipt: Receipt | None = None, process: Process | None = None) -> Value:
    value, evidence = loaded_content(state, process or server(), START, receipt)
    assert evidence
    return value


def is_disks(value: Value) -> bool:
    return value == Known(DISK)


def is_another(value: Value) -> bool:
    return isinstance(value, Unknown) and value.not_value == DISK


def is_unknown(value: Value) -> bool:
    return isinstance(value, Unknown) and value.not_value is None


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param(file(mtime=500, ctime=500), is_disks, id="untouched since before the start"),
        pytest.param(file(mtime=1001, ctime=1001), is_disks, id="within the clocks' tolerance"),
        pytest.param(file(mtime=1100, ctime=1100), is_another, id="edited after the start"),
        pytest.param(file(mtime=500, ctime=1100), is_unknown, id="chmod or restore, with no bytecode"),
        pytest.param(file(mtime=500, ctime=1100, pyc=pyc(500, 600)), is_disks, id="chmod"),
        pytest.param(
            file(mtime=500, ctime=1100, pyc=pyc(900, 1003)), is_another, id="restored with its old mtime"
        ),
        pytest.param(file(mtime=500, ctime=1100, pyc=pyc(500, 600, size=99)), is_another, id="another size"),
        pytest.param(
            file(mtime=500, ctime=1100, pyc=pyc(500, 600, matches=False)),
            is_another,
            id="same size and mtime, other code",
        ),
        pytest.param(
            file(mtime=500, ctime=900, pyc=pyc(500, 600, matches=False)),
            is_another,
            id="stale bytecode at the start",
        ),
        pytest.param(
            file(mtime=500, ctime=900, pyc=pyc(500, 600, matches=True)), is_disks, id="bytecode proved"
        ),
        pytest.param(
            file(mtime=1500, ctime=1500, pyc=pyc(1500, 1510)),
            is_another,
            id="recompiled later by someone else",
        ),
        pytest.param(
            file(mtime=500, ctime=1100, pyc=pyc(500, 1500)), is_unknown, id="bytecode newer than the start-up"
        ),
        pytest.param(
            file(mtime=1010, ctime=1010, pyc=pyc(1010, 1012)),
            is_another,
            id="edited while it started: times decide",
        ),
        pytest.param(file(mtime=500, ctime=1100, path="/etc/x.json"), is_unknown, id="no Python file"),
    ],
)
def test_the_best_evidence_decides(state: FileState, expected: object) -> None:
    assert expected(loaded(state))  # type: ignore[operator]


def test_a_receipt_wins_over_times() -> None:
    receipt = Receipt("inv", {PATH: ("a" * 64, 500 * S)})
    assert loaded(file(mtime=1100, ctime=1100), receipt) == Known("a" * 64)


def test_a_receipt_that_does_not_name_the_file_says_nothing_of_it() -> None:
    assert is_another(loaded(file(mtime=1100, ctime=1100), Receipt("inv", {"/other": ("a" * 64, 1)})))


def test_bytecode_of_another_interpreter_says_nothing() -> None:
    state = file(mtime=500, ctime=1100, pyc=pyc(900, 1003))
    assert is_unknown(loaded(state, process=server("/usr/bin/python3.12")))
