"""The manifest's `rollout:` and `health:` as values: how many nodes may change at once, and what must hold.

Both were checked by the manifest's schema; PolicyError is for what comes from elsewhere (a saved plan).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Place = Literal["node", "controller"]

CANARY, BATCH, MAX_FAILURES = 1, "25%", 0
# A 70B model loads in minutes from a warm page cache, and in ten from a cold disk.
TIMEOUT, INTERVAL, FAILURES, STATUS, TOKENS = 600.0, 2.0, 3, 200, 1


class PolicyError(ValueError):
    """A policy that says nothing one could follow; the text says which part."""


@dataclass(frozen=True, slots=True)
class Share:
    """A number of nodes, or a percentage of those that are due."""

    number: int
    percent: bool = False

    @classmethod
    def parse(cls, written: object) -> Share:
        """3, "3" or "25%"; PolicyError for all else."""
        found = re.fullmatch(r"([0-9]{1,6})(%?)", str(written))
        if found is None or isinstance(written, bool) or (found[2] and int(found[1]) > 100):
            raise PolicyError(f"not a number of hosts, nor a share of them: {written!r}")
        return cls(int(found[1]), bool(found[2]))

    def of(self, whole: int) -> int:
        """How many nodes of `whole`. A percentage is rounded down: never more than it says."""
        return self.number * whole // 100 if self.percent else self.number

    def __str__(self) -> str:
        return f"{self.number}%" if self.percent else str(self.number)


@dataclass(frozen=True, slots=True)
class Hook:
    """A command line for a shell, and where it runs."""

    command: str
    on: Place = "node"


@dataclass(frozen=True, slots=True)
class Policy:
    """In which steps a change reaches the hosts.

    `canary` nodes go first; then `batch` at a time; more than `max_failures` failed nodes stop the rollout;
    `pause` seconds pass between waves. `together` names host data: nodes that share it are one instance.
    """

    canary: Share = Share(CANARY)
    batch: Share = Share(25, percent=True)
    max_failures: Share = Share(MAX_FAILURES)
    pause: float = 0.0
    together: str | None = None
    before_restart: Hook | None = None
    after_healthy: Hook | None = None


def policy_of(rollout: Mapping[str, object]) -> Policy:
    """A manifest's `rollout:`; defaults for what it does not say."""
    together = rollout.get("together")
    return Policy(
        canary=Share.parse(rollout.get("canary", CANARY)),
        batch=Share.parse(rollout.get("batch", BATCH)),
        max_failures=Share.parse(rollout.get("max_failures", MAX_FAILURES)),
        pause=_seconds(rollout, "pause", 0.0),
        together=None if together is None else str(together),
        before_restart=_hook(rollout.get("before_restart")),
        after_healthy=_hook(rollout.get("after_healthy")),
    )


def _hook(written: object) -> Hook | None:
    """A command alone runs on the node; {controller: COMMAND} and {node: COMMAND} say where."""
    if written is None:
        return None
    if isinstance(written, str) and written.strip():
        return Hook(written)
    if isinstance(written, Mapping) and len(written) == 1:
        ((place, command),) = written.items()
        if isinstance(command, str) and command.strip():
            if place == "node":
                return Hook(command, "node")
            if place == "controller":
                return Hook(command, "controller")
    raise PolicyError(f"not a command: {written!r}")


@dataclass(frozen=True, slots=True)
class Health:
    """What must hold before a change is kept. One of `http`, `command` and `completion` is set.

    `timeout`: seconds until it must be healthy; `interval`: seconds between tries; as many `failures` in a
    row, once it was healthy, mean that it is not.
    """

    http: str | None = None
    status: int = STATUS
    body: str | None = None  # text that the answer must hold
    command: str | None = None
    completion: Completion | None = None
    timeout: float = TIMEOUT
    interval: float = INTERVAL
    failures: int = FAILURES

    def __str__(self) -> str:
        if self.http is not None:
            return f"http {self.http} answers {self.status}"
        if self.completion is not None:
            return f"completion of {self.completion.tokens} tokens or more from {self.completion.url}"
        return f"command {self.command}"


@dataclass(frozen=True, slots=True)
class Completion:
    """A real request, POSTed to `url`, that must be answered with at least so many tokens."""

    url: str
    body: str  # JSON
    tokens: int = TOKENS


def health_of(health: Mapping[str, object] | None) -> Health | None:
    """A host's `health:`; None where the manifest has none, and only systemd's word counts."""
    if not health:
        return None
    body = health.get("body")
    return Health(
        http=_text(health, "http"),
        status=_whole(health, "status", STATUS),
        body=None if body is None else str(body),
        command=_text(health, "command"),
        completion=_completion(health.get("completion")),
        timeout=_seconds(health, "timeout", TIMEOUT),
        interval=_seconds(health, "interval", INTERVAL),
        failures=_whole(health, "failures", FAILURES),
    )


def _completion(written: object) -> Completion | None:
    if written is None:
        return None
    if not isinstance(written, Mapping) or "url" not in written or "body" not in written:
        raise PolicyError("completion: url and body are needed")
    body = written["body"]
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return Completion(str(written["url"]), text, _whole(written, "tokens", TOKENS))


def _text(written: Mapping[str, object], key: str) -> str | None:
    value = written.get(key)
    return None if value is None else str(value)


def _whole(written: Mapping[str, object], key: str, default: int) -> int:
    value = written.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise PolicyError(f"{key}: not a whole number: {value!r}")
    return value


def _seconds(written: Mapping[str, object], key: str, default: float) -> float:
    value = written.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise PolicyError(f"{key}: not a number of seconds: {value!r}")
    return float(value)
