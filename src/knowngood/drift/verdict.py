"""The one rule that orders the layers of a setting into a verdict, and what would mend it.

M = D ≠ L is reload_pending; else the verdict is by M, D and R.
Mend: write if D ≠ M; daemon-reload if unit text is written or L ≠ D; restart if R ≠ M.
"""

from __future__ import annotations

from knowngood.model import Known, Layers, Setting, Unknown, Value, Verdict


def differs(value: Value | None, other: Value) -> bool | None:
    """Whether a layer's value is another than `other`; None when that can't be told."""
    if value is None or isinstance(other, Unknown):
        return None
    if not isinstance(value, Unknown):
        return value != other
    if value.not_value is not None and other == Known(value.not_value):
        return True
    return None


def verdict(layers: Layers) -> Verdict:
    """The verdict for a setting with a disk layer, or with a running layer alone."""
    manifest, disk, loaded = layers.manifest, layers.disk, layers.loaded
    # The manager's value takes the process's place where a process shows no trace of the setting.
    running = layers.running if layers.running is not None else loaded
    if disk is None:
        return _by_running_alone(differs(running, manifest))
    disk_differs = differs(disk, manifest)
    if disk_differs is None:
        return Verdict.LIVE_DIFFERS if differs(running, manifest) else Verdict.UNKNOWN
    if disk_differs:
        return _disk_differs(manifest, disk, running)
    if differs(loaded, disk):
        return Verdict.RELOAD_PENDING
    if differs(running, manifest):
        return Verdict.RESTART_PENDING
    if isinstance(running, Unknown) or isinstance(loaded, Unknown):
        return Verdict.UNKNOWN
    return Verdict.IN_SYNC


def _by_running_alone(running_differs: bool | None) -> Verdict:
    if running_differs is None:
        return Verdict.UNKNOWN
    return Verdict.LIVE_DIFFERS if running_differs else Verdict.IN_SYNC


def _disk_differs(manifest: Value, disk: Value, running: Value | None) -> Verdict:
    if running is None or isinstance(running, Unknown) or running == manifest:
        return Verdict.EDITED_ON_DISK
    return Verdict.EDITED_AND_LIVE if running == disk else Verdict.SPLIT


def mend(setting: Setting, layers: Layers, *, in_unit: bool) -> tuple[str, ...]:
    """What would bring the setting to the manifest: of write, daemon-reload, restart, enable, disable.

    `in_unit`: the value stands in a unit's text, so that systemd must be told of a change.
    """
    if setting == Setting("unit", "enabled"):
        return ("enable" if layers.manifest == Known("enabled") else "disable",)
    steps = []
    write = bool(differs(layers.disk, layers.manifest))
    if write:
        steps.append("write")
    stale_manager = layers.disk is not None and bool(differs(layers.loaded, layers.disk))
    if (write and in_unit) or stale_manager:
        steps.append("daemon-reload")
    if differs(layers.running, layers.manifest):
        steps.append("restart")
    return tuple(steps)
