"""Real sshds on loopback addresses, and servers that only look like one, for tests of gathering.

Each has an address of its own in a free 127.x.y block. What is asked runs in a process of its own, because
gevent patches the whole standard library of the process it is loaded in.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PORT = 2222
ME = getpass.getuser()
SSHD = shutil.which("sshd") or "/usr/sbin/sshd"

CONFIG = """\
{more}
HostKey {folder}/hostkey
AuthorizedKeysFile {folder}/authorized_keys
StrictModes no
UsePAM no
UseDNS no
PidFile none
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 2000
"""


@dataclass
class Answers:
    """What one run of gather handed over, and what the run cost."""

    answers: dict[str, bytes | tuple[str, str]]  # a failure is (kind, reason)
    at: dict[str, float]  # seconds from the beginning
    stdout: str
    stderr: str
    after_interrupt: float  # seconds it still took
    peak_mb: float
    exit_code: int

    def __getitem__(self, host: str) -> bytes | tuple[str, str]:
        return self.answers[host]


class Site:
    """A folder with keys, and the servers started in it."""

    def __init__(self, folder: Path, block: str) -> None:
        self.folder = folder
        self.block = block
        self._last = 0
        self._processes: list[subprocess.Popen[bytes]] = []
        self._sockets: list[socket.socket] = []
        self.key = self.new_key("id")
        self.host_key = self.new_key("hostkey")
        shutil.copy(f"{self.key}.pub", folder / "authorized_keys")
        self.known_hosts = folder / "known_hosts"

    def new_key(self, name: str, passphrase: str = "") -> Path:
        path = self.folder / name
        run = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", str(path)]
        subprocess.run(run, check=True)
        return path

    def address(self) -> str:
        self._last += 1
        return f"{self.block}.{self._last}"

    def sshd(self, addresses: int = 1, more: str = "") -> list[str]:
        """Start one sshd with that many addresses (16 at most)."""
        mine = [self.address() for _ in range(addresses)]
        config = self.folder / f"sshd_config_{mine[0]}"
        config.write_text(CONFIG.format(folder=self.folder, more=more))
        listen = [word for each in mine for word in ("-o", f"ListenAddress={each}:{PORT}")]
        log = self.folder / "sshd.log"
        self._processes.append(subprocess.Popen([SSHD, "-D", "-f", str(config), "-E", str(log), *listen]))
        for address in mine:
            wait_until(lambda address=address: answers(address), f"{address} listens")
        return mine

    def impostor(self, talk: Callable[[socket.socket], None]) -> str:
        """A server that accepts and does with each connection what `talk` does."""
        address = self.address()
        server = socket.create_server((address, PORT))
        self._sockets.append(server)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    self._sockets.append(connection)
                    threading.Thread(target=_quietly(talk), args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        return address

    def stop(self, address: str) -> None:
        """Freeze the sshd that listens on this address: connections are accepted, and nobody speaks."""
        next(p for p in self._processes if any(address in word for word in p.args)).send_signal(
            signal.SIGSTOP
        )

    def close(self) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            process.wait()
        for each in self._sockets:
            each.close()

    def inventory(self, text: str = "", *, hosts: Sequence[str] = (), **data: object) -> Path:
        """Write an inventory: of these hosts, each with this site's user, key and port; or of this text."""
        common: dict[str, object] = {
            "ssh_user": ME,
            "ssh_key": str(self.key),
            "ssh_port": PORT,
            "ssh_known_hosts_file": str(self.known_hosts),
            "ssh_config_file": str(self.folder / "no_ssh_config"),
            **data,
        }
        path = self.folder / f"inventory_{len(list(self.folder.glob('inventory_*')))}.py"
        path.write_text(f"SITE = {common!r}\ndecode = ({list(hosts)!r}, SITE)\n{text}")
        return path

    def gather(
        self,
        inventory: Path | str,
        program: str = "print('here')",
        *,
        programs: Mapping[str, str] | None = None,
        connect_timeout: float = 10,
        timeout: float = 30,
        interrupt_after: float | None = None,
        open_files: int | None = None,
    ) -> Answers:
        """Ask all hosts of an inventory, in a process of its own."""
        order = json.dumps(
            {
                "inventory": str(inventory),
                "program": program,
                "programs": dict(programs or {}),
                "connect_timeout": connect_timeout,
                "timeout": timeout,
                "open_files": open_files,
            }
        )
        driver = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(self.folder), "SSH_AUTH_SOCK": ""},
            start_new_session=True,  # no terminal: a prompt would fail, and not hang the tests
            cwd=self.folder,
        )
        assert driver.stdin is not None
        driver.stdin.write(order)
        driver.stdin.close()
        driver.stdin = None
        assert driver.stdout is not None
        driver.stdout.readline()  # it begins
        if interrupt_after is not None:
            time.sleep(interrupt_after)
            driver.send_signal(signal.SIGINT)
        interrupted = time.monotonic()
        stdout, stderr = driver.communicate(timeout=timeout + 60)
        return _told(stdout, stderr, time.monotonic() - interrupted, driver.returncode)


def _told(stdout: str, stderr: str, after_interrupt: float, exit_code: int) -> Answers:
    told: dict[str, bytes | tuple[str, str]] = {}
    at: dict[str, float] = {}
    peak = 0.0
    for line in stdout.splitlines():
        event = json.loads(line)
        if "peak_mb" in event:
            peak = event["peak_mb"]
            continue
        at[event["host"]] = event["at"]
        told[event["host"]] = (
            bytes.fromhex(event["answer"]) if "answer" in event else (event["kind"], event["reason"])
        )
    return Answers(told, at, stdout, stderr, after_interrupt, peak, exit_code)


@contextlib.contextmanager
def site(folder: Path, block: str) -> Iterator[Site]:
    """A site, whose servers are stopped at the end."""
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd's own, empty; systemd makes it elsewhere
    here = Site(folder, block)
    try:
        yield here
    finally:
        here.close()


def wait_until(true: Callable[[], bool], what: str, seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def answers(address: str) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((address, PORT), timeout=1):
        return True
    return False


def _quietly(talk: Callable[[socket.socket], None]) -> Callable[[socket.socket], None]:
    def quiet(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            talk(connection)

    return quiet


def _drive() -> None:
    """The other process: gather, and a line of JSON for each answer."""
    import resource

    order = json.load(sys.stdin)
    if limit := order["open_files"]:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    from knowngood.fleet.gather import gather
    from knowngood.fleet.inventory import load_inventory

    inventory = load_inventory(order["inventory"])
    programs = {
        host.name: order["programs"].get(host.name, order["program"]).encode() for host in inventory.hosts
    }
    began = time.monotonic()

    def say(**event: object) -> None:
        print(json.dumps({**event, "at": time.monotonic() - began}), flush=True)

    def on_answer(host: str, answer: object) -> None:
        if isinstance(answer, bytes):
            say(host=host, answer=answer.hex())
        else:
            say(host=host, kind=answer.kind, reason=answer.reason)  # type: ignore[attr-defined]

    print(flush=True)
    try:
        gather(
            inventory,
            programs,
            connect_timeout=order["connect_timeout"],
            timeout=order["timeout"],
            on_answer=on_answer,
        )
    except KeyboardInterrupt:
        sys.exit(130)
    say(peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    _drive()
