"""The same audit with pyinfra alone: a deploy that reads stock facts and changes nothing.

Every fact is a command of its own on the host. Prints one line of JSON a host: its name and what drifts.
"""

import json
import os
import re
from pathlib import Path

from pyinfra import host
from pyinfra.facts.files import File, Sha256File
from pyinfra.facts.server import Command
from pyinfra.facts.systemd import SystemdEnabled, SystemdStatus

want = json.loads(Path(os.environ["AUDIT_QUESTIONS"]).read_text())
unit = want["unit"]
drift = []


def expect(what, right):
    if not right:
        drift.append(what)


def expect_all(lines, command):
    seen = host.get_fact(Command, command).splitlines()
    drift.extend(line for line in lines if line not in seen)


for file in want["files"]:
    expect(file["path"], host.get_fact(Sha256File, path=file["path"]) == file["sha256"])
    state = host.get_fact(File, path=file["path"]) or {}
    expect(f"mode {file['path']}", state.get("mode") == int(file["mode"]))
    expect(f"owner {file['path']}", state.get("user") == "root")

expect_all(want["script_lines"], f"cat {want['script']}")

expect("active", host.get_fact(SystemdStatus, services=[unit]).get(unit))
expect("enabled", host.get_fact(SystemdEnabled, services=[unit]).get(unit))
expect_all(want["directive_lines"], f"systemctl show {unit}")

server = f"/proc/$(systemctl show -P MainPID {unit})"
expect_all(want["environ_lines"], f"tr '\\0' '\\n' < {server}/environ")
expect_all(want["argv_words"], f"tr '\\0' '\\n' < {server}/cmdline")
limits = host.get_fact(Command, f"cat {server}/limits")
expect("running LimitNOFILE", re.search("^Max open files +16384 ", limits, re.MULTILINE))

print(json.dumps({"host": host.name, "drift": drift}))
