"""Observation → what a manifest would say of it: every setting that the node's texts state.

Whether it also holds for the process is not decided here: the proposal is compared as any manifest is, and
what is not in sync is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from knowngood.model import (
    ABSENT,
    Absent,
    Desired,
    DesiredFile,
    Known,
    Observation,
    Reading,
    Secret,
    Seen,
    Setting,
    Unknown,
    Want,
)
from knowngood.observe.captured_flags import propose_flags
from knowngood.observe.next_start import NextStart, next_start
from knowngood.observe.proposal import Proposal, Sheet
from knowngood.syntax.bash import Launch
from knowngood.syntax.secret_texts import holds_secret, untelling
from knowngood.syntax.secrets import looks_secret
from knowngood.syntax.systemd import canonical
from knowngood.syntax.systemd.directives import ALSO_SETS

_KNOB = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Their values are knobs, and stand as such.
_KNOB_DIRECTIVES = frozenset(("Environment", "EnvironmentFile", "PassEnvironment", "UnsetEnvironment"))
# bash gives these to whatever it starts, with values of its own.
_OF_THE_SHELL = frozenset(("PWD", "OLDPWD", "SHLVL", "_"))


def propose(role: Desired, observation: Observation) -> Proposal:
    """All that the texts of one observation state for a role.

    Of the role count: manifest, host, unit, server, the paths of the files, and the serve script.
    """
    sheet = Sheet(role.script.path if role.script else None)
    start = next_start(role, observation)
    desired = replace(
        role,
        active=observation.unit.active_state in ("active", "reloading"),
        enabled=_enabled(observation, sheet),
        files=tuple(_files(role, observation)),
        env=_script_knobs(start, sheet),
        unit_env=_unit_knobs(start, sheet),
        args=_flags(start, sheet),
        directives=_directives(start, observation, sheet),
    )
    left_out = {setting: untelling(reason) for setting, reason in sheet.left_out.items()}
    return Proposal(desired, sheet.comments, left_out, tuple(map(untelling, sheet.remarks)), sheet.secrets)


def asked_with(role: Desired, proposal: Proposal) -> Desired:
    """The role to ask a node with, so that its processes confirm a proposal: every name that its texts set.

    What could not be read is asked for too: it may become clear with what systemd's manager says of it. Of
    the flags only secrets are named, so that the node masks whatever secret the values of others hold.
    """
    desired = proposal.desired
    unclear: dict[str, Want] = {
        setting.name: ABSENT
        for setting in proposal.left_out
        if setting.kind == "env" and _KNOB.fullmatch(setting.name)
    }
    sealed = {flag: want for flag, want in desired.args.items() if isinstance(want, Secret)}
    return replace(role, env={**unclear, **desired.env, **desired.unit_env}, args=sealed)


def unconfirmed(desired: Desired, seen: Seen) -> Mapping[Setting, str]:
    """The settings for which disk alone speaks, though a process or systemd should: with the reason."""
    without_process = seen.server is None
    knobs = [Setting("env", name) for name in (*desired.env, *desired.unit_env)]
    flags = [Setting("arg", flag) for flag in desired.args]
    directives = [Setting("systemd", name) for name in desired.directives]
    told = {
        setting: "no process runs that could confirm it" if without_process else "no process confirms it"
        for setting in (*knobs, *flags)
        if setting not in seen.running
    }
    told |= {
        setting: "no process shows what it loaded"
        for file in desired.files
        if file.loaded and (setting := Setting("file", file.path)) not in seen.running
    }
    told |= {
        setting: "neither systemd nor the process shows it"
        for setting in directives
        if setting not in seen.running and setting not in seen.loaded
    }
    return told


def _enabled(observation: Observation, sheet: Sheet) -> bool | None:
    state = observation.unit.unit_file_state
    if state in ("enabled", "disabled"):
        return state == "enabled"
    if state:
        sheet.left_out[Setting("unit", "enabled")] = f"it is {state}, which is neither enabled nor disabled"
    return None


def _files(role: Desired, observation: Observation) -> Iterator[DesiredFile]:
    for file in role.files:
        state = observation.files[file.path]
        yield replace(
            file,
            sha256=state.sha256 or "",
            mode=state.mode,
            owner=state.owner,
            group=state.group,
        )


def _script_knobs(start: NextStart, sheet: Sheet) -> dict[str, Want]:
    if isinstance(start.launch, Unknown):
        sheet.remarks.append(f"the serve script tells no knobs and flags: {start.launch.reason}")
    if not isinstance(start.launch, Launch):
        return {}
    if start.launch.env_open is not None:
        sheet.remarks.append(f"the script may set more knobs than these: {start.launch.env_open}")
    names = [name for name in start.launch.env if name not in _OF_THE_SHELL]
    return dict(_knobs(names, start, sheet))


def _unit_knobs(start: NextStart, sheet: Sheet) -> dict[str, Want]:
    if start.unit is None:
        return {}
    exported = start.launch.env if isinstance(start.launch, Launch) else {}
    # USER and LOGNAME follow from User=, which is a setting of its own.
    user = {(line.path, line.line) for line in start.unit.lines("Service", "User")}
    names = [
        name
        for name, reading in start.unit_env.items()
        if reading.path and (reading.path, reading.line) not in user and name not in exported
    ]
    return dict(_knobs(names, start, sheet))


def _knobs(names: list[str], start: NextStart, sheet: Sheet) -> Iterator[tuple[str, Want]]:
    for name in names:
        setting = Setting("env", name)
        reading = start.env(name)
        value = reading.value
        if isinstance(value, Unknown):
            sheet.left_out[setting] = f"{untelling(value.reason)} {_at(sheet, reading)}".strip()
        elif not _KNOB.fullmatch(name):
            sheet.left_out[setting] = "a manifest can't hold this name"
        else:
            sheet.note(setting, reading if reading.line else start.unit_env[name])
            yield name, _knob(name, value, sheet)


def _knob(name: str, value: Known | Absent, sheet: Sheet) -> Want:
    if isinstance(value, Absent):
        return ABSENT
    text = str(value.value)
    return sheet.secret(name, text) if looks_secret(name) or holds_secret(text) else value


def _flags(start: NextStart, sheet: Sheet) -> dict[str, Want]:
    """Flags have a place in a manifest only where a serve script passes them; else ExecStart= tells them."""
    if not isinstance(start.launch, Launch) or isinstance(start.argv, Unknown):
        return {}
    return propose_flags(start.argv, sheet)


def _directives(
    start: NextStart, observation: Observation, sheet: Sheet
) -> dict[str, tuple[str, ...] | Absent]:
    if start.unit is None:
        sheet.remarks.append(f"the unit's directives can't be read: {start.why_no_unit}")
        return {}
    directives: dict[str, tuple[str, ...] | Absent] = {}
    for directive, lines in start.unit.all_values().items():
        section, _, name = directive.partition(".")
        if section != "Service" or name in _KNOB_DIRECTIVES or directive in ALSO_SETS:
            continue
        setting = Setting("systemd", directive)
        texts = tuple(str(line.value.value) for line in lines if isinstance(line.value, Known))
        if any(map(holds_secret, texts)):
            sheet.left_out[setting] = "it holds what looks like a secret"
        elif problem := _refused(directive, texts):
            sheet.left_out[setting] = problem
        else:
            if observation.unit.fragment is None or lines[-1].path != observation.unit.fragment.path:
                sheet.note(setting, lines[-1])
            directives[directive] = texts
    return directives


def _refused(directive: str, texts: tuple[str, ...]) -> str:
    """Why a manifest would not take these lines; "" where it does."""
    try:
        for text in texts:
            canonical(directive, text)
    except ValueError as error:
        return str(error)
    return ""


def _at(sheet: Sheet, reading: Reading) -> str:
    place = sheet.place(reading)
    return f"({place})" if place else ""
