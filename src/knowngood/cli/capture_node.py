"""The one node that a capture looks at: questions and answers, a connection each."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from knowngood.cli.audit import Deadlines
from knowngood.cli.common import stop
from knowngood.model import Desired, ExitCode, Failure, Host, Observation

if TYPE_CHECKING:
    from knowngood.fleet.inventory import Inventory


@dataclass(frozen=True, slots=True)
class CapturedNode:
    """Asks the node; stops with exit code 3 where it does not answer, or not usefully."""

    inventory: Inventory
    host: Host
    deadlines: Deadlines

    def observe(self, role: Desired) -> Observation:
        """All that the node says of a role."""
        from knowngood.observe.answer import read_answer
        from knowngood.observe.ask import ask

        nonce = secrets.token_bytes(32)
        answer = self._answer(ask((role,), nonce, rehash=True))
        observations = read_answer(self.host.name, answer, (role,), nonce)
        if isinstance(observations, Failure):
            self._stop(observations)
        observation = observations[role.manifest]
        self._check(observation)
        return observation

    def content(self, path: str, sha256: str) -> bytes:
        """The content of a file, which must be the one that was observed."""
        from knowngood.observe.fetch import ask_content, read_content

        nonce = secrets.token_bytes(32)
        content = read_content(self._answer(ask_content(path, nonce)), nonce, path, sha256)
        if isinstance(content, Failure):
            self._stop(content)
        return content

    def _answer(self, program: bytes) -> bytes:
        from knowngood.fleet.gather import gather

        answers: list[bytes | Failure] = []
        gather(
            self.inventory,
            {self.host.name: program},
            connect_timeout=self.deadlines.connect,
            timeout=self.deadlines.whole,
            on_answer=lambda _, answer: answers.append(answer),
        )
        (answer,) = answers or [Failure("unreachable", "no answer")]
        if isinstance(answer, Failure):
            self._stop(answer)
        return answer

    def _check(self, observation: Observation) -> None:
        unit = observation.unit
        if unit.error is not None:
            self._stop(Failure("incomplete", f"systemd did not answer: {unit.error}"))
        if unit.load_state == "not-found":
            stop(f"{self.host.name}: no such unit: {unit.name}")
        if unit.load_state != "loaded":
            stop(
                f"{self.host.name}: {unit.name} can't be captured: its load state is {unit.load_state or '?'}"
            )
        if unit.active_state not in ("active", "reloading", "inactive", "failed"):
            state = f"{unit.active_state} ({unit.sub_state})"
            self._stop(Failure("incomplete", f"{unit.name} is {state}: capture it when it runs"))

    def _stop(self, failure: Failure) -> NoReturn:
        stop(f"{self.host.name}: {failure.kind}: {failure.reason}", ExitCode.INCOMPLETE)


def check_files(host: str, observation: Observation, paths: Sequence[str]) -> None:
    """Stop where one of the files can't be captured."""
    for path in paths:
        state = observation.files[path]
        if state.kind == "unreadable" or (state.kind == "regular" and state.sha256 is None):
            stop(f"{host}: {path} can't be read: {state.error or 'unreadable'}", ExitCode.INCOMPLETE)
        if state.kind != "regular":
            stop(f"{host}: {path}: " + ("no such file" if state.kind == "missing" else "not a regular file"))
