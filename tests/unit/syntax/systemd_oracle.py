"""systemd-analyze as the judge of a reading: it prints what it makes of units, without running them.

`systemd-analyze verify` loads units from a tree of files; at debug level it prints each one as loaded, and
complains of what it ignores, by file and line.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from knowngood.model import ABSENT, Known, Reading, Unknown
from knowngood.syntax.systemd import Unit, default_of, loaded_value
from knowngood.syntax.systemd.directives import KIND_OF
from knowngood.syntax.systemd.shown import shown_words
from knowngood.syntax.systemd.spelled import spelled

PROGRAM = shutil.which("systemd-analyze")
WHY_NOT = "" if PROGRAM else "systemd-analyze is not installed (Debian: package systemd)"
FOLDER = "/etc/systemd/system"
# Properties that the dump shows under another name than `systemctl show`.
_DUMPED_AS = {"CPUQuotaPerSecUSec": "CPUQuotaPerSecSec"}
_SPANS = ("RestartSec", "TimeoutStartSec", "TimeoutStopSec", "WatchdogSec", "RuntimeMaxSec")
_SHOWN = [
    *(f"Service.{name}" for name in _SPANS),
    *"""Service.Type Service.Restart Service.RemainAfterExit Service.GuessMainPID Service.KillMode
    Service.KillSignal Service.SendSIGKILL Service.SendSIGHUP Service.UMask Service.WorkingDirectory
    Service.Nice Service.OOMScoreAdjust Service.LimitNOFILE Service.LimitCPU Service.LimitMEMLOCK
    Service.LimitNICE Service.LimitRTTIME Service.LimitCORE Service.LimitSTACK Service.CPUAffinity
    Service.User Service.Group Service.MemoryMax Service.MemoryHigh Service.TasksMax
    Service.CPUQuota Service.PrivateTmp Service.PrivateDevices Service.NonBlocking
    Service.IgnoreSIGPIPE Service.DynamicUser Service.OOMPolicy Service.NotifyAccess
    Service.RestartKillSignal Service.FinalKillSignal Service.ProtectSystem Unit.StopWhenUnneeded
    Unit.RefuseManualStart Unit.DefaultDependencies""".split(),
]  # fmt: skip
_COMPLAINT = re.compile(r"^(/\S+?):(\d+): (.*)$")
_NOTICES = re.compile("Special user|obsolete|please use|Accepting user|deprecated|below legacy directory")


@dataclass
class Loaded:
    """One unit as systemd has it: `dump` the lines by name, `commands` the words of each."""

    dump: dict[str, list[str]] = field(default_factory=dict)
    commands: dict[str, list[list[str]]] = field(default_factory=dict)


@dataclass
class Verdict:
    """What systemd said of all units: those it loaded, and its complaints by file: line → messages."""

    loaded: dict[str, Loaded]
    complaints: dict[str, dict[int, list[str]]]
    output: str


def ask(root: Path, units: dict[str, list[tuple[str, bytes]]]) -> Verdict:
    """Have systemd read units: name → its files below `root`, the fragment first."""
    paths = []
    for name, files in units.items():
        for path, data in files:
            place = root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        paths.append(str(root / FOLDER.lstrip("/") / name))
    assert PROGRAM is not None
    done = subprocess.run(
        [PROGRAM, f"--root={root}", "verify", "--man=no", "--recursive-errors=no", *paths],
        env={**os.environ, "SYSTEMD_LOG_LEVEL": "debug", "LC_ALL": "C"},
        capture_output=True,
        check=False,
        timeout=300,
    )
    output = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
    return _read(output, str(root))


def _read(output: str, root: str) -> Verdict:
    verdict = Verdict({}, {}, output)
    unit: Loaded | None = None
    commands: list[list[str]] | None = None
    last: list[str] = []
    for line in output.split("\n"):
        complaint = _COMPLAINT.match(line)
        if complaint is not None and complaint[1].startswith(root):
            of_file = verdict.complaints.setdefault(complaint[1].removeprefix(root), {})
            of_file.setdefault(int(complaint[2]), []).append(complaint[3])
        elif line.startswith("\t-> Unit "):
            unit = verdict.loaded.setdefault(line.removeprefix("\t-> Unit ").rstrip(":"), Loaded())
            commands = None
        elif unit is None:
            continue
        elif line.startswith("\t\t\tCommand Line: ") and commands is not None:
            commands.append(shown_words(line.removeprefix("\t\t\tCommand Line: ")))
        elif line.startswith("\t\t-> "):
            commands = unit.commands.setdefault(line.removeprefix("\t\t-> ").rstrip(":"), [])
        elif line.startswith("\t\t") and ": " in line:
            name, _, text = line.removeprefix("\t\t").partition(": ")
            last = unit.dump.setdefault(name, [])
            last.append(text)
        elif last and line.startswith("\t\t") is False and not line.startswith("\t"):
            last[-1] += "\n" + line
    return verdict


def disagreements(
    unit: Unit, loaded: Loaded | None, complaints: dict[str, dict[int, list[str]]]
) -> list[str]:
    """Where a reading says otherwise than systemd. What it leaves open is no disagreement."""
    if loaded is None:
        return [] if unit.refused is not None else ["systemd refuses the unit; the reading doesn't"]
    if unit.refused is not None:
        return [f"systemd loads the unit; the reading refuses it: {unit.refused}"]
    return [
        *_values(unit, loaded),
        *_environment(unit, loaded),
        *_commands(unit, loaded),
        *_complaints(unit, complaints),
    ]


def _values(unit: Unit, loaded: Loaded) -> Iterable[str]:
    properties = _as_properties(loaded)
    for directive in _SHOWN:
        section, _, name = directive.partition(".")
        ours = unit.value(section, name).value
        theirs = loaded_value(directive, properties)
        if isinstance(ours, Unknown) or isinstance(theirs, Unknown) or _too_fine(name, ours):
            continue
        if ours == ABSENT:
            default = default_of(directive)
            if default is None:
                continue
            ours = Known(default)
        if name == "WorkingDirectory":
            if str(getattr(ours, "value", "")).endswith("~"):
                continue  # the dump does not tell a home
            ours = Known(str(ours.value).removeprefix("-"))
        if str(getattr(ours, "value", "")).endswith("%") and name in ("MemoryMax", "MemoryHigh", "TasksMax"):
            continue
        if ours != theirs:
            yield f"{directive}: {ours} is {theirs} to systemd"


def _too_fine(name: str, value: object) -> bool:
    """The dump rounds spans of time to whole seconds."""
    return name in _SPANS and isinstance(value, Known) and re.search(r"ms|us", str(value.value)) is not None


def _as_properties(loaded: Loaded) -> dict[str, str]:
    told = {name: "\n".join(texts) for name, texts in loaded.dump.items()}
    for name in _SPANS:
        if name in told:
            told[name[:-3] + "USec"] = told.pop(name)
    for ours, theirs in _DUMPED_AS.items():
        if theirs in told:
            told[ours] = told.pop(theirs)
    told.setdefault("User", "")
    told.setdefault("Group", "")
    return told


def _environment(unit: Unit, loaded: Loaded) -> Iterable[str]:
    """Environment= alone: the dump shows no more of it."""
    alone = replace(unit, texts=tuple(_only_environment(text) for text in unit.texts))
    env = alone.environment({}, base={"PATH": Known("/bin")})
    told = dict(pair.partition("=")[::2] for pair in loaded.dump.get("Environment", []))
    for name, value in told.items():
        reading = env[name] if name in env else Reading(ABSENT)
        if not isinstance(reading.value, Unknown) and reading.value != Known(value):
            yield f"Environment= {name}: {reading.value} is {value!r} to systemd"
    for name, reading in env.items():
        if isinstance(reading.value, Known) and name not in told and name != "PATH":
            yield f"Environment= {name}: {reading.value} is nothing to systemd"


def _only_environment(text):  # type: ignore[no-untyped-def]
    kept = [each for each in text.assignments if (each.section, each.directive) == ("Service", "Environment")]
    return replace(text, assignments=tuple(kept))


def _commands(unit: Unit, loaded: Loaded) -> Iterable[str]:
    for name in ("ExecStartPre", "ExecStart", "ExecReload"):
        ours = [[reading.value for reading in command.words] for command in unit.commands(name)]
        theirs = loaded.commands.get(name, [])
        if len(ours) != len(theirs):
            yield f"{name}: {ours} is {theirs} to systemd"
            continue
        for our, their in zip(ours, theirs, strict=True):
            same = len(our) == len(their) and all(
                isinstance(word, Unknown) or word == Known(text)
                for word, text in zip(our, their, strict=True)
            )
            if not same:
                yield f"{name}: {our} is {their} to systemd"


def _complaints(unit: Unit, complaints: dict[str, dict[int, list[str]]]) -> Iterable[str]:
    """Each line that systemd complains of has a remark; each remark that says "ignored" has a complaint."""
    for path in {each.path for text in unit.texts for each in text.assignments} | set(complaints):
        starts = _starts(unit, path)
        told = {
            _start(starts, line): messages
            for line, messages in complaints.get(path, {}).items()
            if not all(_NOTICES.search(message) for message in messages)
        }
        remarked = {
            _start(starts, lint.line): lint.code for lint in unit.lint if lint.path == path and lint.line
        }
        open_lines = _open_lines(unit, path)
        for line, messages in told.items():
            if line not in remarked and line not in open_lines:
                yield f"{path}:{line}: systemd says: {messages}"
        # What systemd says of dependencies it says without a line.
        quiet = {
            each.line
            for text in unit.texts
            for each in text.assignments
            if KIND_OF.get(f"{each.section}.{each.directive}") == "units"
        }
        for line, code in remarked.items():
            if (
                line not in quiet
                and code in ("ignored", "unknown-directive", "misplaced", "no-section", "refused")
                and line not in told
            ):
                yield f"{path}:{line}: {code}, but systemd does not complain"


def _starts(unit: Unit, path: str) -> list[int]:
    """The lines on which something begins: an assignment, a header, or a line that is neither."""
    texts = [text for text in unit.texts if text.path == path]
    found = {each.line for text in texts for each in text.assignments}
    found |= {line for text in texts for _, line in text.sections}
    odd = ("no-section", "no-assignment", "bad-section", "not-utf8", "too-long", "refused")
    return sorted(found | {lint.line for lint in unit.lint if lint.path == path and lint.code in odd})


def _open_lines(unit: Unit, path: str) -> set[int]:
    """The lines of which only the node can tell what they are."""
    return {
        each.line
        for text in unit.texts
        for each in text.assignments
        if each.path == path
        and isinstance(spelled(f"{each.section}.{each.directive}", each.text, unit.name).value, Unknown)
    }


def _start(starts: list[int], line: int) -> int:
    return max((start for start in starts if start <= line), default=0)


assert all(directive in KIND_OF for directive in _SHOWN)
