"""From a unit's texts to a Unit: the door of this room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from knowngood.syntax.systemd.fatal import cut_short
from knowngood.syntax.systemd.names import UnitName
from knowngood.syntax.systemd.remarks import remarks
from knowngood.syntax.systemd.text import UnitText, read_text
from knowngood.syntax.systemd.unit import Unit, merge
from knowngood.syntax.systemd.verify import why_refused


def read_unit(name: str, fragment: tuple[str, bytes] | None, dropins: Sequence[tuple[str, bytes]]) -> Unit:
    """Read a unit as systemd would at its next daemon-reload.

    `fragment` and `dropins` are (path, content); the drop-ins come in the order in which systemd merges them
    (see order_dropins). Any bytes are taken. `name` is the unit's own name, with its instance.
    """
    unit_name = UnitName.of(name)
    main = None if fragment is None else _read(*fragment, unit_name)
    unit = merge(name, main, [_read(path, data, unit_name) for path, data in dropins])
    refused = unit.refused if main is None else unit.refused or why_refused(unit)
    verdict = () if refused is None or refused is unit.refused else (refused,)
    return replace(unit, refused=refused, lint=(*unit.lint, *remarks(unit), *verdict))


def _read(path: str, data: bytes, unit: UnitName) -> UnitText:
    return cut_short(read_text(path, data), unit)
