"""What `knowngood capture` says: what it wrote, what it left out and why, and what comes next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from knowngood.model import Absent, Desired, Finding, Known, Occurrences, Setting
from knowngood.report.escape import clean
from knowngood.report.meaning import meaning
from knowngood.report.values import LAYERS, layer

_VALUE = 60  # characters of a value within a reason
_WHERE = {"manifest": "as read", "disk": "on disk", "loaded": "in systemd", "running": "running"}


def why_left_out(finding: Finding) -> str:
    """Why a setting with this finding can't be declared: what it means, and the layers' values."""
    values = [
        f"{_WHERE[name]} {_shown(value)}"
        for name in LAYERS[1:]
        if isinstance(value := layer(finding.layers, name), (Known, Absent))
    ]
    return meaning(finding) + (f" ({', '.join(values)})" if values else "")


def _shown(value: Known | Absent) -> str:
    if isinstance(value, Absent):
        return "not set"
    if isinstance(value.value, Occurrences):
        return clean(", ".join(" ".join(words) or "given" for words in value.value.words), _VALUE)
    return clean(value.value, _VALUE) or '""'


def render_captured(
    desired: Desired,
    written: Sequence[Path],
    left_out: Mapping[Setting, str],
    remarks: Sequence[str],
    secrets: Iterable[str],
) -> str:
    """The whole answer as text. `secrets` are the variables that must be set before the next drift."""
    lines = [
        f"{desired.manifest}: captured {_counted(desired)} of {clean(desired.unit)} on {clean(desired.host)}"
    ]
    lines += [f"  wrote {path}" for path in written]
    if not desired.active:
        lines.append("  the unit does not run: it is captured as one that should not (active: false)")
    if left_out or remarks:
        lines.append("left out:")
        lines += [f"  {clean(str(setting))}: {clean(reason, 300)}" for setting, reason in left_out.items()]
        lines += [f"  {clean(remark, 300)}" for remark in remarks]
    if names := sorted(secrets):
        lines.append(f"secrets, to be set in this environment: {', '.join(names)}")
    lines.append(f"next: knowngood drift --limit {clean(desired.host)}")
    return "".join(f"{line}\n" for line in lines)


def _counted(desired: Desired) -> str:
    counts = {
        "file": len(desired.files) + (desired.script is not None and desired.script.source is not None),
        "knob": len(desired.env) + len(desired.unit_env),
        "flag": len(desired.args),
        "directive": len(desired.directives),
    }
    told = [f"{count} {noun}{'' if count == 1 else 's'}" for noun, count in counts.items() if count]
    return ", ".join(told) or "the state alone"
