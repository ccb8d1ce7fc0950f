"""What systemctl prints, read back as systemd 252 writes it; and programs that misbehave."""

from __future__ import annotations

import time

import pytest

from knowngood.node.command import Command
from knowngood.node.ground import Problem
from knowngood.node.manager import read_environment, read_properties

SHOW = """\
Id=t1.service
ExecStartPre={ path=/bin/echo ; argv[]=/bin/echo a b c
Restart=d

ActiveState=forged ; ignore_errors=no ; start_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
ExecStartPre={ path=/bin/echo ; argv[]=/bin/echo two ; ignore_errors=no ; pid=0 ; code=(null) ; status=0/0 }
Environment="A=b c" "B=x\\ny" F=back
EnvironmentFiles=/etc/a.env (ignore_errors=yes)
EnvironmentFiles=/etc/b.env (ignore_errors=no)
DropInPaths=
ActiveState=inactive
"""


def test_every_property_has_its_text() -> None:
    assert read_properties(SHOW) == {
        "Id": "t1.service",
        "ExecStartPre": "{ path=/bin/echo ; argv[]=/bin/echo a b c\nRestart=d\n\nActiveState=forged ;"
        " ignore_errors=no ; start_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }\n"
        "{ path=/bin/echo ; argv[]=/bin/echo two ; ignore_errors=no ; pid=0 ; code=(null) ; status=0/0 }",
        "Environment": '"A=b c" "B=x\\ny" F=back',
        "EnvironmentFiles": "/etc/a.env (ignore_errors=yes)\n/etc/b.env (ignore_errors=no)",
        "DropInPaths": "",
        "ActiveState": "inactive",
    }


def test_nothing_comes_of_nothing() -> None:
    assert read_properties("") == {}
    assert read_properties("no property\n") == {}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("X=plain", "plain"),
        ("X=", ""),
        ("X=$'b c'", "b c"),
        ("X=$'x\\ny\\tz'", "x\ny\tz"),
        ("X=$'q\"uo\\'te'", "q\"uo'te"),
        ("X=$'back\\\\slash'", "back\\slash"),
        ("X=$'$x'", "$x"),
        ("X=$'\\x01\\303\\251'", "\x01é"),
        ("X=é", "é"),
        ("X=a=b", "a=b"),
        ("X=$'", "$'"),
    ],
)
def test_the_managers_environment(line: str, value: str) -> None:
    assert read_environment(f"LANG=C\n{line}\n") == {"LANG": "C", "X": value}


def said(*argv: str, seconds: float = 5) -> str:
    return Command(list(argv), seconds).output().decode()


def test_a_program_speaks_the_c_locale_and_gets_nothing_to_read() -> None:
    assert said("sh", "-c", "cat; echo $LC_ALL $SYSTEMD_COLORS") == "C 0\n"


def test_much_output_on_both_pipes_comes_whole() -> None:
    out = said("sh", "-c", "head -c 1500000 /dev/zero >&2; head -c 1500000 /dev/zero | tr '\\0' x")
    assert len(out) == 1_500_000


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["sh", "-c", "echo one >&2; echo Host is down >&2; exit 3"], "sh: Host is down"),
        (["sh", "-c", "exit 3"], r"sh: failed \(status 3\)"),
        (["sh", "-c", "kill -9 $$"], r"sh: failed \(status 137\)"),
        (["/nowhere/systemctl"], "/nowhere/systemctl: No such file or directory"),
        (["sh", "-c", "head -c 3000000 /dev/zero"], "sh: says too much"),
    ],
)
def test_a_program_that_fails_is_told_by_its_last_line(argv: list[str], reason: str) -> None:
    with pytest.raises(Problem, match=reason):
        said(*argv)


@pytest.mark.parametrize(
    "script", ["sleep 60", "exec >&- 2>&-; sleep 60", "trap '' TERM; while :; do sleep 1; done"]
)
def test_a_program_that_hangs_is_ended(script: str) -> None:
    began = time.monotonic()
    with pytest.raises(Problem):
        said("bash", "-c", f"exec 3>/dev/null; {script}", seconds=0.2)
    assert time.monotonic() - began < 3
