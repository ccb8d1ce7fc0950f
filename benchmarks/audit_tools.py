"""The tools that are compared: how each is told where the hosts are, how it is run, what its answer says."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import audit_scene as scene
from audit_node import Keys
from tools_venv import BIN

PATIENCE = 120  # seconds to connect, for every tool: hundreds of hosts share this machine's cores
RIVALS = Path(__file__).resolve().parent / "rivals"


# --- Where the hosts are --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Site:
    """A folder that says, in every tool's own words, which hosts there are and how to reach them."""

    folder: Path
    hosts: list[str]

    @classmethod
    def write(cls, folder: Path, hosts: list[str], port: int, keys: Keys) -> Site:
        """Write the files into a new folder."""
        folder.mkdir(parents=True)
        known_hosts, probe = folder / "known_hosts", folder / "probe.py"
        known_hosts.write_text(keys.known_hosts(hosts, port))
        (folder / "config.py").write_text(f"CONNECT_TIMEOUT = {PATIENCE}\n")  # pyinfra's
        login = {"port": port, "user": "root", "key": str(keys.login), "known_hosts": str(known_hosts)}
        site = {
            **login,
            "hosts": hosts,
            "program": str(probe),
            "command": "python3 -I -S -",
            "patience": PATIENCE,
        }
        (folder / "site.json").write_text(json.dumps(site))
        (folder / "questions.json").write_text(json.dumps(scene.questions()))
        (folder / "inventory.py").write_text(_pyinfra_inventory(login, hosts))
        (folder / "hosts.ini").write_text("\n".join(["[decode]", *hosts, ""]))
        (folder / "ansible.cfg").write_text(_ansible_config(login, folder))
        scene.write_project(folder / "project", _pyinfra_inventory(login, hosts))
        probe.write_bytes(_probe_program(folder / "project"))
        return cls(folder, hosts)


def _probe_program(project: Path) -> bytes:
    """What knowngood sends to a host of this project."""
    from knowngood.manifest import load_manifests
    from knowngood.model import Host
    from knowngood.observe.ask import ask

    (manifest,), _ = load_manifests(project)
    return ask((manifest.resolve(Host("any", groups=("decode",)), {}),), secrets.token_bytes(32))


def _pyinfra_inventory(login: dict[str, object], hosts: list[str]) -> str:
    data = {
        "ssh_port": login["port"],
        "ssh_user": login["user"],
        "ssh_key": login["key"],
        "ssh_known_hosts_file": login["known_hosts"],
        "ssh_strict_host_key_checking": "yes",
        "ssh_allow_agent": False,
        "ssh_look_for_keys": False,
    }
    return f"DATA = {data!r}\ndecode = [(host, DATA) for host in {hosts!r}]\n"


def _ansible_config(login: dict[str, object], folder: Path) -> str:
    return f"""\
[defaults]
inventory = {folder}/hosts.ini
remote_user = {login["user"]}
remote_port = {login["port"]}
private_key_file = {login["key"]}
forks = 50
interpreter_python = /usr/bin/python3
retry_files_enabled = false
nocows = true
local_tmp = {folder}/ansible
timeout = {PATIENCE}
[ssh_connection]
pipelining = true
control_path_dir = {folder}/masters
ssh_extra_args = -o UserKnownHostsFile={login["known_hosts"]}
"""


# --- The tools ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """How many hosts a tool had an answer from, and how many of these drift; None: it doesn't compare."""

    answered: int
    drifted: int | None
    reasons: tuple[str, ...] = ()  # why not all answered, where the tool tells


@dataclass(frozen=True, slots=True)
class Tool:
    """`argv` and `read` make the command line for a site, and the answer from its stdout."""

    key: str  # for --tools and JSON
    name: str
    argv: Callable[[Site], list[str]]
    read: Callable[[str], Answer]
    env: Callable[[Site], dict[str, str]] = field(default=lambda site: {})
    upto: int = 10**6  # hosts


def _read_knowngood(output: str) -> Answer:
    report = json.loads(output)
    summary, told = report["summary"], []
    for host in report["hosts"]:
        told.append(host["error"] or ", ".join(f"{x['setting']} {x['verdict']}" for x in host["findings"]))
    return Answer(summary["in_sync"] + summary["drifted"], summary["drifted"], tuple(sorted({*told} - {""})))


def _read_asyncssh(output: str) -> Answer:
    return Answer(json.loads(output.splitlines()[0])["answered"], None)


def _read_pyinfra(output: str) -> Answer:
    answers = [json.loads(line) for line in output.splitlines() if line.startswith('{"host"')]
    return Answer(len(answers), sum(1 for answer in answers if answer["drift"]))


def _read_ansible(output: str) -> Answer:
    recap = re.findall(r"^[\d.]+ +: ok=(\d+) +changed=(\d+) +unreachable=0 +failed=0 ", output, re.MULTILINE)
    return Answer(len(recap), sum(1 for _, changed in recap if changed != "0"))


def _knowngood(site: Site) -> list[str]:
    deadlines = ["--connect-timeout", str(PATIENCE), "--timeout", str(2 * PATIENCE)]
    return [str(BIN / "knowngood"), "drift", "-C", str(site.folder / "project"), "--json", *deadlines]


def _python(script: str) -> Callable[[Site], list[str]]:
    return lambda site: [str(BIN / "python"), str(RIVALS / script), str(site.folder / "site.json")]


def _pyinfra(site: Site) -> list[str]:
    return [str(BIN / "pyinfra"), "-y", str(site.folder / "inventory.py"), str(RIVALS / "pyinfra_audit.py")]


CURVE25519 = ("-o", "KexAlgorithms=curve25519-sha256")


def _ansible(key: str, name: str, *ssh_options: str, upto: int) -> Tool:
    return Tool(
        key=key,
        name=name,
        argv=lambda site: [
            *[str(BIN / "ansible-playbook"), "--check", str(RIVALS / "ansible_audit.yml")],
            *["-e", f"@{site.folder}/questions.json"],
            *[f"--ssh-common-args={' '.join(ssh_options)}"] * bool(ssh_options),
        ],
        read=_read_ansible,
        env=lambda site: {"ANSIBLE_CONFIG": str(site.folder / "ansible.cfg"), "LC_ALL": "C.UTF-8"},
        upto=upto,
    )


def tools(ansible_upto: int) -> list[Tool]:
    """All that are compared, ours first."""
    return [
        Tool(
            "knowngood",
            "knowngood drift",
            _knowngood,
            _read_knowngood,
        ),
        Tool("asyncssh", "asyncssh, probe only", _python("asyncssh_audit.py"), _read_asyncssh),
        Tool(
            "pyinfra",
            "pyinfra, stock facts",
            _pyinfra,
            _read_pyinfra,
            lambda site: {"AUDIT_QUESTIONS": str(site.folder / "questions.json")},
        ),
        _ansible("ansible", "Ansible --check", upto=ansible_upto),
        _ansible("ansible-curve25519", "Ansible --check, curve25519", *CURVE25519, upto=ansible_upto),
    ]
