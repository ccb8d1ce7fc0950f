"""Reports of any shape and with any text in them, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

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

TIME = "2026-03-01T02:00:00.000Z"
NASTY = [
    "\x1b[31m",
    "\u202e",
    "\u200b",
    "\udc80",
    "\r\n",
    "漢字",
    "🚀",
    "e\u0301",
    "\x9b2J",
    " ",
    "…",
    " *",
    "—",
    "?",
]
KINDS = ["file", "mode", "env", "arg", "systemd", "unit"]
LOUD = [verdict for verdict in Verdict if verdict is not Verdict.IN_SYNC]

texts = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["512", "256", "a" * 64, "/root/serve.sh:9", "x" * 90, "SGLANG_SM120_MMA_TARGET_CTAS"]),
    st.lists(st.sampled_from(NASTY), max_size=4).map("".join),
)
names = texts.filter(bool)
words = st.lists(texts, max_size=3).map(tuple)
occurrences = st.lists(words, max_size=3).map(lambda each: Occurrences(tuple(each)))
values: st.SearchStrategy[Value] = st.one_of(
    st.builds(Known, texts), st.builds(Known, occurrences), st.just(ABSENT), st.builds(Unknown, texts)
)
layers = st.builds(Layers, values, st.none() | values, st.none() | values, st.none() | values)
findings = st.builds(
    Finding,
    st.builds(Setting, st.sampled_from(KINDS), names),
    st.sampled_from(LOUD),
    layers,
    st.lists(texts, max_size=2).map(tuple),
    st.lists(st.sampled_from(["write", "daemon-reload", "restart"]), max_size=2).map(tuple),
    st.sampled_from([None, "not_applied_yet"]),
    st.booleans(),
)
servers = st.none() | st.builds(Server, st.integers(1, 99999), st.none() | words, st.just(TIME))


def _status(found: tuple[Finding, ...]) -> Status:
    counting = [finding for finding in found if not finding.accepted]
    if any(finding.verdict is not Verdict.UNKNOWN for finding in counting):
        return Status.DRIFTED
    return Status.INCOMPLETE if counting else Status.IN_SYNC


@st.composite
def reports(draw: st.DrawFn) -> DriftReport:
    """Up to two manifests and a dozen hosts; few different sets of findings, so that some hosts are alike."""
    manifests = draw(
        st.lists(st.builds(ManifestInfo, names, texts, st.none() | texts, st.booleans()), max_size=2)
    )
    manifests = list({manifest.name: manifest for manifest in manifests}.values())
    if not manifests:
        return DriftReport((), TIME, 0.0, ())
    sets = draw(st.lists(st.lists(findings, max_size=3).map(tuple), min_size=1, max_size=3))
    hosts = []
    for name in draw(
        st.lists(names | st.sampled_from([f"n-{i:02}" for i in range(12)]), unique=True, max_size=12)
    ):
        role = draw(st.sampled_from(manifests)).name
        failed = draw(st.sampled_from([None, None, Status.UNREACHABLE, Status.INCOMPLETE]))
        if failed is not None:
            hosts.append(HostResult(name, role, failed, draw(texts)))
        else:
            found = draw(st.sampled_from(sets))
            hosts.append(HostResult(name, role, _status(found), None, draw(servers), found))
    return DriftReport(tuple(manifests), TIME, draw(st.floats(0, 5000)), tuple(hosts))
