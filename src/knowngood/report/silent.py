"""Nodes that told nothing, with the reason why: unreachable, or of no use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from knowngood.model import HostResult, Status
from knowngood.report.cells import cut, pad, width, wrap
from knowngood.report.counts import STYLES
from knowngood.report.escape import clean
from knowngood.report.names import all_hosts, every_host, host_list
from knowngood.report.paint import Span
from knowngood.report.rows import server_line

_INDENT, _BELOW = 2, 6
_GAP = 3
_NARROWEST_REASON = 24  # cells; else it moves below the names


def silent_nodes(
    hosts: Sequence[HostResult], at: int, screen: int, *, verbose: int = 0
) -> Iterator[list[Span]]:
    """The hosts that have no findings, and why; those in sync only where `verbose` wants every name.

    `at`: the cell where reasons begin, to stand in line with a table above; 0 for as far left as may be.
    """
    for status in (Status.UNREACHABLE, Status.INCOMPLETE, Status.DRIFTED):
        yield from _with_reasons(status, _by_reason(hosts, status), at, screen, verbose)
    in_sync = [host for host in hosts if host.status is Status.IN_SYNC and not host.findings]
    if not in_sync or not verbose:
        return
    yield [("in sync", STYLES[Status.IN_SYNC])]
    if verbose > 1:
        for host in in_sync:
            line = f"{clean(host.host)}   {server_line(host)}"
            yield [(" " * _INDENT + cut(line, screen - _INDENT), "")]
    else:
        yield from _names([host.host for host in in_sync], screen, verbose)


def _by_reason(hosts: Sequence[HostResult], status: Status) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for host in hosts:
        if host.status is status and not host.findings:
            groups.setdefault(clean(host.error or "no reason given"), []).append(host.host)
    return groups


def _with_reasons(
    status: Status, groups: Mapping[str, Sequence[str]], at: int, screen: int, verbose: int
) -> Iterator[list[Span]]:
    if not groups:
        return
    yield [(status.value, STYLES[status])]
    at = at or _INDENT + _GAP + max(width(host_list(names, screen // 2)) for names in groups.values())
    beside = screen - at >= _NARROWEST_REASON
    for reason, names in groups.items():
        label = all_hosts(names, at - _INDENT - _GAP, ranges=not verbose) if beside else None
        if label is not None:
            yield from _reason_beside(label, reason, at, screen)
        else:
            yield from _reason_below(names, reason, screen, verbose)


def _reason_beside(label: str, reason: str, at: int, screen: int) -> Iterator[list[Span]]:
    first, *others = wrap(reason, screen - at)
    yield [(" " * _INDENT + pad(label, at - _INDENT), ""), (first, "")]
    for line in others:
        yield [(" " * at + line, "")]


def _reason_below(names: Sequence[str], reason: str, screen: int, verbose: int) -> Iterator[list[Span]]:
    yield from _names(names, screen, verbose)
    for line in wrap(reason, screen - _BELOW):
        yield [(" " * _BELOW + line, "")]


def _names(names: Sequence[str], screen: int, verbose: int) -> Iterator[list[Span]]:
    room = screen - _INDENT
    text = every_host(names) if verbose else host_list(names, room)
    for line in wrap(text, room):
        yield [(" " * _INDENT + line, "")]
