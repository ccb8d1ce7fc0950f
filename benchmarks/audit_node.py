"""The audited end: one real systemd node that answers, through an sshd of its own, at very many addresses.

Everything runs in a network namespace of the benchmark's own, where there is nothing but the loopback: so the
sshd may listen on all of 127.0.0.0/8 at once, and no packet meets anything else on the machine.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import audit_scene as scene

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
    """What needs the network."""


@contextlib.contextmanager
def booted(scratch: Path, keys: Keys) -> Iterator[Node]:
    """A booted and furnished node."""
    dev = scratch / "dev"
    dev.mkdir()
    (dev / "key.pub").write_bytes(keys.login.with_suffix(".pub").read_bytes())
    subprocess.run(["/tmp/benchdev/boot.sh", str(dev)], check=True)
    options = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
    ssh = ["ssh", "-i", str(keys.login), *options, "root@127.0.9.1"]
    node = Node(ssh, keys)
    try:
        for _ in range(100):
            if subprocess.run([*ssh, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
                break
            time.sleep(0.2)
        node.furnish()
        yield node
    finally:
        import signal
        pid = int((dev / "pid").read_text())
        os.kill(pid, signal.SIGTERM)
        for _ in range(100):
            if not Path(f"/proc/{pid}").exists(): break
            time.sleep(0.1)
        else:
            os.kill(pid, signal.SIGKILL)
            time.sleep(1)
        subprocess.run(["umount", str(dev / "root")], check=False)


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
    """A booted node, reached by `ssh`: the words of a command line that ends before the remote command."""

    def __init__(self, ssh: list[str], keys: Keys) -> None:
        self._ssh = ssh
        self._keys = keys

    def run(self, script: str, data: bytes = b"") -> str:
        """Run a shell script on the node; its stdout. CalledProcessError when it fails."""
        return subprocess.run([*self._ssh, script], input=data, stdout=subprocess.PIPE, check=True).stdout.decode()

    def furnish(self) -> None:
        """Put the audited unit and the many-addressed sshd on the node, and start both."""
        public = self._keys.login.with_suffix(".pub").read_bytes()
        contents = [
            *scene.node_files(),
            scene.Content(f"{HOME}/sshd_config", SSHD_CONFIG.encode()),
            scene.Content(f"{HOME}/authorized_keys", public, "0600"),
            scene.Content(f"{HOME}/host", self._keys.host.read_bytes(), "0600"),
        ]
        self.run("tar -x -C / --no-same-owner", _tar(contents))
        serve = f"systemd-run -q -p TasksMax=infinity /usr/sbin/sshd -D -f {HOME}/sshd_config"
        self.run(
            f"systemctl daemon-reload && systemctl enable -q --now {scene.UNIT} && mkdir -p /run/sshd && "
            f"{serve} -p {PORT} && {serve} -p {TELLTALE_PORT} -o LogLevel=DEBUG1 -E {LOG}"
        )
        self._wait_until_serving()

    def key_exchanges(self) -> list[str]:
        """The key exchanges negotiated on the telltale port since the last question."""
        lines = self.run(f"grep -o 'kex: algorithm: .*' {LOG}; : > {LOG}").splitlines()
        return sorted({line.split()[2] for line in lines})

    def edit_script(self, old: str, new: str) -> None:
        """Change the serve script on disk, as a hand on the node would."""
        self.run(f"sed -i 's/{old}/{new}/' {scene.SCRIPT}")

    def restart(self) -> None:
        """A fresh start of the audited unit, so that what was edited and restored is no longer in doubt."""
        self.run(f"systemctl restart {scene.UNIT}")
        self._wait_until_serving()

    def _wait_until_serving(self) -> None:
        children = f"cat /sys/fs/cgroup/*/system.slice/{scene.UNIT}/cgroup.procs | sort -u | wc -l"
        for _ in range(100):
            if int(self.run(children)) >= 5:
                return
            time.sleep(0.1)
        raise SystemExit(f"the audited unit did not start:\n{self.run(f'systemctl status {scene.UNIT}')}")


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


def _tar(contents: list[scene.Content]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for content in contents:
            entry = tarfile.TarInfo(content.path.lstrip("/"))
            entry.size, entry.mode, entry.mtime = len(content.data), int(content.mode, 8), int(time.time())
            archive.addfile(entry, io.BytesIO(content.data))
    return buffer.getvalue()
