"""--write-hashes edits the hash and not one other byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from knowngood.manifest import load_manifests, write_hashes

RIGHT = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"  # of "a\n"
WRONG = "0" * 64
TOP = "version: 1 # one\nname: decode\nhosts: [decode]\nunit: sglang.service\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "a").write_text("a\n", encoding="utf-8")
    return tmp_path


def written(project: Path, text: str) -> str:
    manifest = project / "state" / "decode.yaml"
    manifest.write_bytes(text.encode("utf-8"))
    write_hashes(project)
    return manifest.read_bytes().decode("utf-8")


# Each with @ where the hash goes, and what stands there before.
@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("files:\n  - path: /x\n    source: a   # ü\n    sha256: @  # hash\n    mode: 0644\n", WRONG),
        ("files:\n  - path: /x\n    source: a\n    sha256: @\n", "TODO"),
        ("files:\n  - path: /x\n    source: a\n    sha256: '@'\n", WRONG),
        ('files:\n  - path: /x\n    source: a\n    sha256: "@" # x\n', ""),
        ("files:\n  - {path: /x, sha256: @, source: a}\n", WRONG),
        ("files:\n  - path: /x\n    sha256: @\n    source: a\n", "~"),
        (
            "overrides:\n  canary:\n    files:\n      - path: /x\n        source: a\n        sha256: @\n",
            WRONG,
        ),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_hash_is_corrected_in_place(project: Path, text: str, before: str, ending: str) -> None:
    text = (TOP + text).replace("\n", ending)
    assert written(project, text.replace("@", before)) == text.replace("@", RIGHT)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            "  - path: /x\n    source: a # c\n    mode: 0644\n",
            "  - path: /x\n    source: a # c\n    sha256: @\n    mode: 0644\n",
        ),
        ("  - source: a\n    path: /x\n", "  - source: a\n    sha256: @\n    path: /x\n"),
        ("  - path: /x\n    source: 'a'", "  - path: /x\n    source: 'a'\n    sha256: @"),
        ("  - {source: a, path: /x}\n", "  - {source: a, sha256: @, path: /x}\n"),
        ("  - path: /x\n    source: a\n    sha256:\n", "  - path: /x\n    source: a\n    sha256: @\n"),
        (
            "  - path: /x\n    source: a\n    sha256: # c\n",
            "  - path: /x\n    source: a\n    sha256: @ # c\n",
        ),
        ("  - path: /x\r\n    source: a\r\n", "  - path: /x\r\n    source: a\r\n    sha256: @\r\n"),
    ],
)
def test_a_missing_hash_is_added(project: Path, text: str, after: str) -> None:
    assert written(project, TOP + "files:\n" + text) == TOP + "files:\n" + after.replace("@", RIGHT)
    assert load_manifests(project)[1] == []


def test_what_was_written_is_told(project: Path) -> None:
    text = TOP + f"files:\n  - {{path: /x, source: a, sha256: {WRONG}}}\n  - {{path: /y, source: a}}\n"
    (project / "state" / "decode.yaml").write_text(text, encoding="utf-8")
    changes, mistakes = write_hashes(project)
    assert mistakes == []
    assert [(one.path, one.line, one.source, one.former, one.sha256) for one in changes] == [
        ("state/decode.yaml", 6, "a", WRONG, RIGHT),
        ("state/decode.yaml", 7, "a", None, RIGHT),
    ]
    assert write_hashes(project) == ([], [])


def test_other_mistakes_do_not_stop_it_and_are_left(project: Path) -> None:
    text = TOP + "wrong: 1\nfiles:\n  - {path: /x, source: a}\n  - {path: /y, source: gone}\n"
    assert written(project, text) == text.replace("source: a}", f"source: a, sha256: {RIGHT}}}")


def test_permissions_stay_and_nothing_else_is_left(project: Path) -> None:
    manifest = project / "state" / "decode.yaml"
    manifest.write_text(TOP + "files: [{path: /x, source: a}]\n", encoding="utf-8")
    manifest.chmod(0o640)
    write_hashes(project)
    assert manifest.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in manifest.parent.iterdir()) == ["a", "decode.yaml"]


@pytest.mark.parametrize(
    "text",
    [
        f"files:\n  - path: /x\n    source: a\n    sha256: &h {WRONG}\n",
        f"server: &h {WRONG}\nfiles:\n  - path: /x\n    source: a\n    sha256: *h\n",
        f"files:\n  - path: /x\n    source: a\n    sha256: >-\n      {WRONG}\n",
    ],
)
def test_what_cannot_be_edited_safely_is_said(project: Path, text: str) -> None:
    assert written(project, TOP + text) == TOP + text
    (mistake,) = write_hashes(project)[1]
    assert re.search(rf"can be edited: write sha256: {RIGHT}$", mistake.message)
