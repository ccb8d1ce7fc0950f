"""Reasons for people: short, one line, and nothing in them that a terminal would obey."""

from __future__ import annotations

import errno
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paramiko import AuthenticationException, SSHException
from paramiko.ssh_exception import NoValidConnectionsError, PasswordRequiredException

from knowngood.fleet import reasons
from knowngood.model import Failure


def refused() -> NoValidConnectionsError:
    return NoValidConnectionsError({("10.0.0.1", 22): OSError(errno.ECONNREFUSED, "refused")})


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (refused(), "ssh: connection refused"),
        (OSError(errno.ENETUNREACH, "x"), "ssh: network is unreachable"),
        (OSError(errno.EHOSTUNREACH, "x"), "ssh: no route to host"),
        (ConnectionResetError(errno.ECONNRESET, "x"), "ssh: connection reset"),
        (TimeoutError("timed out"), "ssh: no answer"),
        (socket.gaierror(-2, "Name or service not known"), "name does not resolve"),
        (AuthenticationException("Authentication failed."), "ssh: key refused for user root"),
        (
            PasswordRequiredException("Private key file is encrypted"),
            "ssh: the private key is encrypted; set ssh_key_password, or use an agent",
        ),
        (SSHException("No authentication methods available"), "ssh: no key to offer"),
        (SSHException("Error reading SSH protocol banner"), "ssh: the node's answer is not ssh"),
        (SSHException("Incompatible\x1b[2J\nversion"), "ssh: Incompatible\\x1b[2J version"),
        (EOFError(), "ssh: connection closed by the node"),
        (RuntimeError("something else"), "something else"),
    ],
)
def test_of_connecting(error: Exception, reason: str) -> None:
    assert reasons.shown(reasons.of_connecting(error, "root"), ()) == Failure("unreachable", reason)


def test_the_cause_counts_and_not_the_wrapping() -> None:
    with pytest.raises(RuntimeError) as wrapped:
        try:
            raise refused()
        except OSError:
            raise RuntimeError("Could not connect (…)")  # noqa: B904 - as pyinfra does it
    assert reasons.of_connecting(wrapped.value, "root").reason == "ssh: connection refused"


@given(st.text())
def test_one_line_is_one_bounded_printable_line(text: str) -> None:
    shown = reasons.one_line(text, 40)
    assert len(shown) <= 40
    assert shown == "" or shown.isprintable()
    assert reasons.one_line(shown, 40) == shown.strip()


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (b"", ""),
        (b"\n \n", ""),
        (b"Traceback\n  File\nValueError: no\n\n", "ValueError: no"),
        (b"caf\xc3\xa9 \xff", "café \\xff"),
        (b"x" * 100_000 + b"\nend", "end"),
    ],
)
def test_last_line(output: bytes, line: str) -> None:
    assert reasons.last_line(output) == line


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ("sudo: a password is required", "sudo: a password is required"),
        ("Password: su: Authentication failure", "su: Authentication failure"),
        ("doas: Operation not permitted", "doas: Operation not permitted"),
        ("ada is not in the sudoers file.", "ada is not in the sudoers file."),
        ("ValueError: pseudo: no", ""),
        ("", ""),
    ],
)
def test_refusals(said: str, refusal: str) -> None:
    assert reasons.refusal(said) == refusal


@pytest.mark.parametrize("before", [10, reasons.MAX_REASON - 12])
def test_a_secret_that_a_node_repeats_is_masked_also_where_the_line_is_cut(before: int) -> None:
    failure = reasons.incomplete("x" * before + " hunter2\thunter2 " + "y" * 300)
    reason = reasons.shown(failure, ["hunter2\thunter2"]).reason
    assert len(reason) == reasons.MAX_REASON
    assert "hunt" not in reason
