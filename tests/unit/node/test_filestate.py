"""What the disk has of a path, whatever lies there."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest

from knowngood.node.filestate import file_state
from knowngood.node.ground import Round
from knowngood.node.hashes import Hashes

NOBODY = 65534


def state(path: Path | str, turn: Round | None = None, hashes: Hashes | None = None) -> dict[str, object]:
    return file_state(str(path), turn or Round(10, 1 << 20), hashes or Hashes(b"/nowhere"))


def test_a_regular_file(tmp_path: Path) -> None:
    file = tmp_path / "kernel.txt"
    file.write_bytes(b"NUM_WARPS = 4\n")
    file.chmod(0o4644)
    found = file.stat()
    assert state(file) == {
        "path": str(file),
        "kind": "regular",
        "sha256": hashlib.sha256(b"NUM_WARPS = 4\n").hexdigest(),
        "size": 14,
        "mode": "4644",
        "owner": "root" if os.geteuid() == 0 else state(tmp_path)["owner"],
        "group": state(tmp_path)["group"],
        "mtime_ns": found.st_mtime_ns,
        "ctime_ns": found.st_ctime_ns,
    }


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, 3_000_001])
def test_hashes_are_those_of_hashlib_at_every_size(tmp_path: Path, size: int) -> None:
    file = tmp_path / "big"
    file.write_bytes(b"x" * size)
    assert state(file)["sha256"] == hashlib.sha256(b"x" * size).hexdigest()


def test_what_is_missing_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert state(tmp_path / "none")["kind"] == "missing"
    assert state(tmp_path / "file" / "below")["kind"] == "missing"
    assert "error" not in state(tmp_path / "none")


def test_links_are_followed_and_told(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("x")
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "circle").symlink_to("circle")
    assert (state(tmp_path / "link")["kind"], state(tmp_path / "link")["symlink"]) == ("regular", "there")
    dangling = state(tmp_path / "dangling")
    assert (dangling["kind"], dangling["symlink"]) == ("missing", "nowhere")
    assert (state(tmp_path / "circle")["kind"], state(tmp_path / "circle")["error"]) == (
        "unreadable",
        "Too many levels of symbolic links",
    )


def test_nothing_but_regular_files_of_a_disk_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert state(tmp_path / "fifo")["kind"] == "other"
    assert state("/dev/null")["kind"] == "other"
    assert state("/proc/self/stat")["kind"] == "other"
    assert state(tmp_path)["kind"] == "directory"


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff")).write_text("x")
    assert state(f"{tmp_path}/a\udcff")["kind"] == "regular"


def test_no_time_left_is_a_reason_and_no_hang(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert state(tmp_path / "file", Round(0, 1)) == {
        "path": str(tmp_path / "file"),
        "kind": "unreadable",
        "error": "not reached in time",
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give it up")
def test_a_file_that_we_may_not_read_is_unreadable_and_not_missing(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | stat.S_IXGRP | stat.S_IXOTH)
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o600)
    os.seteuid(NOBODY)
    try:
        told = state(secret)
    finally:
        os.seteuid(0)
    assert told["error"] == f"not permitted (asked as uid {NOBODY})"
    assert (told["kind"], told["mode"], "sha256" in told) == ("regular", "0600", False)
