"""From a unit's texts to a Unit: the door of this room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from knowngood.syntax.systemd.fatal import cut_short
from knowngood.syntax.systemd.lint import Lint
from knowngood.syntax.systemd.names import UnitName
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
    if fragment is not None and not fragment[1]:
        return replace(unit, refused=Lint(0, "masked", "The unit is masked: its file is empty.", fragment[0]))
    if main is None or unit.refused is not None:
        return unit
    return replace(unit, refused=why_refused(unit))


def _read(path: str, data: bytes, unit: UnitName) -> UnitText:
    return _read_small(path, data, unit) if len(data) <= _SMALL else _read_any(path, data, unit)


def _read_any(path: str, data: bytes, unit: UnitName) -> UnitText:
    return cut_short(read_text(path, data), unit)


# The nodes of a fleet have much the same units.
_SMALL = 1 << 15
_read_small = lru_cache(maxsize=256)(_read_any)
