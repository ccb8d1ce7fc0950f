"""Findings of like nodes as rows: name, values, meaning and notes, not yet fitted to a screen."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from knowngood.model import Finding, HostResult, Setting, Verdict
from knowngood.report.escape import clean
from knowngood.report.meaning import CANT_TELL, meaning, reasons
from knowngood.report.values import LAYERS, OTHER, layer, shown, starred

# Where the meaning alone would leave a reader asking, a line of evidence follows.
_TELLING = (Verdict.STOPPED, Verdict.LIVE_DIFFERS, Verdict.SPLIT, Verdict.UNKNOWN)

_LONGEST_ARGV = 4000  # characters; a whole command line, which is what one looks for in it


@dataclass(frozen=True, slots=True)
class Note:
    """A line below a row; `whole` ones are wrapped where they are long, the others cut."""

    text: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    values: Mapping[str, str]  # by layer; "" where the setting has no such layer
    starred: frozenset[str]  # the layers that differ from the manifest
    meaning: str
    notes: tuple[Note, ...] = ()


def rows_of(group: Sequence[HostResult], names: Mapping[Setting, str], *, verbose: int) -> list[Row]:
    """The rows of nodes that have the same findings. `verbose` adds all the evidence, and the mend."""
    told: set[str] = set()
    rows = []
    for number, finding in enumerate(group[0].findings):
        evidence = _Evidence(group, number)
        rows.append(_row(finding, names[finding.setting], evidence, told, verbose))
    return rows


def server_line(host: HostResult) -> str:
    """The process that serves, in a line; "" where none was seen."""
    if host.server is None:
        return ""
    argv = "argv unknown" if host.server.argv is None else shlex.join(map(clean, host.server.argv))
    started = clean(host.server.started_at)
    return f"server: pid {host.server.pid}, started {started}: {clean(argv, _LONGEST_ARGV)}"


@dataclass(frozen=True, slots=True)
class _Evidence:
    """One finding's evidence on all nodes of a group."""

    group: Sequence[HostResult]
    number: int

    def lines(self) -> tuple[str, ...]:
        """What holds for all, or else the first node's, by its name."""
        first, *others = (host.findings[self.number].evidence for host in self.group)
        lines = tuple(clean(line) for line in first)
        if all(other == first for other in others):
            return lines
        return tuple(f"{clean(self.group[0].host)}: {line}" for line in lines)

    def line(self) -> str:
        first, *others = (host.findings[self.number].evidence for host in self.group)
        text = " · ".join(clean(line) for line in first)
        if not text or all(other == first for other in others):
            return text
        return f"{clean(self.group[0].host)}: {text}"


def _row(finding: Finding, name: str, evidence: _Evidence, told: set[str], verbose: int) -> Row:
    stars = starred(finding)
    kind = finding.setting.kind
    values = {each: shown(layer(finding.layers, each), kind, differs=each in stars) for each in LAYERS}
    sentence, news = _sentence(finding, told)
    notes = [*_reasons(finding, values, told)]
    if verbose:
        notes += _all_evidence(finding, name, evidence)
    elif finding.verdict in _TELLING and news and (line := evidence.line()):
        notes.append(Note(line, whole=False))
    return Row(name, values, stars, sentence, tuple(notes))


def _sentence(finding: Finding, told: set[str]) -> tuple[str, bool]:
    """The meaning, and whether it is news: a long reason is told once for all the rows it holds for."""
    sentence = meaning(finding)
    if finding.verdict is not Verdict.UNKNOWN:
        return sentence, True
    if sentence in told:
        return f"{CANT_TELL} (as above)", False
    told.add(sentence)
    return sentence, True


def _reasons(finding: Finding, values: Mapping[str, str], told: set[str]) -> Iterator[Note]:
    """Why a value is a question mark, where the meaning doesn't say it."""
    skipped = 1 if finding.verdict is Verdict.UNKNOWN else 0
    for reason in reasons(finding)[skipped:]:
        where = reason.partition(":")[0]
        if values.get("running") == OTHER and where == "running":
            continue
        if reason not in told:
            told.add(reason)
            yield Note(reason)


def _all_evidence(finding: Finding, name: str, evidence: _Evidence) -> Iterator[Note]:
    address = clean(str(finding.setting))
    if name != address.replace(":", " ", 1):
        yield Note(address)
    for line in evidence.lines():
        yield Note(line)
    if finding.mend:
        yield Note("mend: " + ", ".join(clean(step) for step in finding.mend))
