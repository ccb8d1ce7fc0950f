"""Nodes that told nothing, with the reason why: unreachable, or of no use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from knowngood.model import HostResult, Status
from knowngood.report.cells import pad, width, wrap
from knowngood.report.escape import clean
from knowngood.report.names import all_hosts, every_host, host_list
from knowngood.report.paint import Span

_INDENT, _BELOW = 2, 6
_GAP = 3
_NARROWEST_REASON = 24  # cells; else it moves below the names


def silent_nodes(
    hosts: Sequence[HostResult], status: Status, at: int, screen: int, *, verbose: int = 0
) -> Iterator[list[Span]]:
    """The hosts of this status that have no findings; nothing where there are none.

    `at`: the cell where reasons begin, to stand in line with a table above; 0 for as far left as may be.
    """
    groups = _by_reason(hosts, status)
    if not groups:
        return
    yield [(status.value, "doubt" if status is Status.INCOMPLETE else "bad")]
    at = at or _INDENT + _GAP + max(width(host_list(names, screen // 2)) for names in groups.values())
    beside = screen - at >= _NARROWEST_REASON
    for reason, names in groups.items():
        label = all_hosts(names, at - _INDENT - _GAP, ranges=not verbose) if beside else None
        if label is not None:
            yield from _reason_beside(label, reason, at, screen)
        else:
            yield from _reason_below(names, reason, screen, verbose)


def _by_reason(hosts: Sequence[HostResult], status: Status) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for host in hosts:
        if host.status is status and not host.findings:
            groups.setdefault(clean(host.error or "no reason given"), []).append(host.host)
    return groups


def _reason_beside(label: str, reason: str, at: int, screen: int) -> Iterator[list[Span]]:
    first, *others = wrap(reason, screen - at)
    yield [(" " * _INDENT + pad(label, at - _INDENT), ""), (first, "")]
    for line in others:
        yield [(" " * at + line, "")]


def _reason_below(names: Sequence[str], reason: str, screen: int, verbose: int) -> Iterator[list[Span]]:
    room = screen - _INDENT
    text = every_host(names) if verbose else host_list(names, room)
    for line in wrap(text, room):
        yield [(" " * _INDENT + line, "")]
    for line in wrap(reason, screen - _BELOW):
        yield [(" " * _BELOW + line, "")]
