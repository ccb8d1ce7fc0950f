"""`env:NAME`: what the next start would set, what systemd's manager holds, what the process has."""

from __future__ import annotations

from collections.abc import Mapping

from knowngood.model import (
    ABSENT,
    Desired,
    Known,
    Observation,
    Process,
    Reading,
    Setting,
    Unknown,
    Value,
)
from knowngood.observe.draft import Draft
from knowngood.observe.next_start import NextStart
from knowngood.observe.server import descendants
from knowngood.syntax.secrets import compared_by_digest, sealed_value
from knowngood.syntax.systemd import loaded_environment


def add_knobs(draft: Draft, desired: Desired, observation: Observation, start: NextStart) -> None:
    """Enter every declared knob, of the script and of the unit."""
    in_manager = loaded_environment(observation.unit.properties)
    for name, want in (*desired.env.items(), *desired.unit_env.items()):
        reading = start.env(name)
        sealed = compared_by_digest(name, want)
        by_unit = name in desired.unit_env and not _from_file(reading, observation)
        loaded: Value | None = _known_or_absent(in_manager, name) if by_unit else None
        running, notes = _running(name, draft.server, observation)
        draft.add(
            Setting("env", name),
            disk=_seal(reading.value, sealed, observation.nonce),
            loaded=None if loaded is None else _seal(loaded, sealed, observation.nonce),
            running=running,  # a secret left the node as a digest already
            notes=[_where(reading), *notes],
        )


def _seal(value: Value, sealed: bool, nonce: bytes) -> Value:
    return sealed_value(value, nonce) if sealed else value


def _known_or_absent(texts: Mapping[str, str], name: str) -> Value:
    return Known(texts[name]) if name in texts else ABSENT


def _from_file(reading: Reading, observation: Observation) -> bool:
    """The manager never loads what stands in an EnvironmentFile: each start reads it anew."""
    return reading.path in {text.path for text in observation.unit.environment_files}


def _where(reading: Reading) -> str:
    if not reading.line or not reading.path:
        return ""
    return f"{reading.path}:{reading.line}" + (" (a default)" if reading.default else "")


def _running(
    name: str, server: Process | Unknown | None, observation: Observation
) -> tuple[Value | None, list[str]]:
    if server is None or isinstance(server, Unknown):
        return server, []
    children = descendants(server, observation.processes)  # type: ignore[arg-type]
    if not isinstance(server.environ, Unknown):
        value = server.environ.get(name, ABSENT)
        return value, [f"pid {server.pid}", *_disagreeing(name, value, children)]
    for child in children:
        if not isinstance(child.environ, Unknown):
            note = f"pid {child.pid}, a child of the server; that of pid {server.pid} is unknown"
            return child.environ.get(name, ABSENT), [f"{note}: {server.environ.reason}"]
    reason = server.environ.reason
    if "overwritten" in reason:
        reason += "; SPT_NOENV=1 in its environment would keep it readable"
    return Unknown(reason), [f"pid {server.pid}"]


def _disagreeing(name: str, value: Value, children: list[Process]) -> list[str]:
    """Children whose environment holds another value: the server's counts, but it is worth telling."""
    notes = []
    for child in children:
        if isinstance(child.environ, Unknown):
            continue
        other = child.environ.get(name, ABSENT)
        if other != value and not isinstance(other, Unknown):
            told = other.value if isinstance(other, Known) else "not set"
            notes.append(f"pid {child.pid} differs: {told}")
    return notes[:3]
