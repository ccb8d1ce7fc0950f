"""Findings in words, for a plan: their layers are shown as drift masked them."""

from __future__ import annotations

import re

from knowngood.model import Absent, Finding, Known, Occurrences, Unknown, Value

_SHA256 = re.compile(r"[0-9a-f]{64}")
_WHERE = (("on disk", "disk"), ("in systemd", "loaded"), ("running", "running"))


def told_whole(finding: Finding) -> str:
    """`512; on disk 256, running 256`, or why it can't be told."""
    manifest = finding.layers.manifest
    parts = []
    for where, name in _WHERE:
        value = getattr(finding.layers, name)
        if value is not None and value != manifest:
            parts.append(f"{where} {told(value)}")
    return f"{told(manifest)}; {', '.join(parts)}" if parts else told(manifest)


def told_running(finding: Finding, *, written: bool = False) -> str:
    """What the process has instead. `written`: the plan writes the file, and with that its traces end."""
    running = finding.layers.running
    if isinstance(running, Unknown):
        if written:
            return "nothing shows that the process loaded this content"
        return "the process loaded other content"
    if finding.setting.kind == "unit":
        return f"the unit is {told(running)}"
    if isinstance(running, Absent):
        return "the process runs without it"
    if isinstance(finding.layers.manifest, Absent):
        return f"the process has {told(running)}, and should go without it"
    return f"the process has {told(running)}, not {told(finding.layers.manifest)}"


def told_loaded(finding: Finding) -> str:
    """What systemd's manager has instead."""
    return f"systemd has {told(finding.layers.loaded)}"


def told(value: Value | None) -> str:
    """A value in a sentence."""
    match value:
        case None:
            return "none"
        case Absent():
            return "not set"
        case Unknown(reason):
            return f"unknown ({reason})"
        case Known(Occurrences(words)):
            return ", ".join(" ".join(each) or "given" for each in words) or "never given"
        case Known(str(text)):
            return text[:8] if _SHA256.fullmatch(text) else text or '""'
    raise AssertionError(value)
