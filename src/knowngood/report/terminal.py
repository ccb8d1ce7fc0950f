"""The screen of `knowngood drift`: the whole report as text, for a terminal of so many cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from knowngood.model import DriftReport, HostResult, ManifestInfo, Status
from knowngood.report.cells import cut, squeeze, width
from knowngood.report.counts import counts, strip
from knowngood.report.escape import clean
from knowngood.report.flow import counted, flow
from knowngood.report.groups import Section, alike, sections
from knowngood.report.names import setting_names
from knowngood.report.paint import Span, colored, plain
from knowngood.report.rows import rows_of, server_line
from knowngood.report.silent import silent_nodes
from knowngood.report.table import Block, Table

NARROWEST = 40  # cells; a narrower screen gets this much
_PLAIN_NAME = re.compile(r"[A-Za-z0-9._:-]+")  # needs no quoting, and is no pattern


def render_drift(
    report: DriftReport, *, width: int, color: bool, verbose: int = 0, next_command: str | None = None
) -> str:
    """The report as text, each line at most `width` cells and ended by a newline.

    `verbose`: 1 adds all evidence and every node's name, 2 tells each node by itself. `next_command` is
    what a user might run next; it gets a --limit for the nodes that drifted, where that fits in the line.
    """
    screen = max(width, NARROWEST)
    paint = colored if color else plain
    lines = _lines(report, screen, verbose, next_command)
    return "".join(paint(line) + "\n" for line in lines)


def _lines(
    report: DriftReport, screen: int, verbose: int, next_command: str | None
) -> Iterator[Sequence[Span]]:
    parts = sections(report)
    for section in parts:
        yield from _section(section, report, screen, verbose)
        yield from counts(section.hosts, screen)
        if len(parts) > 1:
            yield []
    if len(parts) != 1:
        yield from counts(report.hosts, screen, lead="in all: " if parts else "")
    if next_command is not None and report.count(Status.DRIFTED):
        yield [(_next(report, next_command, screen), "")]


def _section(section: Section, report: DriftReport, screen: int, verbose: int) -> Iterator[Sequence[Span]]:
    yield from flow(_header(section.manifest, len(section.hosts), report.duration_s, screen), screen)
    yield []
    blocks = _blocks(section.hosts, verbose)
    table = Table(blocks, screen, verbose=verbose)
    yield from table.lines()
    at = table.columns.first_value if table.columns is not None else 0
    silent = [*silent_nodes(section.hosts, at, screen, verbose=verbose)]
    yield from silent
    if blocks or silent:
        yield []
    yield from strip(section.hosts, screen)


def _header(manifest: ManifestInfo, nodes: int, duration_s: float, screen: int) -> list[Span]:
    pieces = [(clean(manifest.name), "strong"), (counted(nodes, "node"), "")]
    if manifest.path:
        pieces.append((_origin(manifest, screen), ""))
    return [*pieces, (f"observed in {_seconds(duration_s)}", "")]


def _origin(manifest: ManifestInfo, screen: int) -> str:
    if manifest.commit is None:
        at = " (not in git)"
    else:
        at = f" @ {clean(manifest.commit)[:7]}" + (" + changes" if manifest.dirty else "")
    return "manifest " + squeeze(clean(manifest.path), screen - len("  manifest ") - width(at)) + at


def _blocks(hosts: Iterable[HostResult], verbose: int) -> list[Block]:
    telling = [host for host in hosts if any(verbose or not finding.accepted for finding in host.findings)]
    names = setting_names(finding.setting for host in telling for finding in host.findings)
    return [
        Block(
            hosts=tuple(host.host for host in group),
            rows=tuple(rows_of(group, names, verbose=verbose)),
            remark=_remark(group),
            server=server_line(group[0]) if verbose and len(group) == 1 else "",
        )
        for group in alike(telling, apart=verbose > 1)
    ]


def _remark(group: Sequence[HostResult]) -> str:
    """What holds for the nodes of a block, at the right of their names."""
    remarks = [f"same on {len(group)} nodes"] if len(group) > 1 else []
    if group[0].status is Status.INCOMPLETE:
        remarks.append("incomplete")
    return ", ".join(remarks)


def _next(report: DriftReport, command: str, screen: int) -> str:
    """The command for the nodes that drifted; for all where their names are too many or too odd."""
    names = [*dict.fromkeys(host.host for host in report.hosts if host.status is Status.DRIFTED)]
    simple = f"next: {clean(command)}"
    limited = f"{simple} --limit {','.join(names)}"
    if all(_PLAIN_NAME.fullmatch(name) for name in names) and width(limited) <= screen:
        return limited
    return cut(simple, screen)


def _seconds(duration: float) -> str:
    if duration < 60:
        return f"{duration:.1f} s"
    minutes, seconds = divmod(round(duration), 60)
    return f"{minutes} min {seconds} s"
