"""Passwords of sudo and su, by stdin.

pyinfra hands a password over on the command line (`env PYINFRA_SUDO_PASSWORD=…`), where every user of the
node can read it in the process list, and by a script that it leaves in /tmp meanwhile. And a su that reads
its password from a pipe can't pass our stdin on. So the password goes first on stdin, where sudo -S and su
read one line each, byte by byte; a line that says START comes next, and Python skips to it, whether or not
anyone wanted the password.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from pyinfra.api.command import StringCommand
from pyinfra.connectors.util import make_unix_command

START = "knowngood starts here"
# No dollar sign: sudo -i leaves it to a login shell to expand.
_SKIP = f'import sys; exec(sys.stdin.buffer.read().split(b"{START}\\n", 1)[1])'

# Of pyinfra's global arguments, those that make a command (pyinfra.connectors.util.make_unix_command).
_MAKING = (
    "_env",
    "_chdir",
    "_shell_executable",
    "_su_user",
    "_use_su_login",
    "_su_shell",
    "_preserve_su_env",
    "_sudo",
    "_sudo_user",
    "_use_sudo_login",
    "_preserve_sudo_env",
    "_doas",
    "_doas_user",
    "_dzdo",
    "_dzdo_user",
)
# What pyinfra is told instead, so that it adds nothing of its own.
PLAIN: Mapping[str, object] = {
    "_su_user": "",
    "_sudo": False,
    "_sudo_password": "",
    "_su_password": "",
    "_doas": False,
    "_dzdo": False,
}


def passwords(arguments: Mapping[str, Any]) -> list[str]:
    """The passwords that will be asked for, in that order."""
    asked = (("_sudo", "_sudo_password"), ("_su_user", "_su_password"))
    return [arguments[password] for who, password in asked if arguments.get(who) and arguments.get(password)]


def options() -> str:
    """Python's options, quoted for a shell, with which it runs the program on such a stdin."""
    return f"-c {shlex.quote(_SKIP)}"


def command(script: str, arguments: Mapping[str, Any]) -> StringCommand:
    """The script as the user whom the arguments ask for, its passwords to come by stdin."""
    made = {key: arguments[key] for key in _MAKING if key in arguments}
    words = list(make_unix_command(StringCommand(script), **made).bits)
    if arguments.get("_sudo") and arguments.get("_sudo_password"):
        never_ask = words.index("-n", words.index("sudo"))
        # -k: the password is always read, so that a cached login can't decide who reads the line.
        words[never_ask : never_ask + 1] = ["-S", "-k", "-p", "''"]
    return StringCommand(*words)


def stdin(program: bytes, arguments: Mapping[str, Any]) -> bytes:
    """What the command reads: the passwords, the line START, the program."""
    lines = [*passwords(arguments), START]
    return "".join(f"{line}\n" for line in lines).encode("utf-8") + program
