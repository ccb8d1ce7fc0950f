"""argv and environ as memory shows them: whole, overwritten, and overwritten in part."""

from __future__ import annotations

import pytest

from knowngood.node.block import read_argv, read_environ


@pytest.mark.parametrize(
    ("cmdline", "words"),
    [
        (b"", []),
        (
            b"python3\0-m\0sglang.launch_server\0--tp\x004\0",
            [b"python3", b"-m", b"sglang.launch_server", b"--tp", b"4"],
        ),
        (b"python3\0-c\0\0", [b"python3", b"-c", b""]),
        (b"/opt/my server/run\0", [b"/opt/my server/run"]),
        (b"a\xffb\0--x=\n\0", [b"a\xffb", b"--x=\n"]),
    ],
)
def test_words_as_execve_laid_them_out(cmdline: bytes, words: list[bytes]) -> None:
    assert read_argv(cmdline, len(cmdline)) == words
    assert read_argv(cmdline, 0) == words  # nobody may tell us the size


@pytest.mark.parametrize(
    ("cmdline", "laid_out"),
    [
        pytest.param(b"sglang::scheduler_TP0" + b"\0" * 98, 119, id="setproctitle pads with NUL"),
        pytest.param(b"t" * 121, 103, id="a title that reaches into the environment"),
        pytest.param(b"nginx: worker process" + b"\0" * 5, 26, id="nginx"),
        pytest.param(b"gunicorn: master [app:app]\0", 27, id="a title of just the size"),
        pytest.param(b"perltitle\0", 27, id="perl pads with spaces, and the kernel stops before them"),
        pytest.param(b"title without an end", 0, id="no NUL at the end"),
    ],
)
def test_a_title_is_no_command_line(cmdline: bytes, laid_out: int) -> None:
    assert read_argv(cmdline, laid_out) is None


def test_values_hold_any_byte_but_nul() -> None:
    block = b"A=1\0B=line\nline=2\0C=\0D=a\xffb\0=odd\0E==\0"
    assert read_environ(block, spilled=False) == (
        {b"A": b"1", b"B": b"line\nline=2", b"C": b"", b"D": b"a\xffb", b"E": b"="},
        "overwritten by the process in part",  # `=odd` has no name
    )


def test_of_a_name_given_twice_the_first_counts() -> None:
    assert read_environ(b"A=first\0A=second\0", spilled=False) == ({b"A": b"first"}, None)


def test_an_empty_environment_is_known_to_be_empty() -> None:
    assert read_environ(b"", spilled=False) == ({}, None)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(b"\0" * 245, id="zeroed"),
        pytest.param(b"ttttttt" + b"\0" * 238, id="a title's tail"),
        pytest.param(
            b"master process /usr/sbin/nginx -g daemon=on" + b"\0" * 20, id="a tail with an equals sign"
        ),
        pytest.param(b" " * 244 + b"\0", id="spaces"),
    ],
)
@pytest.mark.parametrize("spilled", [False, True])
def test_nothing_is_left_of_an_overwritten_environment(block: bytes, spilled: bool) -> None:
    assert read_environ(block, spilled) is None


@pytest.mark.parametrize(
    ("block", "spilled"),
    [
        pytest.param(b"tail\0A=1\0B=2\0", False, id="a tail, then entries"),
        pytest.param(b"x=tail\0A=1\0B=2\0", True, id="a tail that looks like an entry"),
        pytest.param(b"A=1\0B=2\0\0\0\0", False, id="a zeroed end"),
        pytest.param(b"A=1\0\0\0B=2\0", False, id="a hole"),
        pytest.param(b"A=1\0B=2", False, id="no NUL at the end"),
    ],
)
def test_what_is_left_is_known_and_what_is_missing_is_not(block: bytes, spilled: bool) -> None:
    read = read_environ(block, spilled)
    assert read is not None
    values, missing = read
    assert values[b"A"] == b"1"
    assert b"x" not in values
    assert missing == "overwritten by the process in part"
