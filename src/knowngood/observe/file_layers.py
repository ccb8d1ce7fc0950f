"""`file:`, `mode:`, `owner:` and `group:`: what is on disk, and what the process loaded of it."""

from __future__ import annotations

import hashlib

from knowngood.model import (
    ABSENT,
    Desired,
    DesiredFile,
    DesiredScript,
    FileState,
    Known,
    Observation,
    Process,
    Setting,
    Unknown,
    Value,
)
from knowngood.observe.draft import Draft
from knowngood.observe.loaded_files import clock, loaded_content
from knowngood.syntax.bash import CannotEdit
from knowngood.syntax.settings import with_settings


def add_files(draft: Draft, desired: Desired, observation: Observation) -> None:
    """Enter the content and attributes of every declared file."""
    for file in desired.files:
        state = observation.files.get(file.path)
        running, evidence = _running(draft.server, file, state, observation)
        draft.add(
            Setting("file", file.path),
            disk=_content(state),
            running=running,
            notes=[*_about(state), evidence],
        )
        _add_attributes(draft, file, state)


def add_script(draft: Draft, desired: Desired, observation: Observation) -> None:
    """Enter the serve script's own content, where the manifest owns it, and its attributes.

    bash read it at the start and leaves no trace of the whole text: what the process took from it shows in
    its knobs and flags, so the file itself has no running layer.
    """
    script = desired.script
    if script is None:
        return
    state = observation.files.get(script.path)
    if script.source_text is not None:
        draft.add(
            Setting("file", script.path),
            disk=_script_content(desired, script, state, observation),
            notes=_about(state),
        )
    _add_attributes(draft, script, state)


def _script_content(
    desired: Desired, script: DesiredScript, state: FileState | None, observation: Observation
) -> Value:
    """The wanted text's hash where declared knobs and flags explain every difference; else the disk's."""
    on_disk = observation.script.data if observation.script is not None else None
    if on_disk is not None and script.text is not None:
        try:
            mended = with_settings(on_disk, desired.script_knobs(), desired.script_flags(), desired.server)
        except CannotEdit:
            return _content(state)
        if mended == script.text:
            return Known(hashlib.sha256(script.text).hexdigest())
    return _content(state)


def _content(state: FileState | None) -> Value:
    if state is None:
        return Unknown("the node did not say")
    if state.kind == "missing":
        return ABSENT
    if state.kind in ("directory", "other"):
        return Known("a directory" if state.kind == "directory" else "not a regular file")
    if state.sha256 is None:
        return Unknown(state.error or "unreadable")
    return Known(state.sha256)


def _running(
    server: Process | Unknown | None, file: DesiredFile, state: FileState | None, observation: Observation
) -> tuple[Value | None, str]:
    if not file.loaded or server is None:
        return None, ""
    if isinstance(server, Unknown):
        return server, ""
    if state is None or state.sha256 is None:
        return Unknown("the file that it loaded can't be read now"), ""
    starts = [p.started_ns for p in observation.processes] if isinstance(observation.processes, tuple) else []
    newest = max(starts, default=server.started_ns)
    return loaded_content(state, server, newest, observation.receipt)


def _add_attributes(draft: Draft, want: DesiredFile | DesiredScript, state: FileState | None) -> None:
    for kind in ("mode", "owner", "group"):
        if getattr(want, kind) is None:
            continue
        if state is not None and state.kind == "missing":
            continue  # the content's finding says so
        value = None if state is None else getattr(state, kind)
        reason = "the node did not say" if state is None else state.error or "unreadable"
        draft.add(
            Setting(kind, want.path),
            disk=Unknown(reason) if value is None else Known(value),
            notes=_about(state),
        )


def _about(state: FileState | None) -> list[str]:
    if state is None or state.kind == "missing":
        return []
    notes = [f"on disk: {state.size} bytes, mtime {clock(state.mtime_ns)}, owner {state.owner}"]
    if state.symlink is not None:
        notes.append(f"the path is a symbolic link to {state.symlink}")
    return notes
