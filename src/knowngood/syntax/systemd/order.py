"""The order in which systemd merges drop-ins. Source: systemd.unit(5); src/shared/dropin.c, conf-files.c."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator

from knowngood.syntax.systemd.names import UnitName

# systemd.unit(5), "System Unit Search Path", the highest priority first
_SEARCH = (
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/run/systemd/transient",
    "/run/systemd/generator.early",
    "/etc/systemd/system",
    "/etc/systemd/system.attached",
    "/run/systemd/system",
    "/run/systemd/system.attached",
    "/run/systemd/generator",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
    "/run/systemd/generator.late",
)


def order_dropins(paths: Iterable[str], unit: str) -> list[str]:
    """Those of the paths that count for the unit, in systemd's order: by file name, the last one wins.

    Of two with one name only that of the higher place counts: the unit's own folder before its template's and
    its prefixes' (`foo-.service.d`) and before `service.d`; within these /etc before /run before /usr/lib.
    """
    folders = {folder: rank for rank, folder in enumerate(_folders(unit))}
    chosen: dict[str, tuple[int, str]] = {}
    for path in paths:
        folder, name = posixpath.split(path)
        rank = folders.get(folder)
        if rank is None or not name.endswith(".conf") or name.startswith("."):
            continue
        if name not in chosen or rank < chosen[name][0]:
            chosen[name] = (rank, path)
    return [chosen[name][1] for name in sorted(chosen, key=os.fsencode)]


def _folders(unit: str) -> Iterator[str]:
    for place in _SEARCH:
        yield from (f"{place}/{name}.d" for name in dropin_names(unit))
    kind = UnitName.of(unit).kind
    yield from (f"{place}/{kind}.d" for place in _SEARCH)


def dropin_names(unit: str) -> Iterator[str]:
    """The names whose folders count: the unit's own, its template's, and those cut at each dash."""
    yield unit
    name = UnitName.of(unit)
    if name.template is not None:
        yield from dropin_names(name.template)
    prefix = name.prefix.removesuffix("-")
    dash = prefix.rfind("-")
    if dash > 0:
        instance = f"@{name.instance}" if name.instance else ""
        yield from dropin_names(f"{prefix[: dash + 1]}{instance}.{name.kind}")
