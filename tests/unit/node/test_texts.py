"""The texts beside a unit's own: which environment files it names, and what a script sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowngood.node.ground import Round
from knowngood.node.texts import environment_paths, script_texts, sources_of


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
