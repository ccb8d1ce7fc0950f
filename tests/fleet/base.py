"""The base tree that all nodes share: a small Debian with systemd, sshd, Python and three common services.

It is built once and kept in /var/cache/knowngood-fleet, under a name that is a hash of its recipe: a changed
recipe builds another tree. A build goes into a temporary directory and is renamed when it is whole, so a
killed build leaves no half tree that anyone would use; a lock makes a second builder wait for the first.
"""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from . import mounts
from .errors import FleetError

CACHE = Path("/var/cache/knowngood-fleet")
SUITE = "bookworm"
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "openssh-server", "sudo", "python3", "iproute2", "procps", "nano"),
    *("python3-setproctitle", "redis-server", "nginx-light", "gunicorn"),
)
OPSPW_PASSWORD = "correct horse battery"

# Run by mmdebstrap with the new tree as $1.
CUSTOMIZE = f"""
set -eu
root=$1
rm -f "$root"/etc/ssh/ssh_host_*
# None of these has work to do here, and ssh.socket would answer on every address of the machine.
for unit in ssh.socket apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \\
            e2scrub_reap.service fstrim.timer getty.target getty-static.service console-getty.service \\
            systemd-timesyncd.service systemd-firstboot.service systemd-networkd.service \\
            systemd-resolved.service systemd-logind.service; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
for unit in redis-server.service nginx.service; do
    chroot "$root" systemctl disable -q "$unit"
done
mkdir -p "$root/etc/systemd/journald.conf.d"
printf '[Journal]\\nStorage=volatile\\nRateLimitBurst=0\\n' >"$root/etc/systemd/journald.conf.d/fleet.conf"
cat >"$root/etc/ssh/sshd_config.d/fleet.conf" <<'END'
HostKey /etc/ssh/ssh_host_ed25519_key
UseDNS no
MaxStartups 500
MaxSessions 100
END
chroot "$root" useradd --create-home --shell /bin/bash ops
chroot "$root" useradd --create-home --shell /bin/bash opspw
echo 'opspw:{OPSPW_PASSWORD}' | chroot "$root" chpasswd
printf 'ops ALL=(ALL:ALL) NOPASSWD: ALL\\nopspw ALL=(ALL:ALL) ALL\\n' >"$root/etc/sudoers.d/fleet"
chmod 0440 "$root/etc/sudoers.d/fleet"
"""
OPTIONS = (
    "--variant=minbase",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-exclude=/usr/share/man/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*",
)


def recipe_hash() -> str:
    """Twelve hex digits that change whenever the recipe does."""
    recipe = "\n".join([SUITE, *PACKAGES, *OPTIONS, CUSTOMIZE])
    return hashlib.sha256(recipe.encode()).hexdigest()[:12]


def ensure(say: Callable[[str], None]) -> Path:
    """The base tree, built first where there is none yet. FleetError when the build fails."""
    tree = CACHE / f"base-{recipe_hash()}"
    if not tree.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with _locked(CACHE / "build.lock") as lock:
            _drop_half_builds()
            if not tree.is_dir():
                say("building the nodes' base tree, once (about a minute)")
                _build(tree, lock)
    return tree


def _build(tree: Path, lock: int) -> None:
    half = Path(tempfile.mkdtemp(prefix="half-", dir=CACHE))
    half.chmod(0o755)
    hook = half.with_name(half.name + ".hook")
    log = half.with_name(half.name + ".log")
    hook.write_text("#!/bin/sh\n" + CUSTOMIZE)
    hook.chmod(0o755)
    command = ["mmdebstrap", *OPTIONS, f"--include={','.join(PACKAGES)}", f"--customize-hook={hook}"]
    with log.open("wb") as sink:
        # The build holds the lock too: if only this process is killed, nobody clears away beneath the other.
        built = subprocess.run(
            [*command, SUITE, str(half)], stdout=sink, stderr=sink, pass_fds=[lock], check=False
        )
    if built.returncode != 0:
        kept = CACHE / "failed-build.log"
        log.replace(kept)
        last = kept.read_text(errors="replace").strip().splitlines()[-1:]
        _drop_half_builds()
        raise FleetError(f"the base tree could not be built: {' '.join(last)} (all of it in {kept})")
    half.rename(tree)
    _drop_half_builds()


def _drop_half_builds() -> None:
    """Remove what killed builds left; only called under the build lock, when nobody is building."""
    for half in CACHE.glob("half-*"):
        # mmdebstrap mounts /proc, /sys and devices into the tree; removing through those would be a disaster.
        mounts.unmount_below(half)
        subprocess.run(["rm", "-rf", "--one-file-system", half], check=True)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Hold the lock; gives its descriptor. Children that inherit it hold the lock with us (flock(2))."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle.fileno()
