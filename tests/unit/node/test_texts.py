"""The texts beside a unit's own: which environment files it names, and what a script sources."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from knowngood.node.ground import Problem, Round
from knowngood.node.texts import environment_paths, script_texts, sources_of, unit_texts


def turn(room: int = 1 << 20) -> Round:
    return Round(10, room)


@pytest.mark.parametrize(
    ("texts", "paths"),
    [
        (["[Service]\nEnvironmentFile=/a\nEnvironmentFile=-/b\n"], ["/a", "/b"]),
        (["EnvironmentFile=/a\n", "EnvironmentFile=\nEnvironmentFile=/b\n"], ["/b"]),
        (["#EnvironmentFile=/a\n; EnvironmentFile=/b\nEnvironmentFile = /c \n"], ["/c"]),
        (["EnvironmentFile=\\\n# between\n/a\n"], ["/a"]),
        (
            ["EnvironmentFile=/etc/%p/%i.env\nEnvironmentFile=/etc/100%%\n"],
            ["/etc/sgl-decode/0.env", "/etc/100%"],
        ),
        (["EnvironmentFile=relative\nEnvironment=X=/a\nNoEnvironmentFile=/a\n"], []),
        (["EnvironmentFile=/a\r\n"], ["/a"]),
    ],
)
def test_environment_files_that_a_unit_names(texts: list[str], paths: list[str]) -> None:
    read = [{"data": text} for text in texts]
    assert environment_paths(read, "sgl-decode@0.service") == paths  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("source /root/venv/bin/activate", b"/root/venv/bin/activate"),
        ("  . /etc/knobs.sh", b"/etc/knobs.sh"),
        ("[ -f /etc/knobs.sh ] && . '/etc/knobs.sh'", b"/etc/knobs.sh"),
        ('if true; then source "/etc/knobs.sh"; fi', b"/etc/knobs.sh"),
        ('source "$(dirname "$0")/env.sh"', b"/srv/env.sh"),
        ('. "$(dirname "${BASH_SOURCE[0]}")"/env.sh', b"/srv/env.sh"),
        ("source ${0%/*}/env.sh arg", b"/srv/env.sh"),
        ("source $HOME/env.sh", None),
        ("source env.sh", None),
        ("echo source /etc/x", None),
        ("# source", None),
        ("cp . /etc", None),
    ],
)
def test_what_a_line_sources(line: str, path: bytes | None) -> None:
    assert list(sources_of(line, b"/srv")) == ([] if path is None else [path])


def test_sourced_files_and_theirs_come_with_the_script(tmp_path: Path) -> None:
    (tmp_path / "c.sh").write_text("export C=3\nsource /never/looked/at\n")
    (tmp_path / "b.sh").write_text(f". {tmp_path}/c.sh\n")
    (tmp_path / "a.sh").write_bytes(
        f"source {tmp_path}/b.sh\nsource {tmp_path}/gone.sh\nexport X=\xff\n".encode("latin-1")
    )
    told = script_texts(f"{tmp_path}/a.sh", turn())
    sourced = told["sourced"]
    assert told["script"]["data"].endswith("export X=\xff\n")  # type: ignore[index]
    assert {path.rpartition("/")[2]: text.get("error") for path, text in sourced.items()} == {  # type: ignore[attr-defined]
        "b.sh": None,
        "gone.sh": "missing",
        "c.sh": None,
    }


def test_a_script_that_sources_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text(f"source {tmp_path}/a.sh\n")
    assert list(script_texts(f"{tmp_path}/a.sh", turn())["sourced"]) == [f"{tmp_path}/a.sh"]  # type: ignore[call-overload]


def test_a_text_for_which_the_answer_has_no_room_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("x" * 100)
    told = script_texts(f"{tmp_path}/a.sh", turn(room=99))["script"]
    assert told == {"path": f"{tmp_path}/a.sh", "error": "too large: the answer is full"}


@pytest.fixture
def etc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A search path of one folder, in place of the machine's own."""
    monkeypatch.setattr("knowngood.node.unitfiles.SEARCH_PATH", [os.fsencode(tmp_path)])
    return tmp_path


def test_a_units_texts_with_the_names_that_the_manager_knows_them_by(etc: Path, tmp_path: Path) -> None:
    (etc / "a.service").write_text("[Service]\nEnvironmentFile=-/none\n")
    (etc / "a.service.d").mkdir()
    (etc / "a.service.d" / "empty.conf").symlink_to("/dev/null")
    (etc / "a.service.d" / "last.conf").write_text(f"[Service]\nEnvironmentFile={etc}/*.env\n")
    (etc / "1.env").write_text("A=1\n")
    (etc / "other").symlink_to(etc)
    told: dict[str, Any] = unit_texts("a.service", {"FragmentPath": f"{etc}/other/a.service"}, turn())
    assert told["fragment"] == {
        "path": f"{etc}/other/a.service",
        "data": "[Service]\nEnvironmentFile=-/none\n",
    }
    assert [(text["path"], len(text["data"]) > 0) for text in told["dropins"]] == [
        (f"{etc}/a.service.d/empty.conf", False),
        (f"{etc}/a.service.d/last.conf", True),
    ]
    assert told["environment_files"] == [
        {"path": "/none", "error": "missing"},
        {"path": f"{etc}/1.env", "data": "A=1\n"},
    ]


def test_a_masked_unit_has_an_empty_text(etc: Path) -> None:
    (etc / "a.service").symlink_to("/dev/null")
    assert unit_texts("a.service", {}, turn())["fragment"] == {"path": f"{etc}/a.service", "data": ""}


def test_a_unit_that_only_the_manager_finds_has_the_managers_text(etc: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    path = tmp_path / "elsewhere" / "a.service"
    path.write_text("[Service]\n")
    told = unit_texts("a.service", {"FragmentPath": str(path)}, turn())
    assert told["fragment"] == {"path": str(path), "data": "[Service]\n"}
    assert unit_texts("b.service", {"FragmentPath": "/none"}, turn())["fragment"] is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give it up")
def test_a_closed_folder_is_no_proof_of_no_drop_ins(etc: Path) -> None:
    for folder in (etc, *etc.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o011)
    (etc / "a.service").write_text("[Service]\n")
    (etc / "a.service.d").mkdir(mode=0o700)
    os.seteuid(65534)
    try:
        with pytest.raises(PermissionError):
            unit_texts("a.service", {}, turn())
    finally:
        os.seteuid(0)


def test_too_many_drop_ins_are_told_and_none_is_left_out_in_silence(etc: Path) -> None:
    (etc / "a.service.d").mkdir()
    for number in range(65):
        (etc / "a.service.d" / f"{number}.conf").write_text("")
    with pytest.raises(Problem, match="65 drop-ins"):
        unit_texts("a.service", {}, turn())
