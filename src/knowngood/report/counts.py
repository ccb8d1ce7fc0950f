"""How many nodes are how: the strip of one letter a node, and the last words on a fleet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from knowngood.model import HostResult, Status, Verdict
from knowngood.report.flow import counted, flow
from knowngood.report.paint import Span

STYLES = {
    Status.IN_SYNC: "good",
    Status.DRIFTED: "bad",
    Status.INCOMPLETE: "doubt",
    Status.UNREACHABLE: "bad",
}
_LETTERS = {Status.IN_SYNC: ".", Status.DRIFTED: "D", Status.INCOMPLETE: "I", Status.UNREACHABLE: "U"}


def strip(hosts: Sequence[HostResult], screen: int) -> Iterator[list[Span]]:
    """One letter a node, in inventory order; nothing where it would tell nothing."""
    if len(hosts) < 2 or all(host.status is Status.IN_SYNC for host in hosts):
        return
    for start in range(0, len(hosts), screen):
        statuses = (host.status for host in hosts[start : start + screen])
        yield [
            (_LETTERS[status] * len([*run]), "quiet" if status is Status.IN_SYNC else STYLES[status])
            for status, run in groupby(statuses)
        ]


def counts(hosts: Sequence[HostResult], screen: int, *, lead: str = "") -> Iterator[list[Span]]:
    """`36 in sync · 3 drifted (3 settings) · 1 unreachable`, after the words of `lead`."""
    if not any(host.findings or host.status is Status.IN_SYNC for host in hosts):
        lead += "nothing was observed: "
    pieces = [*_pieces(hosts)] or [("no node was asked", "doubt")]
    pieces[0] = (lead + pieces[0][0], pieces[0][1])
    yield from flow(pieces, screen)


def _pieces(hosts: Sequence[HostResult]) -> Iterator[Span]:
    findings = [finding for host in hosts for finding in host.findings]
    accepted = sum(1 for finding in findings if finding.accepted)
    drifted = sum(
        1 for finding in findings if finding.verdict is not Verdict.UNKNOWN and not finding.accepted
    )
    for status, style in STYLES.items():
        if count := sum(1 for host in hosts if host.status is status):
            settings = f" ({counted(drifted, 'setting')})" if status is Status.DRIFTED else ""
            yield f"{count} {status.value.replace('_', ' ')}{settings}", style
    if accepted:
        yield f"{counted(accepted, 'setting')} accepted", ""
