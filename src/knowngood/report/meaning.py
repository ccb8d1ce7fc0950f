"""What a finding means, in one sentence each: the last column of the screen."""

from __future__ import annotations

import re

from knowngood.model import Absent, Finding, Known, Unknown, Value, Verdict
from knowngood.report.escape import clean

CANT_TELL = "can't tell"

_WHERE = (("disk", "on disk"), ("running", "running"), ("loaded", "loaded"), ("manifest", "manifest"))
_FILE_KINDS = ("file", "mode", "owner", "group")


def meaning(finding: Finding) -> str:
    """The sentence, clean; for an unknown it ends with the reason."""
    sentence = _sentence(finding)
    return f"{sentence} (accepted)" if finding.accepted else sentence


def reasons(finding: Finding) -> tuple[str, ...]:
    """Why layers are unknown, each once: `running: …`. The first is told by the meaning of an unknown."""
    told: dict[str, str] = {}
    for name, where in _WHERE:
        value = getattr(finding.layers, name)
        if isinstance(value, Unknown):
            told.setdefault(nameless(value.reason), where)
    return tuple(f"{where}: {CANT_TELL}: {clean(reason)}" for reason, where in told.items())


def nameless(reason: str) -> str:
    """A reason without process ids, so that like nodes stay alike."""
    return re.sub(r"(/proc/|\bpid )\d+", r"\1N", reason)


def _sentence(finding: Finding) -> str:
    if finding.cause == "stale_bytecode":
        return "a restart runs the old .pyc, not this file"
    if finding.cause == "not_applied_yet":
        return "not applied yet"
    layers = finding.layers
    match finding.verdict:
        case Verdict.RESTART_PENDING:
            return _restart_pending(finding)
        case Verdict.RELOAD_PENDING:
            then = ", then restart" if "restart" in finding.mend else ""
            return f"systemd was not told (daemon-reload{then})"
        case Verdict.EDITED_ON_DISK:
            return _edited_on_disk(finding)
        case Verdict.EDITED_AND_LIVE:
            return _edited_and_live(finding)
        case Verdict.SPLIT:
            return "all three differ; the next restart loads the disk's"
        case Verdict.LIVE_DIFFERS:
            if finding.setting.kind == "unit":
                return "runs, and should not"
            if isinstance(layers.disk, Unknown):
                return "the process differs; what sets it can't be read"
            return "the process has another value"
        case Verdict.STOPPED:
            return _stopped(layers.running)
        case Verdict.UNKNOWN:
            return _unknown(finding)
        case Verdict.IN_SYNC:
            return "in sync"


def _restart_pending(finding: Finding) -> str:
    manifest, running = finding.layers.manifest, finding.layers.running
    if isinstance(running, Absent):
        return "restart pending: the process started without it"
    if isinstance(running, Unknown):
        return "restart pending: the process loaded other content"
    still = "still has it" if isinstance(manifest, Absent) else "still has the old value"
    return f"restart pending: the process {still}"


def _edited_on_disk(finding: Finding) -> str:
    layers, kind = finding.layers, finding.setting.kind
    gone = isinstance(layers.disk, Absent)
    if kind == "unit":
        return "starts at boot" if layers.disk == Known("enabled") else "would not start at boot"
    if layers.running is None and layers.loaded is None:
        if kind in _FILE_KINDS:
            return "missing on the node" if gone else "edited on the node"
        return "the next start goes without it" if gone else "the next start loads it"
    if layers.loaded is not None and layers.loaded != layers.disk:
        if layers.running is None:
            return f"the next daemon-reload {'drops' if gone else 'loads'} it"
        return f"the next daemon-reload and restart {'drop' if gone else 'load'} it"
    return "the next restart goes without it" if gone else "the next restart loads it"


def _edited_and_live(finding: Finding) -> str:
    layers = finding.layers
    in_process = layers.running is not None
    if isinstance(layers.disk, Absent):
        return f"missing on disk and in {'the process' if in_process else 'systemd'}"
    edited = "set" if isinstance(layers.manifest, Absent) else "edited"
    return f"{edited} on the node, and {'live' if in_process else 'loaded by systemd'}"


def _stopped(running: Value | None) -> str:
    match running:
        case None:
            return "no such unit"
        case Known("failed"):
            return "stopped: it failed"
        case Known("masked"):
            return "stopped: it is masked"
        case Known(str(state)) if state.startswith("activating"):
            return "stopped: in a restart loop"
    return "stopped"


def _unknown(finding: Finding) -> str:
    told = reasons(finding)
    return told[0].partition(": ")[2] if told else CANT_TELL
