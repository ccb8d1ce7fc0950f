"""What knowngood left on a node: receipts and the settings last activated, in whatever state they are."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from knowngood.node.records import activated, receipt


def test_the_receipt_of_this_start(tmp_path: Path) -> None:
    folder = tmp_path / "receipts" / "a.service"
    folder.mkdir(parents=True)
    (folder / "abc123.json").write_text('{"version": 1, "files": {}}')
    assert receipt("a.service", "abc123", os.fsencode(tmp_path)) == {"version": 1, "files": {}}
    assert receipt("a.service", "other", os.fsencode(tmp_path)) is None
    assert receipt("a.service", "", os.fsencode(tmp_path)) is None
    assert receipt("a.service", "../a.service/abc123", os.fsencode(tmp_path)) is None


@pytest.mark.parametrize("linked", [False, True])
def test_the_settings_last_activated_here(tmp_path: Path, linked: bool) -> None:
    text = json.dumps({"version": 1, "roles": {"decode": {"generation": 3, "settings": {"env:A": "1"}}}})
    (tmp_path / ("seven" if linked else "current")).write_text(text)
    if linked:
        (tmp_path / "current").symlink_to("seven")
    assert activated("decode", os.fsencode(tmp_path)) == {"env:A": "1"}
    assert activated("prefill", os.fsencode(tmp_path)) is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"roles": []}', '{"roles": {"decode": 1}}', "\0", "[" * 99_999, "\xff"]
)
def test_a_damaged_record_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "current").write_bytes(text.encode("latin-1"))
    assert activated("decode", os.fsencode(tmp_path)) is None
