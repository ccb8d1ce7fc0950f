"""Findings of one host: what is told, what is left out, and how it came about."""

from __future__ import annotations

from knowngood.drift.compare import compare
from knowngood.model import ABSENT, Desired, Finding, Known, Seen, Setting, Unknown, Value, Verdict

ACTIVE = Setting("unit", "active")
KNOB = Setting("env", "KNOB")
DESIRED = Desired("m", "h", "x.service")


def findings(
    disk: Value | None, running: Value | None, *, activated: dict[str, str] | None = None, note: str = ""
) -> tuple[Finding, ...]:
    manifest = {ACTIVE: Known("active"), KNOB: Known("512")}
    seen = Seen(
        disk={} if disk is None else {KNOB: disk},
        running={ACTIVE: Known("active")} | ({} if running is None else {KNOB: running}),
        notes={KNOB: (note,)} if note else {},
    )
    return compare(DESIRED, manifest, seen, activated or {})


def test_what_was_removed_by_hand_is_not_called_not_applied() -> None:
    (finding,) = findings(ABSENT, ABSENT)
    assert (finding.verdict, finding.cause) == (Verdict.EDITED_AND_LIVE, None)


def test_what_we_activated_last_is_a_manifest_that_moved_on() -> None:
    (finding,) = findings(Known("256"), Known("256"), activated={"env:KNOB": "256"})
    assert (finding.verdict, finding.cause) == (Verdict.EDITED_AND_LIVE, "not_applied_yet")


def test_stale_bytecode_is_told_as_the_cause() -> None:
    other = Unknown("other", not_value="256")
    (finding,) = findings(Known("256"), other, note="stale bytecode: x.pyc")
    assert (finding.verdict, finding.cause) == (Verdict.EDITED_ON_DISK, "stale_bytecode")


def test_what_was_not_looked_at_is_unknown() -> None:
    (finding,) = findings(None, None)
    assert finding.verdict is Verdict.UNKNOWN


def test_a_unit_that_does_not_exist_is_the_only_finding() -> None:
    manifest: dict[Setting, Value] = {ACTIVE: Known("active"), KNOB: Known("512")}
    (finding,) = compare(DESIRED, manifest, Seen(), {})
    assert (finding.setting, finding.verdict, finding.mend) == (ACTIVE, Verdict.STOPPED, ("start",))


def test_a_secret_shows_as_a_mark() -> None:
    secret = Known("hmac:" + "ab" * 32)
    manifest: dict[Setting, Value] = {ACTIVE: Known("active"), KNOB: secret}
    seen = Seen({KNOB: Known("hmac:" + "cd" * 32)}, {}, {ACTIVE: Known("active"), KNOB: secret})
    (finding,) = compare(DESIRED, manifest, seen, {})
    assert finding.layers.manifest == finding.layers.running == Known("‹secret abababab›")
    assert finding.layers.disk == Known("‹secret cdcdcdcd›")
