"""One node: a systemd of its own as PID 1, in a container with its own address, cgroup and disk layer."""

from __future__ import annotations

import json
import shutil
import subprocess
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import addresses, cgroups, contents, mounts, waits
from .errors import FleetError

Truth = dict[str, Any]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass
class Node:
    """A node by name. `state` is the fleet's folder, `head` the address of its pod's first node."""

    name: str
    address: str
    head: str
    pod: str
    fleet_id: str
    state: Path
    base: Path
    ssh_port: int = 22
    _nspawn: subprocess.Popen[bytes] | None = field(default=None, repr=False, compare=False)

    @property
    def folder(self) -> Path:
        return self.state / "nodes" / self.name

    @property
    def root(self) -> Path:
        """The node's disk as this machine sees it. Beware of links in it: they lead out."""
        return self.folder / "root"

    @property
    def host_key(self) -> Path:
        return self.folder / "host_key"

    # --- Life ---

    def create(self) -> None:
        """Make the node's disk, with the known-good contents; nothing runs yet."""
        self.folder.mkdir(parents=True)
        make_key(self.host_key, self.name)
        self._make_disk()

    def _make_disk(self) -> None:
        mounts.mount_overlay(self.base, self.folder)
        machine_id = uuid.uuid5(uuid.NAMESPACE_OID, f"{self.fleet_id}/{self.name}").hex
        contents.write(self.root, contents.identity_files(self.name, machine_id) | self.known_good())

    def known_good(self) -> contents.Contents:
        """The files that stand on this node while it is known to be good."""
        login_key = (self.state / "key.pub").read_bytes()
        login = contents.Login(self.ssh_port, login_key, self.host_key.read_bytes())
        return contents.known_good(self.base, self.address, self.head, login)

    def start(self) -> None:
        """Power on. Returns at once; see `wait_until_up`."""
        folders = cgroups.make(self.fleet_id, self.name)
        machine_id = (self.root / "etc/machine-id").read_text().strip()
        command = [
            *("systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit"),
            *("-D", str(self.root), "-M", f"kg-{self.fleet_id}-{self.name}", f"--hostname={self.name}"),
            *(f"--uuid={uuid.UUID(machine_id)}", "--link-journal=no", "--resolv-conf=off", "--timezone=off"),
        ]
        with (self.folder / "console.log").open("ab") as log:
            self._nspawn = subprocess.Popen(
                cgroups.joining(folders, command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def stop(self) -> None:
        """Power off, as by pulling the plug. The disk stays."""
        cgroups.kill(self.fleet_id, self.name)
        self.reap()
        cgroups.remove(self.fleet_id, self.name)

    def reap(self) -> None:
        """Forget the container's process, when it was a child of ours and is gone."""
        if self._nspawn:
            self._nspawn.wait()
            self._nspawn = None

    def reboot(self) -> None:
        """Power off and on, and wait until it is up again."""
        self.stop()
        self.start()
        self.wait_until_up()

    def rebuild(self) -> None:
        """Throw the disk away and boot with a fresh one. Name, address and host key stay."""
        self.stop()
        mounts.unmount_below(self.folder)
        for name in ("upper", "work"):
            shutil.rmtree(self.folder / name)
        self._make_disk()
        self.start()
        self.wait_until_up()
        self.remember_truth()

    def wait_until_up(self, seconds: float = 90.0) -> None:
        """Wait until sshd greets and the server is healthy. FleetError, with the console's end, if not."""
        try:
            waits.until(self.speaks_ssh, f"{self.name}'s sshd", seconds)
            self.wait_until_healthy(seconds)
        except FleetError as error:
            console = (self.folder / "console.log").read_text(errors="replace").strip().splitlines()
            raise FleetError(f"{error}; its console ends with: {' / '.join(console[-3:])}") from None

    # --- Talking to it ---

    @property
    def pid(self) -> int | None:
        """The node's PID 1 as this machine numbers it, or None while it is off."""
        return next(iter(cgroups.inits(self.fleet_id, self.name)), None)

    def run(
        self, script: str, *, check: bool = True, input: str | None = None, timeout: float = 60.0
    ) -> subprocess.CompletedProcess[str]:
        """Run a bash script as root in the node's namespaces: past sshd, so it works when that is broken.

        With `check`, a non-zero exit is a FleetError that quotes stderr.
        """
        pid = self.pid
        if pid is None:
            raise FleetError(f"{self.name} is off")
        enter = ["nsenter", "-t", str(pid), "-m", "-u", "-i", "-p", "-C", "-r", "-w"]
        shell = ["env", "-i", f"PATH={PATH}", "HOME=/root", "LANG=C.UTF-8", "bash", "-c", script]
        visitors = cgroups.make(self.fleet_id, self.name, "visitors")
        done = subprocess.run(
            cgroups.joining(visitors, [*enter, *shell]),
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
        if check and done.returncode != 0:
            raise FleetError(f"on {self.name} `{script}` failed ({done.returncode}): {done.stderr.strip()}")
        return done

    def ssh_command(self, *command: str, user: str = "root") -> list[str]:
        """The argv that logs in as `user` with the fleet's key, checking the host key strictly."""
        options = [
            "StrictHostKeyChecking=yes",
            f'UserKnownHostsFile="{self.state / "known_hosts"}"',
            "IdentitiesOnly=yes",
            "ConnectTimeout=10",
            "LogLevel=ERROR",
            # The default exchange costs a client 130 ms of CPU, this one 5 ms.
            "KexAlgorithms=curve25519-sha256",
        ]
        pairs = [word for option in options for word in ("-o", option)]
        login = ["-i", str(self.state / "key"), "-p", str(self.ssh_port), f"{user}@{self.address}"]
        return ["ssh", "-F", "none", *pairs, *login, *command]

    def speaks_ssh(self) -> bool:
        """Whether sshd greets whoever connects."""
        return waits.speaks_ssh(self.address, self.ssh_port)

    # --- The decode server ---

    def truth(self) -> Truth | None:
        """What the server says it really runs with (see standin/sglang/srt/http_server.py), or None."""
        return waits.http_json(self.address, addresses.SERVER_PORT, "/truth")

    def remember_truth(self) -> None:
        """Keep what the server runs with now as what it should run with; see `mend`."""
        truth = what_counts(self.wait_until_healthy())
        (self.folder / "truth.json").write_text(json.dumps(truth))

    def remembered_truth(self) -> Truth:
        document: Truth = json.loads((self.folder / "truth.json").read_text())
        return document

    def healthy(self) -> bool:
        answer = waits.http_get(self.address, addresses.SERVER_PORT, "/health")
        return answer is not None and answer[0] == 200

    def wait_until_healthy(self, seconds: float = 30.0) -> Truth:
        """Wait until /health is 200. The truth of the server that answers."""

        def good() -> Truth | None:
            return self.truth() if self.healthy() else None

        return waits.until(good, f"{self.name}'s decode server to be healthy", seconds)

    def restart(self) -> Truth:
        """Restart the unit and wait until the new process is healthy. Its truth."""
        self.run(f"systemctl reset-failed {contents.UNIT}; systemctl restart {contents.UNIT}")
        return self.wait_until_healthy()


def what_counts(truth: Truth) -> Truth:
    """The part of a server's truth that is the same after each start of the same contents."""
    passing = {"INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID"}
    return {
        "argv": truth["argv"],
        "knobs": {name: value for name, value in truth["knobs"].items() if name not in passing},
        "kernels": [scheduler["kernel"] for scheduler in truth["schedulers"]],
    }


def make_key(path: Path, comment: str) -> None:
    """Write an ed25519 key pair to `path` and `path`.pub."""
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)]
    subprocess.run(command, check=True)
