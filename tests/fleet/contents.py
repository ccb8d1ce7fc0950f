"""What stands on a node that is known to be good, as files: path → bytes, mode, or where a link leads.

The serve script and the kernel are those that state/decode.yaml names: a clean fleet is in sync with it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from .errors import FleetError

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
UNIT = "sglang-dsv4-decode.service"
SCRIPT = "/root/serve_dsv4_decode.sh"
SITE = "/root/venv/lib/python3.11/site-packages"
KERNEL = f"{SITE}/sglang/srt/layers/attention/flash_mla_sm120_triton.py"
FRAGMENT = f"/etc/systemd/system/{UNIT}"
DROPINS = f"{FRAGMENT}.d"
HOST_KEY = "/etc/ssh/ssh_host_ed25519_key"
NGINX_SITE = "/etc/nginx/sites-available/default"
REDIS_CONF = "/etc/redis/redis.conf"
AUTHORIZED_KEYS = "/root/.ssh/authorized_keys"


@dataclass(frozen=True)
class File:
    data: bytes
    mode: int = 0o644
    uid: int = 0
    gid: int = 0


@dataclass(frozen=True)
class Link:
    target: str


Contents = dict[str, File | Link]


@dataclass(frozen=True)
class Login:
    """How to log in: the port, the public key that opens every account, the host's private key."""

    port: int
    key: bytes
    host_key: bytes


def known_good(base: Path, address: str, head: str, login: Login) -> Contents:
    """All files that make a node of the base tree a decode node; those of its users and sshd too."""
    files: Contents = {
        SCRIPT: File(_serve_script(address, head), 0o755),
        KERNEL: File((CHECKOUT / "state/files/flash_mla_sm120_triton.py").read_bytes()),
        "/root/venv/bin/python3": Link("/usr/bin/python3.11"),
        "/root/venv/pyvenv.cfg": File(
            b"home = /usr/bin\ninclude-system-site-packages = true\nversion = 3.11\n"
        ),
        FRAGMENT: File((HERE / "standin" / UNIT).read_bytes()),
        f"/etc/systemd/system/multi-user.target.wants/{UNIT}": Link(FRAGMENT),
        HOST_KEY: File(login.host_key, 0o600),
        "/etc/ssh/sshd_config.d/address.conf": File(f"Port {login.port}\nListenAddress {address}\n".encode()),
        AUTHORIZED_KEYS: File(login.key, 0o600),
        "/home/ops/.ssh/authorized_keys": File(login.key, 0o600, 1000, 1000),
        "/home/opspw/.ssh/authorized_keys": File(login.key, 0o600, 1001, 1001),
    }
    package = HERE / "standin" / "sglang"
    for source in sorted(package.rglob("*.py")):
        files[f"{SITE}/sglang/{source.relative_to(package)}"] = File(source.read_bytes())
    return files | _other_services(base, address)


def _serve_script(address: str, head: str) -> bytes:
    """The script of the example, with the node's own values for the flags that hold host data."""
    text = (CHECKOUT / "state/files/serve_dsv4_decode.sh").read_text()
    text = re.sub(r"(--host) \S+", rf"\1 {address}", text)
    return re.sub(r"(--dist-init-addr) \S+", rf"\1 {head}:5000", text).encode()


def _other_services(base: Path, address: str) -> Contents:
    """Debian's redis and nginx and a gunicorn unit, each on the node's address; none is started at boot."""
    standin = HERE / "standin"
    environ = f'BIND={address}:8000\nWEBAPP_GREETING="hello there"\n'
    return {
        **_changed(base, REDIS_CONF, r"^bind .*$", f"bind {address}"),
        **_changed(base, NGINX_SITE, r"^\tlisten .*\n\tlisten .*$", f"\tlisten {address}:80 default_server;"),
        "/etc/systemd/system/webapp.service": File((standin / "webapp.service").read_bytes()),
        "/etc/default/webapp": File(environ.encode()),
        "/srv/webapp/webapp.py": File((standin / "webapp.py").read_bytes()),
    }


def _changed(base: Path, path: str, pattern: str, replacement: str) -> Contents:
    """A file of the base tree with the one match of the pattern replaced."""
    file = _as_it_is(base / path.lstrip("/"))
    text, count = re.subn(pattern, replacement, file.data.decode(), flags=re.MULTILINE)
    if count != 1:
        raise FleetError(f"{path} of the base tree has {count} matches of {pattern}, not one")
    return {path: replace(file, data=text.encode())}


def _as_it_is(place: Path) -> File:
    stat = place.stat()
    return File(place.read_bytes(), stat.st_mode & 0o7777, stat.st_uid, stat.st_gid)


def identity_files(name: str, machine_id: str) -> Contents:
    """What only a fresh node needs: its name. With a machine id there is no first boot, which would enable
    every service (systemd.preset(5))."""
    return {
        "/etc/hostname": File(f"{name}\n".encode()),
        "/etc/hosts": File(f"127.0.0.1 localhost\n127.0.1.1 {name}\n".encode()),
        "/etc/machine-id": File(f"{machine_id}\n".encode(), 0o444),
    }


def write(root: Path, contents: Contents) -> None:
    """Write all of it below `root`, a fresh disk: on one that a node has used, a link could lead out."""
    for path, wanted in contents.items():
        place = root / path.lstrip("/")
        _make_folder(place.parent, wanted)
        place.unlink(missing_ok=True)
        if isinstance(wanted, Link):
            place.symlink_to(wanted.target)
        else:
            place.write_bytes(wanted.data)
            os.chown(place, wanted.uid, wanted.gid)
            place.chmod(wanted.mode)


def _make_folder(folder: Path, wanted: File | Link) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent, wanted)
        folder.mkdir(0o700 if folder.name == ".ssh" else 0o755)
        if isinstance(wanted, File):
            os.chown(folder, wanted.uid, wanted.gid)


def differing(root: Path, contents: Contents) -> list[str]:
    """The paths that are not as they should be."""
    return [path for path, wanted in contents.items() if not _is_as(root, path, wanted)]


def _is_as(root: Path, path: str, wanted: File | Link) -> bool:
    place = root / path.lstrip("/")
    if place.parent.resolve() != root.resolve() / path.lstrip("/").rpartition("/")[0]:
        return False  # a link among its folders leads elsewhere, perhaps out of the node
    if isinstance(wanted, Link):
        return place.is_symlink() and str(place.readlink()) == wanted.target
    return not place.is_symlink() and place.is_file() and _as_it_is(place) == wanted
