"""Which .pyc files lie beside a source, what they record, and whether they are its bytecode."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from knowngood.node.bytecode import pycs_of
from knowngood.node.ground import Round

SOURCE = '''"""A kernel."""
NUM_WARPS = 4
SCALES = (1.0, -0.0, 1e308, 1 + 2j, b"x", frozenset({1, 2}), None, ...)
def kernel(q, *, block=64, **rest):
    """Compute."""
    return [n for n in range(block) if n in {1, 2, 3}], lambda x: x + q
class A:
    x: int = 3
'''
TAG = sys.implementation.cache_tag
OLD_NS = 1_700_000_000 * 10**9


def write(file: Path, text: str) -> None:
    file.write_text(text)
    os.utime(file, ns=(OLD_NS, OLD_NS))


def kernel(folder: Path, **how: Any) -> Path:
    file = folder / "kernel.py"
    write(file, SOURCE)
    time.sleep(0.02)  # the kernel's clock for files ticks at most every 10 ms
    py_compile.compile(str(file), doraise=True, **how)
    return file


def pycs(file: Path, seconds: float = 10) -> list[dict[str, Any]]:
    return pycs_of(os.fsencode(file), file.stat(), Round(seconds, 1 << 20))


def only(file: Path) -> dict[str, Any]:
    (pyc,) = pycs(file)
    return pyc


def test_bytecode_that_is_younger_than_every_change_of_its_source_needs_no_comparing(tmp_path: Path) -> None:
    file = kernel(tmp_path)
    pyc = Path(importlib.util.cache_from_source(str(file)))
    assert only(file) == {
        "path": str(pyc),
        "tag": TAG,
        "source_mtime": OLD_NS // 10**9,
        "source_size": len(SOURCE),
        "mtime_ns": pyc.stat().st_mtime_ns,
        "ctime_ns": pyc.stat().st_ctime_ns,
    }


def test_a_chmod_later_the_same_source_is_proved_by_compiling_it(tmp_path: Path) -> None:
    file = kernel(tmp_path)
    file.chmod(0o600)
    assert only(file)["matches_source"] is True


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("NUM_WARPS = 4", "NUM_WARPS = 8"),
        ("-0.0", "+0.0"),
        ('b"x"', ' "x"'),
        ("block=64", "block=32"),
        ("def kernel", "def gernel"),
        ("{1, 2, 3}", "{1, 2, 4}"),
        ("Compute.", "Complete"),
    ],
)
def test_an_edit_that_keeps_size_and_mtime_is_seen(tmp_path: Path, old: str, new: str) -> None:
    file = kernel(tmp_path)
    assert len(old) == len(new)
    write(file, SOURCE.replace(old, new))
    assert only(file)["matches_source"] is False


def test_an_operator_shows_in_the_code_alone_which_only_the_same_interpreter_can_judge(
    tmp_path: Path,
) -> None:
    site = tmp_path / "lib" / "python3" / "site-packages"
    site.mkdir(parents=True)
    file = kernel(site)
    write(file, SOURCE.replace("x + q", "x - q"))
    assert only(file)["matches_source"] is None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to("/proc/self/exe")
    assert only(file)["matches_source"] is False


def test_a_comment_changes_no_bytecode(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    write(file, "A = 1  # four\n")
    py_compile.compile(str(file), doraise=True)
    write(file, "A = 1  # five\n")
    assert only(file)["matches_source"] is True


def test_bytecode_that_python_would_not_take_is_told_by_what_it_records(tmp_path: Path) -> None:
    file = kernel(tmp_path)
    file.write_text(SOURCE + "MORE = 1\n")
    told = only(file)
    assert (told["source_mtime"], told["source_size"], "matches_source" in told) == (
        OLD_NS // 10**9,
        len(SOURCE),
        False,
    )


def test_a_source_that_does_not_compile_can_not_be_compared(tmp_path: Path) -> None:
    file = kernel(tmp_path)
    write(file, SOURCE.replace("def kernel", "def kern(l"))
    assert only(file)["matches_source"] is None


def test_optimized_bytecode_is_compared_with_optimized_bytecode(tmp_path: Path) -> None:
    file = kernel(tmp_path, optimize=2)
    file.chmod(0o600)
    told = only(file)
    assert (told["tag"], told["matches_source"]) == (f"{TAG}.opt-2", True)


@pytest.mark.parametrize("mode", ["CHECKED_HASH", "UNCHECKED_HASH"])
def test_bytecode_that_goes_by_a_hash_is_checked_by_it(tmp_path: Path, mode: str) -> None:
    file = kernel(tmp_path, invalidation_mode=py_compile.PycInvalidationMode[mode])
    told = only(file)
    assert (told["hash_based"], told["matches_source"], told["source_size"]) == (True, True, len(SOURCE))
    write(file, SOURCE.replace("NUM_WARPS = 4", "NUM_WARPS = 8"))
    assert only(file)["matches_source"] is False


def test_bytecode_of_another_interpreter_is_told_and_not_compared(tmp_path: Path) -> None:
    file = kernel(tmp_path)
    own = Path(importlib.util.cache_from_source(str(file)))
    data = own.read_bytes()
    own.with_name("kernel.cpython-399.pyc").write_bytes(b"\xff\x0d\r\n" + data[4:])
    # Python 3.6: no flags, so mtime and size come first.
    own.with_name("kernel.cpython-36.pyc").write_bytes(b"\x33\x0d\r\n" + data[8:16] + data[16:])
    own.with_name("other.cpython-311.pyc").write_bytes(data)
    own.with_name("kernel.cpython-312.pyc").write_bytes(b"cut")
    file.chmod(0o600)
    told = {pyc["tag"]: (pyc["source_size"], pyc.get("matches_source")) for pyc in pycs(file)}
    assert told == {
        TAG: (len(SOURCE), True),
        "cpython-399": (len(SOURCE), None),
        "cpython-36": (len(SOURCE), None),
    }


def test_without_time_nothing_is_compiled(tmp_path: Path) -> None:
    file = kernel(tmp_path)
    file.chmod(0o600)
    (told,) = pycs(file, seconds=1)
    assert "matches_source" not in told


def test_a_source_without_bytecode(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text("")
    assert pycs(file) == []
