"""What a capture is asked for, checked before a node is contacted. Every mistake stops with exit code 2."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from knowngood.cli.common import stop
from knowngood.model import Host

if TYPE_CHECKING:
    from knowngood.fleet.inventory import Inventory

_UNIT = re.compile(r"[A-Za-z0-9:_.\\-]+(@[A-Za-z0-9:_.\\-]+)?\.service")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be captured, and where to."""

    project: Path
    host: Host
    unit: str
    name: str
    paths: tuple[str, ...]
    server: str | None
    own_script: bool
    force: bool

    @property
    def manifest(self) -> Path:
        return self.project / "state" / f"{self.name}.yaml"


def unit_name(unit: str) -> str:
    """The service's whole name."""
    if "." not in unit.rpartition("@")[2]:
        unit += ".service"
    if not _UNIT.fullmatch(unit):
        stop(f"--unit {unit!r} is no service's name, as sglang-decode.service")
    return unit


def manifest_name(name: str | None, unit: str) -> str:
    """The name that --name gives, else the unit's without its suffix, in the letters that a name may have."""
    if name is None:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", unit.removesuffix(".service")).lstrip("-._") or "captured"
    if not _NAME.fullmatch(name):
        stop(f"--name {name!r}: a name is letters, digits, dots, dashes and underscores")
    return name


def node_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """The paths of --file, each once."""
    for path in paths:
        if not path.startswith("/") or posixpath.normpath(path) != path or not path.isprintable():
            stop(f"--file {path!r} is no absolute path on the node, without '.', '..' and '//'")
    return tuple(dict.fromkeys(paths))


def one_host(inventory: Inventory, pattern: str) -> Host:
    """The one host that a name, group or glob means."""
    from knowngood.cli.audit import choose_hosts

    hosts = choose_hosts(inventory, [pattern])
    if len(hosts) > 1:
        some = ", ".join(host.name for host in hosts[:3])
        stop(f"{pattern} means {len(hosts)} hosts ({some}, …): capture one of them")
    return hosts[0]


def check_free(wish: Wish) -> None:
    """Stop where the manifest would take another's place, name or unit."""
    from knowngood.manifest import ManifestError, load_manifests

    if wish.manifest.exists() and not wish.force:
        stop(f"{wish.manifest} exists already: --force overwrites it, --name writes another")
    manifests, _ = load_manifests(wish.project)
    for manifest in manifests:
        if wish.project / manifest.path == wish.manifest:
            continue
        if manifest.name == wish.name:
            stop(f"the name {wish.name} is taken by {manifest.path}: choose another with --name")
        try:
            claimed = manifest.applies_to(wish.host) and manifest.resolve(wish.host, {}).unit == wish.unit
        except ManifestError:
            continue
        if claimed:
            stop(f"{manifest.path} claims {wish.unit} on {wish.host.name} already")
