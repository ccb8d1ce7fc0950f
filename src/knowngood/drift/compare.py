"""Desired × Seen → Findings: every setting of one host judged, and what is not in sync told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from knowngood.drift.difference import difference
from knowngood.drift.shown import shown_layers, shown_text
from knowngood.drift.verdict import mend, verdict
from knowngood.model import (
    Desired,
    Finding,
    Known,
    Layers,
    Secret,
    Seen,
    Setting,
    Unknown,
    Value,
    Verdict,
)

UNIT_ACTIVE = Setting("unit", "active")
_FILE_KINDS = ("mode", "owner", "group")


def compare(
    desired: Desired, manifest: Mapping[Setting, Value], seen: Seen, activated: Mapping[str, str]
) -> tuple[Finding, ...]:
    """The findings of one host for one manifest, in the manifest's order.

    `manifest` is drift.wanted.wanted() of the same Desired; `activated` is what we last activated on the
    node, by address. A unit that does not exist is one finding: nothing else of it can be judged.
    """
    active = _unit_active(manifest[UNIT_ACTIVE], seen)
    if active is not None and UNIT_ACTIVE not in seen.running:
        return (active,)
    findings = [] if active is None else [active]
    findings += _others(desired, manifest, seen, activated)
    return tuple(findings)


def _others(
    desired: Desired, manifest: Mapping[Setting, Value], seen: Seen, activated: Mapping[str, str]
) -> Iterator[Finding]:
    disk, loaded, running = seen.disk, seen.loaded, seen.running
    secrets = secret_texts(desired)
    for setting, want in manifest.items():
        on_disk = disk.get(setting)
        live = running.get(setting)
        in_manager = loaded.get(setting)
        if setting == UNIT_ACTIVE or (
            # in sync, told at once: most settings of most nodes are
            on_disk == want and (live is None or live == want) and (in_manager is None or in_manager == want)
        ):
            continue
        if setting.kind in _FILE_KINDS and on_disk is None:
            continue  # no such file: its content's finding says so
        layers = Layers(want, on_disk, in_manager, live)
        judged = verdict(layers)
        if judged is not Verdict.IN_SYNC:
            yield _finding(desired, setting, judged, layers, seen, activated, secrets)


def _finding(
    desired: Desired,
    setting: Setting,
    judged: Verdict,
    layers: Layers,
    seen: Seen,
    activated: Mapping[str, str],
    secrets: tuple[str, ...],
) -> Finding:
    in_unit = setting.kind == "systemd" or setting.name in desired.unit_env
    evidence = (*seen.notes.get(setting, ()), *difference(layers))
    return Finding(
        setting=setting,
        verdict=judged,
        layers=shown_layers(setting, layers, secrets),
        evidence=tuple(shown_text(setting, line, secrets) for line in evidence),
        mend=mend(setting, layers, in_unit=in_unit),
        cause=_cause(setting, judged, layers, seen, activated),
    )


def _cause(
    setting: Setting, judged: Verdict, layers: Layers, seen: Seen, activated: Mapping[str, str]
) -> str | None:
    """How the finding came about, where that is known: the field `cause` of the report."""
    if any(note.startswith("stale bytecode") for note in seen.notes.get(setting, ())):
        return "stale_bytecode"
    on_disk = _plain(layers.disk)
    moved_on = on_disk is not None and on_disk == activated.get(str(setting))
    return "not_applied_yet" if judged is Verdict.EDITED_AND_LIVE and moved_on else None


def _unit_active(want: Value, seen: Seen) -> Finding | None:
    """`unit:active` has no disk layer. A unit that the manager does not know has no running layer either."""
    live = seen.running.get(UNIT_ACTIVE)
    if live == want:
        return None
    notes = seen.notes.get(UNIT_ACTIVE, ())
    layers = Layers(want, running=live)
    if isinstance(live, Unknown):
        return Finding(UNIT_ACTIVE, Verdict.UNKNOWN, layers, notes)
    if want == Known("active"):
        return Finding(UNIT_ACTIVE, Verdict.STOPPED, layers, notes, ("start",))
    if live is None:
        return None  # it should not run, and there is no such unit
    return Finding(UNIT_ACTIVE, Verdict.LIVE_DIFFERS, layers, notes, ("stop",))


def secret_texts(desired: Desired) -> tuple[str, ...]:
    """The texts of all secrets that the manifest declares, for masking."""
    wants = (*desired.env.values(), *desired.unit_env.values(), *desired.args.values())
    return tuple(want.text for want in wants if isinstance(want, Secret) and want.text)


def _plain(value: Value | None) -> str | None:
    """A known value as the one text that a node's record of an activation holds."""
    if not isinstance(value, Known):
        return None
    if isinstance(value.value, str):
        return value.value
    return "\n".join(" ".join(words) for words in value.value.words)
