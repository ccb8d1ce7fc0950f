"""One host, one program, one answer: connect, run the fact, and say plainly what went wrong."""

from __future__ import annotations

import getpass
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paramiko import SSHException
from pyinfra.api.arguments import pop_global_arguments
from pyinfra.api.facts import FactBase
from pyinfra.api.state import State
from pyinfra.connectors.ssh import SSHConnector
from pyinfra.connectors.util import CommandOutput

from knowngood.fleet import become, reasons, streams
from knowngood.fleet.gather import Answer
from knowngood.fleet.visits import OutOfTime, Visit
from knowngood.model import Failure

_SECRET_DATA = ("ssh_password", "ssh_key_password", "_sudo_password", "_su_password")
_NO_PYTHON = "knowngood: no python3"


class Probe(FactBase[bytes]):
    """The answer of one program, sent by stdin, as the bytes that came."""

    def command(self, script: str) -> str:
        return script

    def process(self, output: list[str]) -> bytes:
        return streams.as_bytes(output[0])


class CommandError(Exception):
    """A command gave no answer."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class Conversation:
    """What is said with one host in one visit."""

    def __init__(self, state: State, name: str, visit: Visit, connect_timeout: float, timeout: float) -> None:
        self._state = state
        self._host = state.inventory.get_host(name)
        self._visit = visit
        self._connect_timeout = min(connect_timeout, timeout)
        self._timeout = timeout
        self._connected = False

    def answer(self, program: bytes) -> Answer:
        try:
            answer = self._connect() or self._run(program)
        except OutOfTime:
            answer = self._out_of_time()
        if isinstance(answer, Failure):
            secrets = [self._host.data.get(name) for name in _SECRET_DATA]
            return reasons.shown(answer, [text for text in secrets if isinstance(text, str)])
        return answer

    def _connect(self) -> Failure | None:
        clock = self._visit.clock
        clock.start(self._connect_timeout)
        try:
            self._host.connect(show_errors=False, raise_exceptions=True)
        except Exception as error:
            shown = "password" if self._host.data.get("ssh_password") else "key"
            return reasons.of_connecting(error, self._user(), shown)
        finally:
            self._visit.end_handshake()
        clock.start(clock.left + self._timeout - self._connect_timeout)
        self._connected = True
        return None

    def _run(self, program: bytes) -> Answer:
        try:
            question = self._question(program)
            with _telling(self._host.connector, self._visit):
                answer: bytes = self._host.get_fact(Probe, **question)
        except CommandError as failed:
            return failed.failure
        except Exception as error:  # of other connectors, which have no common family of errors
            return reasons.incomplete(f"{type(error).__name__}: {error}")
        else:
            return answer if answer.strip() else reasons.incomplete("python3 printed nothing")
        finally:
            self._leave()

    def _out_of_time(self) -> Failure:
        if self._connected:
            if self._visit.received:
                return reasons.incomplete(f"had not finished its answer after {self._timeout:g} s")
            return reasons.unreachable(f"answered nothing within {self._timeout:g} s")
        if any(getattr(thing, "speaks_no_ssh", False) for thing in self._visit.opened):
            return reasons.unreachable("ssh: the node's answer is not ssh")
        return reasons.unreachable(f"ssh: no answer in {self._connect_timeout:g} s")

    def _question(self, program: bytes) -> dict[str, Any]:
        """The fact's arguments: what to run, what to send, and as whom."""
        python = self._host.data.get("knowngood_python") or "python3"
        if self._has_password():
            arguments, _ = pop_global_arguments(self._state, self._host, {})
            if become.passwords(arguments):
                return {
                    "script": become.command(_script(python, become.options()), arguments),
                    "_stdin": become.stdin(program, arguments),
                    "_get_pty": False,
                    **become.PLAIN,
                }
        return {"script": _script(python, "-"), "_stdin": program, "_get_pty": False}

    def _has_password(self) -> bool:
        data, config = self._host.data, self._state.config
        return bool(
            data.get("_sudo_password", config.SUDO_PASSWORD) or data.get("_su_password", config.SU_PASSWORD)
        )

    def _leave(self) -> None:
        """Let connectors that started something (a container) put it away; ssh is closed by the visit."""
        connector = self._host.connector
        if isinstance(connector, SSHConnector):
            connector.client = None  # or the connection's buffers stay as long as the inventory
            self._host.connected = False
            return
        self._visit.clock.start(self._timeout)
        try:
            self._host.disconnect()
        except (Exception, OutOfTime):
            self._host.connected = False

    def _user(self) -> str:
        config = getattr(getattr(self._host.connector, "client", None), "_ssh_config", None) or {}
        return str(config.get("username") or self._host.data.get("ssh_user") or getpass.getuser())


def _script(python: str, source: str) -> str:
    quoted = shlex.quote(python)
    # Whoever sends a program to a shell without Python must not find the pipe closed before it is told so.
    return (
        f"command -v {quoted} >/dev/null 2>&1 || {{ cat >/dev/null; echo '{_NO_PYTHON}' >&2; exit 127; }}; "
        f"exec {quoted} -I -S {source}"
    )


@contextmanager
def _telling(connector: Any, visit: Visit) -> Iterator[None]:
    """Have the connector raise CommandError where a command fails: a fact logs its errors and keeps them."""
    run = connector.run_shell_command

    def told(*args: Any, **kwargs: Any) -> tuple[bool, CommandOutput]:
        try:
            done, output = run(*args, **kwargs)
        except streams.OutputLimitError:
            size = streams.MAX_OUTPUT >> 20
            raise CommandError(reasons.incomplete(f"more than {size} MB of output")) from None
        except streams.PasswordNeededError:
            raise CommandError(reasons.incomplete("sudo: a password is required")) from None
        except SSHException as error:
            raise CommandError(reasons.unreachable(f"ssh: {error}")) from error
        except (OSError, EOFError) as error:
            raise CommandError(reasons.unreachable("connection lost")) from error
        if not done:
            raise CommandError(_of_command(visit, output))
        return done, output

    connector.run_shell_command = told
    visit.asking = True
    try:
        yield
    finally:
        visit.asking = False
        del connector.run_shell_command


def _of_command(visit: Visit, output: CommandOutput) -> Failure:
    said = reasons.last_line(streams.as_bytes(output.stderr)) or reasons.last_line(
        streams.as_bytes(output.stdout)
    )
    if said == _NO_PYTHON:
        return reasons.incomplete("no python3: not found (the host data knowngood_python can set its path)")
    code = visit.exit_code
    if code is None and not visit.connected:
        return reasons.unreachable("connection lost")
    if refusal := reasons.refusal(said):
        return reasons.incomplete(refusal)
    ended = "was killed" if code is None else f"exited {code}"
    return reasons.incomplete(f"python3 {ended}: {said}" if said else f"python3 {ended} and said nothing")
