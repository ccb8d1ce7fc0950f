"""Readings of units against a real systemd: what it holds of them, and what their processes start with."""

from __future__ import annotations

import base64
import json
import platform
import random
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from knowngood.model import ABSENT, Known, Unknown, Value
from knowngood.syntax.systemd import (
    TRACES,
    Unit,
    loaded_environment,
    loaded_value,
    read_unit,
    running_value,
    write_dropin,
    write_environment_file,
)

from .fleet import Fleet
from .node import Node

sys.path.append(str(Path(__file__).parents[1] / "unit" / "syntax"))

from systemd_case import Case, cases
from systemd_grammar import EnvironmentFiles, Grammar

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the waiting program is written in x86-64's machine code"
)

PROGRAM = "/opt/wait"
UNITS = "/etc/systemd/system"
# An ELF file of one segment that does nothing but pause(2), whatever its words are: its /proc/PID/cmdline and
# environ stay as systemd set them.
_CODE = b"\xb8\x22\x00\x00\x00\x0f\x05\xeb\xf7"  # mov eax, 34; syscall; jmp back
_ELF = (
    b"\x7fELF\x02\x01\x01" + bytes(9) + (2).to_bytes(2, "little") + (62).to_bytes(2, "little")
    + (1).to_bytes(4, "little") + (0x400078).to_bytes(8, "little") + (64).to_bytes(8, "little") + bytes(12)
    + (64).to_bytes(2, "little") + (56).to_bytes(2, "little") + (1).to_bytes(2, "little") + bytes(6)
    + (1).to_bytes(4, "little") + (5).to_bytes(4, "little") + bytes(8) + (0x400000).to_bytes(8, "little") * 2
    + (0x78 + len(_CODE)).to_bytes(8, "little") * 2 + (0x1000).to_bytes(8, "little") + _CODE
)  # fmt: skip

# Runs on the node: writes files, starts units, and tells what systemd and the kernel have of them.
_ON_NODE = r"""
import base64, json, os, subprocess, sys, time
asked = json.load(sys.stdin)
for path, data in asked["files"].items():
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "wb") as file:
        file.write(base64.b64decode(data))
    os.rename(path + ".new", path)  # the program of an earlier round may still run
os.chmod("/opt/wait", 0o755)
subprocess.run(["systemctl", "daemon-reload"], check=True)
subprocess.run(["systemctl", "start", "--no-block", "--", *asked["units"]], stderr=subprocess.DEVNULL)
time.sleep(3)
told = {}
for unit in asked["units"]:
    show = subprocess.run(["systemctl", "show", "--no-pager", "--", unit], stdout=subprocess.PIPE).stdout
    lines = show.decode("utf-8", "surrogateescape").split("\n")
    pid = next((line[8:] for line in lines if line.startswith("MainPID=")), "0")
    process = None
    if pid != "0":
        read = lambda name: base64.b64encode(open("/proc/%s/%s" % (pid, name), "rb").read()).decode()
        process = {name: read(name) for name in ("cmdline", "environ", "limits", "status", "stat")}
        process["cwd"], process["exe"] = (os.readlink("/proc/%s/%s" % (pid, link)) for link in ("cwd", "exe"))
    told[unit] = {"show": base64.b64encode(show).decode(), "process": process}
subprocess.run(["systemctl", "stop", "--no-block", "--", *asked["units"]], stderr=subprocess.DEVNULL)
subprocess.run(["systemctl", "kill", "-s", "KILL", "--", *asked["units"]], stderr=subprocess.DEVNULL)
for path in asked["files"]:
    if path != "/opt/wait":
        os.remove(path)
env = subprocess.run(["systemctl", "show-environment"], stdout=subprocess.PIPE).stdout.decode()
json.dump({"units": told, "environment": env}, sys.stdout)
"""


@dataclass
class Started:
    """A unit on the node: its properties, and what its process has (None where it did not start)."""

    properties: dict[str, str]
    argv: list[str] | None = None
    environ: dict[str, str] = field(default_factory=dict)
    traits: dict[str, str] = field(default_factory=dict)


@dataclass
class Subject:
    """A unit to be tried: its texts, and its environment files by path."""

    name: str
    texts: list[tuple[str, bytes]]
    files: dict[str, bytes] = field(default_factory=dict)

    def read(self) -> Unit:
        fragment, *dropins = self.texts
        return read_unit(self.name, fragment, dropins)


def start(node: Node, subjects: list[Subject]) -> tuple[dict[str, Started], dict[str, Value]]:
    """Start all units; what the node told of each, and the manager's environment."""
    files = {path: data for subject in subjects for path, data in [*subject.texts, *subject.files.items()]}
    asked = {
        "files": {path: base64.b64encode(data).decode() for path, data in (files | {PROGRAM: _ELF}).items()},
        "units": [subject.name for subject in subjects],
    }
    done = node.run(
        f"exec python3 -c '{_ON_NODE.replace(chr(39), chr(34))}'", input=json.dumps(asked), timeout=300
    )
    told = json.loads(done.stdout)
    manager: dict[str, Value] = {
        name: Known(value)
        for name, _, value in (line.partition("=") for line in told["environment"].splitlines())
    }
    return {unit: _started(each) for unit, each in told["units"].items()}, manager


def _text(data: str) -> str:
    return base64.b64decode(data).decode("utf-8", "surrogateescape")


def _started(told: dict[str, object]) -> Started:
    properties: dict[str, str] = {}
    for line in _text(str(told["show"])).split("\n"):
        name, equals, value = line.partition("=")
        if equals:
            properties[name] = f"{properties[name]}\n{value}" if name in properties else value
    process = told["process"]
    if not isinstance(process, dict) or process["exe"] != PROGRAM:
        return Started(properties)
    environ = dict(pair.partition("=")[::2] for pair in _text(process["environ"]).split("\0") if pair)
    return Started(properties, _text(process["cmdline"]).split("\0")[:-1], environ, _traits(process))


def _traits(process: dict[str, str]) -> dict[str, str]:
    status = dict(line.split(":\t", 1) for line in _text(process["status"]).splitlines() if ":\t" in line)
    soft, hard = re.findall(r"Max open files +(\S+) +(\S+)", _text(process["limits"]))[0]
    return {
        "UMask": status["Umask"],
        "Nice": _text(process["stat"]).rpartition(")")[2].split()[16],
        "LimitNOFILE": f"{soft}:{hard}",
        "WorkingDirectory": process["cwd"],
    }


def contradictions(subject: Subject, started: Started, manager: dict[str, Value]) -> list[str]:
    """Where the reading says something else than the node. What it leaves open is none."""
    unit = subject.read()
    if not started.properties:
        # systemctl can't show a unit with a word that is not UTF-8: D-Bus does not carry it.
        return [] if any(b"\\xff" in data for _, data in subject.texts) else ["systemctl shows nothing of it"]
    loads = started.properties["LoadState"] == "loaded"
    if not loads or unit.refused is not None:
        same = loads == (unit.refused is None)
        return [] if same else [f"LoadState={started.properties['LoadState']}, but read as {unit.refused}"]
    return [
        *_of_directives(unit, started),
        *(_of_process(unit, subject, started, manager) if started.argv is not None else []),
    ]


def _of_directives(unit: Unit, started: Started) -> list[str]:
    wrong = []
    for directive in unit.all_values():
        section, _, name = directive.partition(".")
        ours = unit.value(section, name).value
        theirs = loaded_value(
            directive, started.properties, [str(ours.value)] if isinstance(ours, Known) else []
        )
        if isinstance(ours, Unknown) or isinstance(theirs, Unknown):
            continue
        if ours != theirs:
            wrong.append(f"{directive}: {ours}, but systemd holds {theirs}")
    return wrong


def _of_process(unit: Unit, subject: Subject, started: Started, manager: dict[str, Value]) -> list[str]:
    wrong = []
    env = unit.environment(dict(subject.files), base=manager)
    for name in {*started.environ, *env}:
        value = env[name].value
        there = Known(started.environ[name]) if name in started.environ else ABSENT
        if not isinstance(value, Unknown) and value != there:
            wrong.append(f"environment {name}: {value}, but the process has {there}")
    (command,) = unit.exec_start(env) or [None]
    words = None if command is None else [word.value for word in command.argv]
    certain = words is None or not any(isinstance(word, Unknown) for word in words)
    if certain and words != [Known(word) for word in started.argv or []]:
        wrong.append(f"argv: {words}, but the process has {started.argv}")
    for trait, text in started.traits.items():
        value = unit.value("Service", trait).value
        if isinstance(value, Known) and f"Service.{trait}" in TRACES and not _beyond(trait, value):
            there = running_value(f"Service.{trait}", text, [str(value.value)])
            missing = trait == "WorkingDirectory" and str(value.value).startswith("-") and text == "/"
            if value != there and not missing:
                wrong.append(f"{trait}: {value}, but the process has {there}")
    return wrong


def _beyond(trait: str, value: Known) -> bool:
    """What can't be compared: a home that stands in passwd, a limit above what the machine lets root set."""
    if trait == "LimitNOFILE":
        return any(each == "infinity" or int(each) > 20000 for each in str(value.value).split(":"))
    return str(value.value).endswith("~")


def judge(node: Node, subjects: list[Subject]) -> dict[str, object]:
    """All contradictions by unit; the number of units that ran under the key ""."""
    started, manager = start(node, subjects)
    wrong: dict[str, object] = {"": sum(each.argv is not None for each in started.values())}
    for subject in subjects:
        found = contradictions(subject, started[subject.name], manager)
        if found:
            wrong[subject.name] = [subject.texts, subject.files, found]
    return wrong


def case_on_node(number: int, case: Case) -> Subject:
    """A case as a unit of its own name, with its environment files in a folder of its own."""
    name = f"k{number}-{case.unit_name}"
    folder = f"/run/units/{number}"
    texts = []
    for index, (_, text) in enumerate(case.texts()):
        data = text.replace(b"/bin/true", PROGRAM.encode())
        for path in case.files():
            data = data.replace(path.encode(), (folder + path).encode())
        texts.append((f"{UNITS}/{name}" + (f".d/{index}.conf" if index else ""), data))
    files = {folder + path: data for path, data in case.files().items() if data is not None}
    return Subject(name, texts, files)


def test_cases_hold_on_a_real_systemd(fleet: Fleet) -> None:
    chosen = [case for case in cases() if b"oneshot" not in case.texts()[0][1]]
    wrong = judge(fleet["decode-01"], [case_on_node(number, case) for number, case in enumerate(chosen)])
    ran = wrong.pop("")
    assert wrong == {}
    assert isinstance(ran, int) and ran > 50


def random_units(seed: int, count: int) -> list[Subject]:
    grammar, env_files = Grammar(seed), EnvironmentFiles(seed)
    subjects = []
    for number in range(count):
        name = f"r{seed}-{number}.service"
        env_path = f"/run/units/{name}.env"
        text = grammar.unit().replace(b"/bin/true", PROGRAM.encode())
        dropin = f"[Service]\nRestart=no\nEnvironmentFile=-{env_path}\n".encode()
        texts = [(f"{UNITS}/{name}", text), (f"{UNITS}/{name}.d/zz.conf", dropin)]
        subjects.append(Subject(name, texts, {env_path: env_files.text()}))
    return subjects


@pytest.mark.parametrize("seed", range(3))
def test_random_units_hold_on_a_real_systemd(fleet: Fleet, seed: int) -> None:
    wrong = judge(fleet["decode-02"], random_units(seed, 60))
    ran = wrong.pop("")
    assert wrong == {}
    assert isinstance(ran, int) and ran > 10


def awkward_texts(seed: int, count: int) -> dict[str, str]:
    """Variables whose values hold all that is special somewhere."""
    pieces = [*"\"'\\$%`#;=&|<>(){}[]*?!~^ \n\t", *"a ß 😀 $X ${X} %i %% \\n \\x41 $(x)".split(" "), "  "]
    source = random.Random(seed)
    return {f"V{number}": "".join(source.choices(pieces, k=source.randint(0, 12))) for number in range(count)}


def test_what_we_write_comes_back_byte_for_byte(fleet: Fleet) -> None:
    node = fleet["decode-03"]
    by_unit = awkward_texts(1, 200)
    by_file = {f"F{name}": value for name, value in awkward_texts(2, 200).items()}
    env_path = "/run/units/written.env"
    before = ["-/bin/true", "-/bin/false"]
    dropin = write_dropin(
        {"Service.LimitNOFILE": ["16384"], "Service.Restart": ["always"], "Service.ExecStartPre": before},
        by_unit,
        environment_file=env_path,
        header="written by a test",
    )
    fragment = f"[Service]\nExecStartPre=/bin/false\nExecStart={PROGRAM}\n".encode()
    own = f"{UNITS}/written.service"
    texts = [(own, fragment), (f"{own}.d/zz-knowngood.conf", dropin)]
    subject = Subject("written.service", texts, {env_path: write_environment_file(by_file)})
    started, manager = start(node, [subject])
    written = started[subject.name]
    assert contradictions(subject, written, manager) == []
    assert {name: written.environ.get(name) for name in by_unit | by_file} == by_unit | by_file
    assert loaded_environment(written.properties) == by_unit
    assert written.traits["LimitNOFILE"] == "16384:16384"
    commands = Known("\n".join(before))
    assert loaded_value("Service.ExecStartPre", written.properties, [str(commands.value)]) == commands
