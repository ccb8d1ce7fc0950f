"""`systemd:Section.Directive`: the merged texts, systemd's manager, and the process's own traces of it."""

from __future__ import annotations

from knowngood.model import (
    ABSENT,
    Absent,
    Desired,
    Known,
    Observation,
    Process,
    Setting,
    Unknown,
    Value,
)
from knowngood.observe.draft import Draft
from knowngood.observe.next_start import NextStart
from knowngood.syntax.systemd import TRACES, default_of, loaded_value, running_value


def add_directives(draft: Draft, desired: Desired, observation: Observation, start: NextStart) -> None:
    """Enter every declared directive."""
    for directive, want in desired.directives.items():
        disk, where = _on_disk(directive, start)
        like = [str(disk.value)] if isinstance(disk, Known) else []
        loaded: Value | None = loaded_value(directive, observation.unit.properties, like)
        running = _running(directive, draft.server, observation)
        if _is_share(directive, disk):
            # "50%" of this node's memory: manager and kernel tell it in bytes.
            loaded, running, where = None, None, f"{where} (a share, not compared with the process)"
        if isinstance(want, Absent):
            # A directive that must not stand there leaves systemd's default in force.
            loaded, running = _none_if_default(directive, loaded), _none_if_default(directive, running)
        elif isinstance(disk, Absent) and (default := default_of(directive)) is not None:
            disk, where = Known(default), "not set: systemd's default"
        draft.add(
            Setting("systemd", directive),
            disk=disk,
            loaded=loaded,
            running=running,
            notes=[where, *_pid(draft.server, running), *_reload_flag(observation)],
        )


def _is_share(directive: str, disk: Value) -> bool:
    return isinstance(disk, Known) and str(disk.value).endswith("%") and not directive.endswith(".CPUQuota")


def _on_disk(directive: str, start: NextStart) -> tuple[Value, str]:
    if start.unit is None:
        return Unknown(start.why_no_unit), ""
    section, _, name = directive.partition(".")
    reading = start.unit.value(section, name)
    return reading.value, f"{reading.path}:{reading.line}" if reading.line else ""


def _running(directive: str, server: Process | Unknown | None, observation: Observation) -> Value | None:
    """The process's own value; None where a process shows no trace of the directive, or there is none."""
    if directive not in TRACES or server is None:
        return None
    if isinstance(server, Unknown):
        return server
    trait = TRACES[directive]
    text = observation.unit.cgroup.get(trait, server.traits.get(trait))
    if text is None:
        return Unknown(f"/proc/{server.pid} and the cgroup do not tell")
    return running_value(directive, text)


def _none_if_default(directive: str, value: Value | None) -> Value | None:
    """What the manager holds of an absent directive is its default: then it counts as absent too.

    Where the default is not certain, the layer can prove nothing, and does not exist.
    """
    default = default_of(directive)
    if default is None:
        return None
    return ABSENT if value == Known(default) else value


def _pid(server: Process | Unknown | None, running: Value | None) -> list[str]:
    return [f"pid {server.pid}"] if isinstance(server, Process) and running is not None else []


def _reload_flag(observation: Observation) -> list[str]:
    return ["systemd says that it needs a daemon-reload"] if observation.unit.need_daemon_reload else []
