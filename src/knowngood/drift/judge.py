"""A host's result for one manifest: its status, its server, its findings."""

from __future__ import annotations

from datetime import UTC, datetime

from knowngood.drift.compare import compare, secret_texts
from knowngood.drift.wanted import wanted
from knowngood.model import (
    Desired,
    Failure,
    Finding,
    HostResult,
    Observation,
    Process,
    Seen,
    Server,
    Status,
    Unknown,
    Verdict,
)
from knowngood.syntax.secret_texts import holds_secret
from knowngood.syntax.secrets import MASK, mask


def judge(desired: Desired, observation: Observation, seen: Seen) -> HostResult:
    """The result of a host that answered."""
    manifest = wanted(desired, observation.nonce)
    findings = compare(desired, manifest, seen, observation.activated)
    server = None if seen.server is None else _server(seen.server, secret_texts(desired))
    return HostResult(desired.host, desired.manifest, status_of(findings), None, server, findings)


def failed(desired: Desired, failure: Failure) -> HostResult:
    """The result of a host that did not answer, or not usefully."""
    return HostResult(desired.host, desired.manifest, Status(failure.kind), failure.reason)


def status_of(findings: tuple[Finding, ...]) -> Status:
    """A node with drift and unknowns is drifted; with unknowns alone, incomplete."""
    counting = [finding for finding in findings if not finding.accepted]
    if any(finding.verdict is not Verdict.UNKNOWN for finding in counting):
        return Status.DRIFTED
    return Status.INCOMPLETE if counting else Status.IN_SYNC


def _server(process: Process, secrets: tuple[str, ...]) -> Server:
    argv = (
        None if isinstance(process.argv, Unknown) else tuple(_masked(word, secrets) for word in process.argv)
    )
    return Server(process.pid, argv, _iso(process.started_ns))


def _masked(word: str, secrets: tuple[str, ...]) -> str:
    """A word of the command line; one that looks like a secret is none that anyone declared."""
    masked = mask(word, secrets)
    return MASK if holds_secret(masked) else masked


def _iso(ns: int) -> str:
    moment = datetime.fromtimestamp(ns / 1e9, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
