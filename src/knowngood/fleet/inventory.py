"""Inventories: pyinfra's own files, groups, host data and connectors, as hosts of our glossary.

pyinfra's command-line program reads them, so what a file means here is what it means there:
https://docs.pyinfra.com/en/3.x/inventory-data.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from knowngood.fleet.limit import NoMatchError, choose
from knowngood.model import Host


class InventoryError(ValueError):
    """An inventory that can't be used; the text names the file, the line where there is one, and why."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """The hosts of an inventory, in the file's order, and what pyinfra made of them."""

    source: str
    hosts: tuple[Host, ...]
    warnings: tuple[str, ...] = ()  # what pyinfra ignored in the file, a sentence each
    pyinfra: Any = field(default=None, repr=False, compare=False)  # pyinfra.api.Inventory
    config: Any = field(default=None, repr=False, compare=False)  # pyinfra.api.Config, from config.py


def load_inventory(source: str | Path, *, cwd: Path | None = None) -> Inventory:
    """Read an inventory file, or hosts separated by commas (`web1,@local,@docker/debian:12`).

    `cwd` is the directory whose `config.py` and `group_data/` count, as the one that pyinfra is started in;
    the process's own by default. A `group_data/` beside the file counts too. The file is Python and is run.
    InventoryError: there is no such file, it raises, pyinfra can't use it, or it defines no hosts.
    """
    directory = (cwd or Path.cwd()).resolve()
    given = str(source)
    if looks_like_path(given):
        path = Path(given).expanduser()
        if path.is_dir():
            raise InventoryError(f"{given}: is a directory, not an inventory file")
        if not path.is_file():
            raise InventoryError(f"{given}: no such inventory file")
        given = str(path)
    else:
        given = ",".join(_hosts_of(given))
    return _load(given, directory)


def limit(inventory: Inventory, patterns: Sequence[str]) -> Inventory:
    """The inventory with those hosts only that a pattern chooses: a host, a group or a glob, or several
    of them separated by commas. InventoryError when a pattern chooses nothing."""
    try:
        return replace(inventory, hosts=choose(inventory.hosts, patterns))
    except NoMatchError as error:
        raise InventoryError(f"{inventory.source}: {error}") from None


def looks_like_path(source: str) -> bool:
    """Whether an inventory is meant as a file: it is there, or it could be nothing else."""
    if Path(source).expanduser().exists():
        return True
    return not source.startswith("@") and "," not in source and ("/" in source or source.endswith(".py"))


def _hosts_of(source: str) -> list[str]:
    names = [name.strip() for name in source.split(",")]
    if not all(names):
        raise InventoryError(f"{source!r}: a host's name is missing")
    for name in names:
        user, at, host = name.partition("@")
        if user and at:
            raise InventoryError(
                f"{name}: pyinfra knows no user@host; write {host} and set its user in ~/.ssh/config, "
                "or ssh_user in an inventory file"
            )
    return names


def _load(source: str, directory: Path) -> Inventory:
    from knowngood.fleet import engine

    engine.start()
    from knowngood.fleet import reading

    found, config, warnings = reading.read(source, directory)
    hosts = tuple(
        Host(name=host.name, groups=tuple(dict.fromkeys(host.groups)), data=host.data.dict())
        for host in found
    )
    if not hosts:
        ignored = f" ({'; '.join(warnings)})" if warnings else ""
        raise InventoryError(f"{source}: defines no hosts{ignored}")
    return Inventory(source, hosts, tuple(warnings), found, config)
