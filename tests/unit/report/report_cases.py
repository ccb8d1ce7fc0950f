"""Report cases: tests/cases/reports/NAME.yaml, a report in short notation (see README.md there)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from knowngood.model import (
    ABSENT,
    DriftReport,
    Finding,
    HostResult,
    Known,
    Layers,
    ManifestInfo,
    Occurrences,
    Server,
    Setting,
    Status,
    Unknown,
    Value,
    Verdict,
)

FOLDER = Path(__file__).parents[2] / "cases" / "reports"


class _Loader(yaml.BaseLoader):
    """Every scalar is text; tags make the other values."""


def _words(loader: yaml.BaseLoader, node: yaml.Node) -> Known:
    return Known(Occurrences((tuple(loader.construct_sequence(node)),)))


def _repeat(loader: yaml.BaseLoader, node: yaml.Node) -> Known:
    return Known(Occurrences(tuple((word,) for word in loader.construct_sequence(node))))


_Loader.add_constructor("!absent", lambda loader, node: ABSENT)
_Loader.add_constructor("!unknown", lambda loader, node: Unknown(loader.construct_scalar(node)))
_Loader.add_constructor(
    "!other", lambda loader, node: Unknown("other content", loader.construct_scalar(node))
)
_Loader.add_constructor("!words", _words)
_Loader.add_constructor("!repeat", _repeat)
_Loader.add_constructor("!bare", lambda loader, node: Known(Occurrences(((),))))


def load_case(name: str) -> tuple[DriftReport, str | None]:
    """The case's report, and its next command."""
    text = (FOLDER / f"{name}.yaml").read_text("utf-8")
    case = yaml.load(text, _Loader) or {}
    hosts = [host for role in case.get("roles", []) for host in _hosts(role)]
    report = DriftReport(
        tuple(_manifest(role) for role in case.get("roles", [])),
        "2026-03-01T02:00:00.000Z",
        float(case.get("duration_s", 4.2)),
        tuple(hosts),
    )
    return report, case.get("next")


def _manifest(role: dict[str, Any]) -> ManifestInfo:
    commit = role.get("commit", "3f9c2e1d5b7a90864f21c3e8d7b6a59401f2e3d4")
    return ManifestInfo(role["name"], role.get("path", "state/decode.yaml"), commit or None, "dirty" in role)


def _hosts(role: dict[str, Any]) -> Iterator[HostResult]:
    told = {host: result for key, result in role.get("nodes", {}).items() for host in expand(key)}
    for host in expand(role["hosts"]):
        result = told.get(host, [])
        if isinstance(result, dict) and "unreachable" in result:
            yield HostResult(host, role["name"], Status.UNREACHABLE, result["unreachable"])
        elif isinstance(result, dict) and "incomplete" in result:
            yield HostResult(host, role["name"], Status.INCOMPLETE, result["incomplete"])
        else:
            findings = tuple(_finding(host, finding) for finding in result)
            yield HostResult(host, role["name"], _status(findings), None, _server(findings), findings)


def expand(names: str) -> list[str]:
    """`decode-{08..10} other`, as bash would; \\x escapes make odd names."""
    expanded = []
    for name in names.encode().decode("unicode_escape").split():
        match = re.fullmatch(r"(.*)\{(\d+)\.\.(\d+)\}(.*)", name)
        if match is None:
            expanded.append(name)
        else:
            before, first, last, after = match.groups()
            numbers = range(int(first), int(last) + 1)
            expanded += [f"{before}{number:0{len(first)}}{after}" for number in numbers]
    return expanded


def _status(findings: tuple[Finding, ...]) -> Status:
    counting = [finding for finding in findings if not finding.accepted]
    if any(finding.verdict is not Verdict.UNKNOWN for finding in counting):
        return Status.DRIFTED
    return Status.INCOMPLETE if counting else Status.IN_SYNC


def _server(findings: tuple[Finding, ...]) -> Server | None:
    if any(finding.verdict is Verdict.STOPPED for finding in findings):
        return None
    argv = ("/usr/bin/python3", "-m", "sglang.launch_server", "--tp", "4")
    return Server(4711, argv, "2026-02-27T09:12:44.120Z")


def _finding(host: str, told: dict[str, Any]) -> Finding:
    layers = [_value(told.get(name)) for name in ("manifest", "disk", "loaded", "running")]
    assert layers[0] is not None
    return Finding(
        Setting.parse(told["setting"]),
        Verdict(told["verdict"]),
        Layers(layers[0], *layers[1:]),
        tuple(line.replace("HOST", host) for line in told.get("evidence", [])),
        tuple(told.get("mend", "").split()),
        told.get("cause"),
        "accepted" in told,
    )


def _value(told: object) -> Value | None:
    if told is None or isinstance(told, Known | Unknown) or told is ABSENT:
        return told
    assert isinstance(told, str)
    return Known(told)
