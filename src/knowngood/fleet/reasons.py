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


def of_connecting(error: BaseException, user: str) -> Failure:
    """Why a connection was not made. `error` is what paramiko, the system or pyinfra raised.

    pyinfra wraps the cause in a ConnectError of its own words; the cause is its context.
    """
    cause = error.__context__ if error.__context__ is not None else error
    return unreachable(_connecting(cause, user))


def _connecting(error: BaseException, user: str) -> str:
    match error:
        case BadHostKeyException():
            got = f"{error.key.get_name()} {fingerprint(error.key.asbytes())}"
            return f"ssh: host key changed (expected {error.expected_key}, got {got})"
        case PasswordRequiredException():
            return "ssh: the private key is encrypted; set ssh_key_password, or use an agent"
        case BadAuthenticationType():
            return f"ssh: {user} may log in by {' or '.join(error.allowed_types)} only"
        case AuthenticationException():
            return f"ssh: key refused for user {user}"
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
    return f"ssh: {error}"


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
