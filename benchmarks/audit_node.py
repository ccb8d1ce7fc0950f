"""The audited end: one real systemd node that answers, through an sshd of its own, at very many addresses.

Everything runs in a network namespace of the benchmark's own, where there is nothing but the loopback: so the
sshd may listen on all of 127.0.0.0/8 at once, and no packet meets anything else on the machine.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import audit_scene as scene

sys.path.append(str(scene.ROOT))  # the tests' fleet is no installed package

from tests.fleet import Fleet, FleetError, base, contents, machine
from tests.fleet import Node as FleetNode

PORT = 2222
TELLTALE_PORT = 2223  # the same sshd, which also logs what was negotiated
HOME = "/etc/audit-sshd"
LOG = "/run/audit-sshd.log"
MARK = "KNOWNGOOD_AUDIT_NETWORK"


def enter_own_network() -> None:
    """Start this program anew in an empty network namespace, unless that has been done."""
    if os.environ.get(MARK) == "own":
        return
    os.environ[MARK] = "own"
    script = 'ip link set lo up && exec "$@"'
    os.execvp("unshare", ["unshare", "--net", "sh", "-c", script, "sh", sys.executable, *sys.argv])


def addresses(count: int) -> list[str]:
    """The first `count` of the node's addresses."""
    return [f"127.20.{n // 250}.{n % 250 + 1}" for n in range(count)]


def prepare() -> None:
    """What needs the outer network: packages, and the tree that nodes boot from, both once."""
    try:
        machine.prepare(_say)
        base.ensure(_say)
    except FleetError as error:
        raise SystemExit(f"the audited node can't be had: {error}") from None


@contextlib.contextmanager
def booted(scratch: Path, keys: Keys) -> Iterator[Node]:
    """A node that is up and furnished, and gone again at the end."""
    with Fleet(scratch / "fleet", owned=True, say=_say) as fleet:
        fleet.up(1)
        node = Node(*fleet.nodes.values(), keys)
        node.furnish()
        yield node


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Keys:
    """The key pair that logs in, and the host key, both made for this run."""

    login: Path
    host: Path

    @classmethod
    def make(cls, folder: Path) -> Keys:
        keys = cls(folder / "login", folder / "host")
        for path in (keys.login, keys.host):
            order = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "audit", "-f", str(path)]
            subprocess.run(order, check=True)
        return keys

    def known_hosts(self, hosts: list[str], port: int) -> str:
        """A known_hosts file that pins every address to the host key."""
        kind, key = self.host.with_suffix(".pub").read_text().split()[:2]
        return "".join(f"[{host}]:{port} {kind} {key}\n" for host in hosts)


class Node:
    """The booted node."""

    def __init__(self, node: FleetNode, keys: Keys) -> None:
        self._node = node
        self._keys = keys

    def furnish(self) -> None:
        """Put the audited contents and the many-addressed sshd on the node, and start both."""
        public = self._keys.login.with_suffix(".pub").read_bytes()
        wanted = [
            *scene.node_files(),
            scene.Content(f"{HOME}/sshd_config", SSHD_CONFIG.encode()),
            scene.Content(f"{HOME}/authorized_keys", public, "0600"),
            scene.Content(f"{HOME}/host", self._keys.host.read_bytes(), "0600"),
        ]
        files = {item.path: contents.File(item.data, int(item.mode, 8)) for item in wanted}
        contents.write(self._node.root, files)
        serve = f"systemd-run -q -p TasksMax=infinity /usr/sbin/sshd -D -f {HOME}/sshd_config"
        self._node.run(
            f"systemctl daemon-reload && mkdir -p /run/sshd && {serve} -p {PORT} && "
            f"{serve} -p {TELLTALE_PORT} -o LogLevel=DEBUG1 -E {LOG}"
        )
        self._node.restart()

    def key_exchanges(self) -> list[str]:
        """The key exchanges negotiated on the telltale port since the last question."""
        lines = self._node.run(f"grep -o 'kex: algorithm: .*' {LOG}; : > {LOG}").stdout.splitlines()
        return sorted({line.split()[2] for line in lines})

    def edit_script(self, old: str, new: str) -> None:
        """Change the serve script on disk, as a hand on the node would."""
        self._node.run(f"sed -i 's/{old}/{new}/' {scene.SCRIPT}")

    def restart(self) -> None:
        """A fresh start of the audited unit, so that what was edited and restored is in doubt no more."""
        self._node.restart()


SSHD_CONFIG = f"""\
ListenAddress 0.0.0.0
HostKey {HOME}/host
AuthorizedKeysFile {HOME}/authorized_keys
PidFile none
PermitRootLogin prohibit-password
PasswordAuthentication no
StrictModes no
UseDNS no
UsePAM no
MaxStartups 10000
MaxSessions 1000
LoginGraceTime 600
LogLevel ERROR
Subsystem sftp internal-sftp
"""
