"""Environment files: systemd's own dialect, and where bash reads them otherwise."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from systemd_grammar import EnvironmentFiles

from knowngood.model import ABSENT, Known, Unknown
from knowngood.syntax.systemd import env_file_differences, parse_environment_file, read_unit
from knowngood.syntax.systemd.envfile import read_environment_file


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"A=1\n B = 2 \n\tC=3", {"A": "1", "B": "2", "C": "3"}),
        (b"A=two words  \nB=\nC= \n", {"A": "two words", "B": "", "C": ""}),
        (b"# A=1\n; B=2\n  # C=3\nD=4 # no comment\n", {"D": "4 # no comment"}),
        (b"A='one two'\nB=\"x 'y'\"\nC='a''b'\"c\"\n", {"A": "one two", "B": "x 'y'", "C": "abc"}),
        (b"A='x' y\nB=x'y'\nC=\"a\"  'b'\n", {"A": "xy", "B": "x'y'", "C": "ab"}),
        (b'A="a\\"b\\$c\\`d\\\\e\\n"\n', {"A": 'a"b$c`d\\e\\n'}),
        (b"A='a\\'b\n", {"A": "a\\b"}),
        (b"A=a\\ b\\n\\'\nB=x\\ \\ \n", {"A": "a bn'", "B": "x  "}),
        (b"A=one \\\n  two\nB=3\n", {"A": "one   two", "B": "3"}),
        (b'A="line 1\nline 2"\nB="x\\\ny"\n', {"A": "line 1\nline 2", "B": "xy"}),
        (b"export A=1\nB=2\n", {"B": "2"}),
        (b"A=$B\nB=`id`\nC=$(id)\n", {"A": "$B", "B": "`id`", "C": "$(id)"}),
        (b"A=1\r\nB='2'\r\n", {"A": "1", "B": "2"}),
        (b"A=1\nA=2\nA=\n", {"A": ""}),
        (b"1A=x\nB-C=x\n=x\nno assignment\nD=ok", {"D": "ok"}),
        ("A=é€😀\n".encode(), {"A": "é€😀"}),
        ("\ufeffA=1\nB=2\n".encode(), {"B": "2"}),
        (b"A=#x\nB=x#y\n", {"A": "#x", "B": "x#y"}),
        (b'A="open\nB=2', {"A": "open\nB=2"}),
        (b"A=x\\", {"A": "x"}),
        (b"A", {}),
        (b"", {}),
    ],
)
def test_what_systemd_makes_of_a_file(data: bytes, wanted: dict[str, str]) -> None:
    entries, _ = parse_environment_file(data)
    assert {name: value for name, value, _ in entries} == wanted


def test_lines_and_remarks() -> None:
    data = b"# c\nA=1\n\nexport B=2\nC='x\ny'\nD=z # w\nE=$A\nnothing\n1F=x\n"
    entries, lint = parse_environment_file(data)
    assert [(name, line) for name, _, line in entries] == [("A", 2), ("C", 5), ("D", 7), ("E", 8)]
    told = [(remark.line, remark.code) for remark in lint]
    assert told == [
        (4, "export"),
        (7, "inline-comment"),
        (8, "no-expansion"),
        (9, "no-assignment"),
        (10, "bad-name"),
    ]


@pytest.mark.parametrize("data", [b"A=1\0\n", b"A=1\nB=\xff\n", b"\xff=1\n", "A=\ufffe\n".encode()])
def test_a_file_that_systemd_refuses(data: bytes) -> None:
    file = read_environment_file(data)
    assert file.refused is not None
    assert file.entries == ()


def test_the_line_below_a_comment_with_a_backslash_depends_on_the_version() -> None:
    unit = read_unit("u.service", ("/u", b"[Service]\nExecStart=/x\nEnvironmentFile=/e\n"), [])
    env = unit.environment({"/e": b"A=0\nB=1\n# comment \\\nA=1\nB=2 \nC=3\n"}, base={"PATH": Known("/bin")})
    assert isinstance(env["A"].value, Unknown)
    assert env["B"].value == Known("2")
    assert env["C"].value == Known("3")
    same = unit.environment({"/e": b"A=1\n# comment \\\nA=1\n"}, base={"PATH": Known("/bin")})
    assert same["A"].value == Known("1")


def test_where_bash_reads_otherwise() -> None:
    data = b"A=1\nexport B=2\nC=x # c\nD=$A\nE=two words\nF='q'\"r\"\nG=$(date)\nH=a\\nb\n"
    told = {each.name: each for each in env_file_differences(data)}
    assert set(told) == {"B", "C", "D", "E", "G"}
    assert (told["B"].line, told["B"].systemd.value, told["B"].bash.value) == (2, ABSENT, Known("2"))
    assert (told["C"].systemd.value, told["C"].bash.value) == (Known("x # c"), Known("x"))
    assert (told["D"].systemd.value, told["D"].bash.value) == (Known("$A"), Known("1"))
    assert (told["E"].systemd.value, told["E"].bash.value) == (Known("two words"), ABSENT)
    assert isinstance(told["G"].bash.value, Unknown)


def test_no_difference_in_a_plain_file() -> None:
    assert env_file_differences(b"# plain\nA=1\nB='two words'\nC=\"x\"\nD=a_b/c:d\n") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_reads_random_files_as_we_say(tmp_path: Path) -> None:
    checked = 0
    for seed in range(60):
        data = EnvironmentFiles(seed).text()
        by_bash = _sourced(data, tmp_path)
        if by_bash is None:
            continue
        for each in env_file_differences(data):
            if isinstance(each.bash.value, Known):
                assert by_bash.get(each.name) == each.bash.value.value, (data, each)
                checked += 1
    assert checked > 10


def _sourced(data: bytes, folder: Path) -> dict[str, str] | None:
    """What bash exports after it sourced the file, with no program to be found; None where it fails."""
    (folder / "file").write_bytes(data)
    script = "set -a; . ./file 2>/dev/null; exec /usr/bin/env -0"
    done = subprocess.run(
        ["/bin/bash", "--norc", "-c", script],
        cwd=folder,
        env={"PATH": "/nowhere"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    if done.returncode:
        return None
    pairs = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return dict(pair.partition("=")[::2] for pair in pairs if pair)
