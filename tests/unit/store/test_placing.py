"""Files are put into place together, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowngood.store.placing import place


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_all_are_written_and_folders_made(tmp_path: Path) -> None:
    place({tmp_path / "files" / "a": b"1", tmp_path / "m.yaml": b"2"})
    assert tree(tmp_path) == {"files/a": b"1", "m.yaml": b"2"}
    assert (tmp_path / "m.yaml").stat().st_mode & 0o777 == 0o644


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o600)
    place({tmp_path / "a": b"new"})
    assert tree(tmp_path) == {"a": b"new"}
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_where_one_can_not_be_placed_all_are_as_before(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        place({tmp_path / "a": b"new", tmp_path / "b": b"new", tmp_path / "taken": b"new"})
    assert tree(tmp_path) == {"a": b"old"}


def test_where_no_folder_can_be_made_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(OSError, match="a"):
        place({tmp_path / "b": b"new", tmp_path / "a" / "c": b"new"})
    assert tree(tmp_path) == {"a": b"old"}
