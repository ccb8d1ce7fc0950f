"""The screen, whatever stands in a report: every node told once, nothing hidden, nothing too wide."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import load_case
from report_strategies import reports
from rich.cells import cell_len

from knowngood.model import (
    DriftReport,
    Finding,
    HostResult,
    Known,
    Layers,
    ManifestInfo,
    Setting,
    Status,
    Verdict,
)
from knowngood.report.meaning import meaning
from knowngood.report.terminal import NARROWEST, render_drift

SGR = re.compile(r"\x1b\[\d*m")


@settings(deadline=None, max_examples=40)
@given(reports(), st.integers(1, 160), st.integers(0, 2))
def test_no_line_is_too_wide_and_nothing_steers_the_terminal(
    report: DriftReport, width: int, verbose: int
) -> None:
    text = render_drift(report, width=width, color=False, verbose=verbose, next_command="knowngood plan")
    assert text.endswith("\n")
    for line in text.split("\n"):
        assert cell_len(line) <= max(width, NARROWEST)
        assert line == line.rstrip(" ")
        assert line.isprintable()
        assert not any(unicodedata.category(letter) in ("Mn", "Me", "Cf", "Cs") for letter in line)


@settings(deadline=None, max_examples=40)
@given(reports(), st.integers(1, 160), st.integers(0, 2))
def test_colour_adds_nothing_but_colour(report: DriftReport, width: int, verbose: int) -> None:
    plain = render_drift(report, width=width, color=False, verbose=verbose)
    colored = render_drift(report, width=width, color=True, verbose=verbose)
    assert SGR.sub("", colored) == plain


@settings(deadline=None, max_examples=40)
@given(reports())
def test_the_counts_are_those_of_the_report(report: DriftReport) -> None:
    last = render_drift(report, width=200, color=False).splitlines()[-1]
    told = {
        match[2]: int(match[1])
        for match in re.finditer(r"(\d+) (in sync|drifted|incomplete|unreachable)", last)
    }
    assert told == {s.value.replace("_", " "): report.count(s) for s in Status if report.count(s)}
    assert sum(told.values()) == len(report.hosts)


@st.composite
def plain_fleets(draw: st.DrawFn) -> DriftReport:
    """Hosts with plain names, so that they can be found on the screen."""
    kinds = draw(
        st.lists(st.sampled_from(["ok", "a", "b", "unknown", "down", "useless"]), min_size=2, max_size=40)
    )
    hosts = tuple(_host(f"node-{number:03}", kind) for number, kind in enumerate(kinds))
    return DriftReport((ManifestInfo("m", "state/m.yaml"),), "2026-03-01T02:00:00Z", 1.0, hosts)


def _host(name: str, kind: str) -> HostResult:
    if kind == "ok":
        return HostResult(name, "m", Status.IN_SYNC)
    if kind == "down":
        return HostResult(name, "m", Status.UNREACHABLE, "ssh: no answer in 10 s")
    if kind == "useless":
        return HostResult(name, "m", Status.INCOMPLETE, "no usable python3")
    verdict = Verdict.UNKNOWN if kind == "unknown" else Verdict.EDITED_AND_LIVE
    finding = Finding(Setting("env", "A"), verdict, Layers(Known("1"), Known(kind), None, Known(kind)))
    status = Status.INCOMPLETE if kind == "unknown" else Status.DRIFTED
    return HostResult(name, "m", status, findings=(finding,))


@settings(deadline=None)
@given(plain_fleets())
def test_every_node_is_told_once(report: DriftReport) -> None:
    text = render_drift(report, width=100, color=False, verbose=1)
    named = re.findall(r"node-\d{3}", text)
    assert sorted(named) == sorted(host.host for host in report.hosts)


@settings(deadline=None)
@given(plain_fleets(), st.integers(40, 120))
def test_the_strip_has_one_letter_a_node(report: DriftReport, width: int) -> None:
    text = render_drift(report, width=width, color=False)
    strip = "".join(line for line in text.splitlines() if re.fullmatch(r"[.DIU]+", line))
    letters = {Status.IN_SYNC: ".", Status.DRIFTED: "D", Status.INCOMPLETE: "I", Status.UNREACHABLE: "U"}
    expected = "".join(letters[host.status] for host in report.hosts)
    assert strip == ("" if set(expected) == {"."} else expected)


def test_the_picture_of_the_design() -> None:
    report, command = load_case("fleet")
    assert render_drift(report, width=92, color=False, next_command=command) == (
        "dsv4-decode · 40 nodes · manifest state/decode.yaml @ 3f9c2e1 · observed in 4.2 s\n"
        "\n"
        "  SETTING                       MANIFEST  ON DISK    RUNNING    MEANING\n"
        "decode-07, decode-12                                            same on 2 nodes\n"
        "  env SGLANG_…_TARGET_CTAS      512       256 *      256 *      edited on the node, and live\n"
        "decode-19\n"
        "  file flash_mla_sm120_triton   8a41c07e  51be77d0 * 8a41c07e   the next restart loads it\n"
        "unreachable\n"
        "  decode-31                     ssh: no answer in 10 s\n"
        "\n"
        ".......D....D......D...........U........\n"
        "36 in sync · 3 drifted (3 settings) · 1 unreachable\n"
        "next: knowngood plan --limit decode-07,decode-12,decode-19\n"
    )


def test_each_way_to_part_has_its_own_sentence() -> None:
    report, _ = load_case("verdicts")
    told = [(meaning(finding), finding) for host in report.hosts for finding in host.findings]
    by_sentence: dict[str, set[object]] = {}
    for sentence, finding in told:
        by_sentence.setdefault(sentence, set()).add((finding.verdict, finding.cause))
    assert all(len(verdicts) == 1 for verdicts in by_sentence.values())


@pytest.mark.parametrize("alike", [True, False])
def test_a_thousand_nodes_render_quickly(alike: bool) -> None:
    def finding(host: int, number: int) -> Finding:
        value = Known("256" if alike else str(host))
        layers = Layers(Known("512"), value, None, value)
        return Finding(
            Setting("env", f"SGLANG_KNOB_{number}"), Verdict.EDITED_AND_LIVE, layers, (f"pid {host}",)
        )

    hosts = tuple(
        HostResult(f"node-{host:04}", "m", Status.DRIFTED, findings=tuple(finding(host, n) for n in range(5)))
        for host in range(1000)
    )
    report = DriftReport((ManifestInfo("m", "state/m.yaml"),), "2026-03-01T02:00:00Z", 9.0, hosts)
    began = time.process_time()
    text = render_drift(report, width=100, color=True)
    assert time.process_time() - began < 2  # seconds of CPU; 0.3 on an idle machine
    assert ("same on 1000 nodes" in text) is alike
