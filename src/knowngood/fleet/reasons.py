"""Why a node could not be observed, in one line for people."""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Iterable

from paramiko import (
    AuthenticationException,
    BadAuthenticationType,
    BadHostKeyException,
    PasswordRequiredException,
    SSHException,
)
from paramiko.ssh_exception import NoValidConnectionsError

from knowngood.fleet.knownhosts import fingerprint
from knowngood.model import Failure
from knowngood.syntax.secrets import mask

MAX_REASON = 200  # letters


class JumpError(SSHException):
    """A jump host could not be reached; why is its `__cause__`."""

    def __init__(self, host: str) -> None:
        super().__init__(f"jump host {host} not reached")
        self.host = host


def unreachable(reason: str) -> Failure:
    return Failure("unreachable", reason)


def incomplete(reason: str) -> Failure:
    return Failure("incomplete", reason)


def shown(failure: Failure, secrets: Iterable[str]) -> Failure:
    """The failure as one line, without any of these secrets: a node may repeat what it was told."""
    return Failure(failure.kind, one_line(mask(failure.reason, secrets)))


def one_line(text: str, limit: int = MAX_REASON) -> str:
    """What others said, as one line that a terminal can show: bounded, blanks joined, controls escaped."""
    joined = " ".join(text[: limit * 8].split())
    shown = "".join(letter if letter.isprintable() else _escape(letter) for letter in joined)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape", "backslashreplace").decode("ascii")


def last_line(output: bytes) -> str:
    """The last line that says anything, as text; "" where none does."""
    lines = output[-8192:].decode("utf-8", "backslashreplace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def refusal(said: str) -> str:
    """What sudo, su, doas or dzdo says where it refuses, without the prompt in front; "" if none of them."""
    if "sudoers" in said:
        return said
    found = re.search(r"(?:^|\s)((?:sudo|sudo-rs|su|doas|dzdo): .*)", said)
    return found[1] if found else ""


def of_connecting(error: BaseException, user: str, shown: str = "key") -> Failure:
    """Why a connection was not made. `error` is what paramiko, the system or pyinfra raised; `shown` is what
    the user was to log in by.

    pyinfra wraps the cause in a ConnectError of its own words; the cause is its context.
    """
    cause = error.__context__ if error.__context__ is not None else error
    if isinstance(cause, JumpError) and cause.__cause__:
        return unreachable(f"jump host {cause.host}: {_connecting(cause.__cause__, 'the jump host', 'key')}")
    return unreachable(_connecting(cause, user, shown))


def _connecting(error: BaseException, user: str, shown: str) -> str:
    match error:
        case BadHostKeyException():
            got = f"{error.key.get_name()} {fingerprint(error.key.asbytes())}"
            return f"ssh: host key changed (expected {error.expected_key}, got {got})"
        case PasswordRequiredException():
            return "ssh: the private key is encrypted; set ssh_key_password, or use an agent"
        case BadAuthenticationType():
            return f"ssh: {user} may log in by {' or '.join(error.allowed_types)} only"
        case AuthenticationException():
            return f"ssh: {shown} refused for user {user}"
        case socket.gaierror():
            return "name does not resolve"
        case NoValidConnectionsError():
            return next(_system(each) for each in error.errors.values() if isinstance(each, OSError))
        case SSHException():
            return f"ssh: {_protocol(str(error))}"
        case EOFError():
            return "ssh: connection closed by the node"
        case OSError():
            return _system(error)
    return str(error)


def _protocol(said: str) -> str:
    if "protocol banner" in said or "Indecipherable" in said or "Invalid SSH banner" in said:
        return "the node's answer is not ssh"
    if "No authentication methods" in said:
        return "no key to offer"
    return said


def _system(error: OSError) -> str:
    if error.errno == errno.ECONNREFUSED:
        return "ssh: connection refused"
    if error.errno == errno.ECONNRESET:
        return "ssh: connection reset"
    if isinstance(error, TimeoutError):
        return "ssh: no answer"
    return f"ssh: {os.strerror(error.errno).lower() if error.errno else error}"
