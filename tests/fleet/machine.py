"""What the machine must offer before a node can boot: root, Linux, a few Debian packages, cgroups."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from .errors import FleetError

# The tool that tells whether a package is there, and the Debian package that brings it.
TOOLS = {
    "mmdebstrap": "mmdebstrap",
    "systemd-nspawn": "systemd-container",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "nsenter": "util-linux",
    "mount": "mount",
}
INOTIFY_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
INOTIFY_NEEDED = 4096


def why_not() -> str | None:
    """One sentence on why no node can run here, or None when it can (packages may still be installed)."""
    if platform.system() != "Linux":
        return f"real systemd nodes need Linux, and this is {platform.system()}"
    if os.geteuid() != 0:
        return "real systemd nodes need root (mounts and containers): run it with sudo, or in a root shell"
    if not _may_mount():
        return "real systemd nodes need to mount, and this root may not (an unprivileged container?)"
    missing = _missing_packages()
    if missing and shutil.which("apt-get") is None:
        return f"missing on this machine, and no apt-get to install them: {', '.join(missing)}"
    return None


def prepare(say: Callable[[str], None]) -> None:
    """Install missing packages and raise the inotify limit. FleetError when that can't be done."""
    reason = why_not()
    if reason:
        raise FleetError(reason)
    missing = _missing_packages()
    if missing:
        say(f"installing {', '.join(missing)}")
        _apt_install(missing)
    # At the default of 128 instances the twenty-first node fails to boot with "Too many open files".
    if int(INOTIFY_INSTANCES.read_text()) < INOTIFY_NEEDED:
        try:
            INOTIFY_INSTANCES.write_text(str(INOTIFY_NEEDED))
        except OSError:
            say("fs.inotify.max_user_instances could not be raised: a fleet of more than 20 may not boot")


def _may_mount() -> bool:
    """Whether this process has CAP_SYS_ADMIN (capabilities(7): number 21)."""
    status = Path("/proc/self/status").read_text()
    return bool(int(status.partition("CapEff:")[2].split()[0], 16) >> 21 & 1)


def _missing_packages() -> list[str]:
    return sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})


def _apt_install(packages: list[str]) -> None:
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    for command in (["apt-get", "update", "-q"], install):
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["apt-get said nothing"]
        raise FleetError(f"apt-get could not install {', '.join(packages)}: {last[0]}")
