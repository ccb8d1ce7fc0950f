"""The files of a node that get other content or attributes, by old and new hash; or what forbids it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import cast

from knowngood.model import (
    Desired,
    DesiredFile,
    DesiredScript,
    FileState,
    Finding,
    Observation,
    Occurrences,
    Secret,
    Setting,
)
from knowngood.rollout.diff import masked_diff
from knowngood.rollout.plan import Attribute, Blocker, FileChange
from knowngood.rollout.predict import sha256_of
from knowngood.syntax.bash import CannotEdit
from knowngood.syntax.settings import with_settings

Step = FileChange | Blocker
_NEW_SCRIPT_MODE = "0755"  # of a script that the manifest owns and that was not there
_ADVICE = (  # where a secret stands in the script
    "put the new value into the script by hand, or deliver the secret by the unit: systemd: Environment"
)


def file_changes(desired: Desired, observation: Observation, due: Collection[Setting]) -> Iterator[Step]:
    """One change for each declared file that needs it."""
    for file in desired.files:
        content = Setting("file", file.path) in due
        stale = _has_stale_bytecode(observation.files.get(file.path))
        attributes = list(_attributes(file, observation, due))
        if not content and not attributes and not stale:
            continue
        found = _place(file.path, observation)
        if isinstance(found, Blocker):
            yield found
            continue
        yield FileChange(
            path=file.path,
            kind="file",
            old=found.sha256,
            new=file.sha256 if content else found.sha256,
            mode=file.mode,
            owner=file.owner,
            group=file.group,
            attributes=tuple(attributes),
            loaded=file.loaded,
            stale_bytecode=stale,
            source=file.source if content else None,
        )


def _has_stale_bytecode(state: FileState | None) -> bool:
    """Bytecode that Python takes for the source's, and is not: a restart would load it once more."""
    if state is None or state.kind != "regular":
        return False
    return any(pyc.matches_source is False for pyc in state.pycs)


def script_change(
    desired: Desired, observation: Observation, due: Collection[Setting], secrets: Collection[str]
) -> Iterator[Step]:
    """The serve script's change: its owned text, or its present one with the due settings edited in."""
    script = desired.script
    if script is None:
        return
    knobs = [name for name in desired.env if Setting("env", name) in due]
    flags = [name for name in desired.args if Setting("arg", name) in due]
    content = bool(knobs or flags) or Setting("file", script.path) in due
    attributes = tuple(_attributes(script, observation, due))
    if not content and not attributes:
        return
    found = _place(script.path, observation)
    if isinstance(found, Blocker):
        yield found
        return
    old = observation.script.data if observation.script is not None else None
    new: bytes | list[Blocker] | None = old
    if content:
        new = _secrets_due(desired, knobs, flags) or _new_text(desired, script, observation, knobs, flags)
    if isinstance(new, list):
        yield from new
        return
    if content and sha256_of(old) != found.sha256:
        yield Blocker(f"file:{script.path}", "it changed while it was looked at", "run the command again")
        return
    yield FileChange(
        path=script.path,
        kind="script",
        old=found.sha256,
        new=sha256_of(new) if content else found.sha256,
        mode=script.mode or (_NEW_SCRIPT_MODE if found.kind == "missing" else None),
        owner=script.owner,
        group=script.group,
        attributes=attributes,
        diff=masked_diff(old, new, script.path, tuple(secrets)) if content else (),
        data=new if content else None,
    )


def _new_text(
    desired: Desired, script: DesiredScript, observation: Observation, knobs: list[str], flags: list[str]
) -> bytes | list[Blocker]:
    if script.source_text is not None:
        if script.text is None:
            advice = "write the knob or flag into the source by hand, or take it out of the manifest"
            return [Blocker(f"file:{script.path}", script.why_no_text, advice)]
        return script.text
    text = observation.script
    if text is None or text.data is None:
        reason = "not looked at" if text is None else text.error or "unreadable"
        advice = "put the script there, or own it with serve_script: source"
        return [Blocker(f"file:{script.path}", f"the serve script can't be edited: {reason}", advice)]
    return _edited(desired, text.data, knobs, flags)


def _edited(desired: Desired, text: bytes, knobs: list[str], flags: list[str]) -> bytes | list[Blocker]:
    """The text with these settings edited in, one by one, so that each refusal names its own."""
    wanted_knobs, wanted_flags = desired.script_knobs(), desired.script_flags()
    edits: list[tuple[Setting, dict[str, str | None], dict[tuple[str, ...], Occurrences | None]]] = [
        *((Setting("env", name), {name: wanted_knobs[name]}, {}) for name in knobs),
        *(
            (Setting("arg", flag), {}, {desired.spellings(flag): wanted_flags[desired.spellings(flag)]})
            for flag in flags
        ),
    ]
    blockers = []
    for setting, knob, flag in edits:
        try:
            text = with_settings(text, knob, flag, desired.server)
        except CannotEdit as error:
            where = f"line {error.line}: " if error.line else ""
            advice = "edit the script by hand, or own it with serve_script: source"
            blockers.append(Blocker(str(setting), f"{where}{error.reason}", advice))
    return blockers or text


def _secrets_due(desired: Desired, knobs: list[str], flags: list[str]) -> list[Blocker]:
    wants = [
        *((Setting("env", name), desired.env[name]) for name in knobs),
        *((Setting("arg", flag), desired.args[flag]) for flag in flags),
    ]
    reason = "a secret in the serve script would have to change, and we write none there"
    return [Blocker(str(setting), reason, _ADVICE) for setting, want in wants if isinstance(want, Secret)]


def _attributes(
    want: DesiredFile | DesiredScript, observation: Observation, due: Collection[Setting]
) -> Iterator[Attribute]:
    state = observation.files.get(want.path)
    for kind in ("mode", "owner", "group"):
        new = cast(str | None, getattr(want, kind))
        if new is not None and Setting(kind, want.path) in due:
            yield Attribute(kind, str(getattr(state, kind, None)), new)


def _place(path: str, observation: Observation) -> FileState | Blocker:
    """What is at the path, where a file can be put in its place."""
    state = observation.files.get(path)
    if state is None:
        return Blocker(f"file:{path}", "the node did not say what is there", "run the command again")
    if state.symlink is not None:
        advice = "name the link's target in the manifest, or put a file in the link's place"
        return Blocker(f"file:{path}", f"a symbolic link to {state.symlink}", advice)
    if state.kind in ("directory", "other"):
        what = "a directory" if state.kind == "directory" else "not a regular file"
        return Blocker(f"file:{path}", f"{what} is where the file should be", "move it away by hand")
    if state.kind == "regular" and state.sha256 is None:
        return _unreadable(path, state)
    return _unreadable(path, state) if state.kind == "unreadable" else state


def _unreadable(path: str, state: FileState) -> Blocker:
    reason = f"what is there can't be read: {state.error or 'no reason given'}"
    return Blocker(f"file:{path}", reason, "let root read it, so that it can be brought back")


def is_due(finding: Finding) -> bool:
    """Whether the finding calls for other text on disk: written otherwise, or nobody can tell how it is."""
    if finding.accepted:
        return False
    unreadable = finding.verdict == "live_differs" and finding.setting.kind in ("env", "arg", "systemd")
    return "write" in finding.mend or unreadable
