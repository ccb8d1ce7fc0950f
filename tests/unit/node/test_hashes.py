"""The hashes that a node remembers: of large, settled files, in a folder that is root's alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from knowngood.node.filestate import file_state
from knowngood.node.ground import Round
from knowngood.node.hashes import Hashes
from knowngood.node.sha256 import LARGE

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root's own folder")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "knowngood"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture(scope="module")
def settled() -> Path:
    """A large file that has not changed for long: a ctime can't be set, so the system's own must do."""
    large = [path for path in Path("/usr/bin").iterdir() if path.is_file() and path.stat().st_size >= LARGE]
    return min(large, key=lambda path: path.stat().st_size)


def look(path: Path, folder: Path, *, distrust: bool = False) -> object:
    hashes = Hashes(os.fsencode(folder), distrust)
    told = file_state(str(path), Round(10, 1), hashes)["sha256"]
    hashes.save()
    return told


def remembered(folder: Path) -> dict[str, str]:
    file = folder / "hashes.json"
    return json.loads(file.read_text())["sha256"] if file.exists() else {}


def test_a_large_file_is_remembered_for_root_alone(settled: Path, folder: Path) -> None:
    first = look(settled, folder)
    assert list(remembered(folder).values()) == [first]
    assert oct((folder / "hashes.json").stat().st_mode)[-3:] == "600"
    assert [path.name for path in folder.iterdir()] == ["hashes.json"]


def test_what_is_remembered_is_believed_unless_one_distrusts_it(settled: Path, folder: Path) -> None:
    first = look(settled, folder)
    (folder / "hashes.json").write_text(json.dumps({"sha256": dict.fromkeys(remembered(folder), "f" * 64)}))
    assert look(settled, folder) == "f" * 64
    assert look(settled, folder, distrust=True) == first
    assert list(remembered(folder).values()) == [first]


def test_a_hash_belongs_to_one_state_of_one_file(settled: Path, folder: Path) -> None:
    first = look(settled, folder)
    (key,) = remembered(folder)
    other = ":".join([*key.split(":")[:-1], "1"])  # another ctime
    (folder / "hashes.json").write_text(json.dumps({"sha256": {other: "f" * 64}}))
    assert look(settled, folder) == first


def test_small_files_and_files_that_changed_just_now_are_not_remembered(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "small").write_bytes(b"x")
    (tmp_path / "fresh").write_bytes(b"x" * LARGE)
    look(tmp_path / "small", folder)
    look(tmp_path / "fresh", folder)
    assert remembered(folder) == {}


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_a_folder_that_others_can_read_or_write_is_not_used(settled: Path, folder: Path, mode: int) -> None:
    folder.chmod(mode)
    look(settled, folder)
    assert list(folder.iterdir()) == []


def test_without_a_folder_nothing_is_written(settled: Path, tmp_path: Path) -> None:
    look(settled, tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "[]", '{"sha256": 1}', '{"sha256": {"a": 1}}', "\0", "[" * 100_000])
def test_a_damaged_memory_counts_as_none(settled: Path, folder: Path, text: str) -> None:
    first = look(settled, folder, distrust=True)
    (folder / "hashes.json").write_text(text)
    assert look(settled, folder) == first
    assert list(remembered(folder).values()) == [first]
