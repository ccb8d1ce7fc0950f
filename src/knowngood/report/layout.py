"""Where the columns of a drift table stand, for a screen of so many cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from knowngood.report.cells import width
from knowngood.report.rows import Row

INDENT = 2
AFTER_SETTING, AFTER_MANIFEST, AFTER_VALUE = 3, 2, 1
STAR = " *"
TITLES = {"manifest": "MANIFEST", "disk": "ON DISK", "loaded": "LOADED", "running": "RUNNING"}

_SETTING_FLOOR, _MEANING_FLOOR = 24, 28  # narrower than that, and the meaning moves below
_SETTING_LEAST = 20  # narrower than that, and there are no columns
_MEANING_MOST = 60  # a wide screen makes no wide sentence
_ROOMY, _TIGHT = (60, 40, 32, 24), (24, 20, 16, 12, 10, 8)  # cells a value may take, the best first


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells for each column. A value's column holds its star; a `meaning` of 0 stands below its row."""

    setting: int
    values: dict[str, int]  # by layer, in the order of the screen
    meaning: int

    @property
    def first_value(self) -> int:
        return INDENT + self.setting + AFTER_SETTING

    @property
    def meaning_at(self) -> int:
        return self.first_value + _taken(self.values)

    def room(self, layer: str) -> int:
        """Cells for the value itself."""
        return self.values[layer] - _star_slot(layer)


def gap(layer: str) -> int:
    """Blanks after a value's column."""
    return AFTER_MANIFEST if layer == "manifest" else AFTER_VALUE


def columns(rows: Sequence[Row], screen: int) -> Columns | None:
    """The best columns for these rows; None where the screen is too narrow for any."""
    layers = [layer for layer in TITLES if layer != "loaded" or any(_loaded_parts(row) for row in rows)]
    setting = _widest(row.name for row in rows)
    meaning = min(_widest(row.meaning for row in rows), _MEANING_MOST)

    def fit(most: int, setting_floor: int, meaning_floor: int) -> Columns | None:
        values = {layer: _value_cells(rows, layer, most) for layer in layers}
        rest = screen - INDENT - AFTER_SETTING - _taken(values)
        if rest < setting_floor + meaning_floor:
            return None
        own = min(setting, rest - meaning_floor)
        return Columns(own, values, min(_MEANING_MOST, rest - own) if meaning_floor else 0)

    tries = (
        *((most, setting, min(meaning, 40)) for most in _ROOMY),
        *((most, min(setting, _SETTING_FLOOR), min(meaning, _MEANING_FLOOR)) for most in _TIGHT),
        *((most, min(setting, _SETTING_LEAST), 0) for most in _TIGHT),
    )
    return next((found for each in tries if (found := fit(*each)) is not None), None)


def _loaded_parts(row: Row) -> bool:
    """Whether what systemd's manager has is worth a column: it differs, and nothing else shows it."""
    disk, loaded, running = row.values["disk"], row.values["loaded"], row.values["running"]
    return "loaded" in row.starred and not (disk == loaded == running)


def _value_cells(rows: Iterable[Row], layer: str, most: int) -> int:
    natural = _widest(row.values[layer] for row in rows)
    return max(len(TITLES[layer]), min(natural, most) + _star_slot(layer))


def _star_slot(layer: str) -> int:
    return 0 if layer == "manifest" else len(STAR)


def _taken(values: dict[str, int]) -> int:
    return sum(cells + gap(layer) for layer, cells in values.items())


def _widest(texts: Iterable[str]) -> int:
    return max(map(width, texts), default=0)
