"""A case of tests/cases/units: a unit's texts, and what they come to.

`fragment`, `dropins` and `files` are texts, `{latin1: …}` where bytes are meant. Of `values` and
`environment` a text is known, null absent, `{unknown: …}` unknown for a reason that holds these words. Of
`argv` a null word is unknown. `lint` holds "LINE code", of fragment and drop-ins together. `oracle: false`:
systemd-analyze says something else in some versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from knowngood.model import ABSENT, Known, Reading, Unknown, Value
from knowngood.syntax.systemd import Unit, read_unit

CASES = Path(__file__).parents[2] / "cases" / "units"
FOLDER = "/etc/systemd/system"


@dataclass
class Case:
    name: str
    data: Mapping[str, Any]

    @property
    def unit_name(self) -> str:
        return str(self.data.get("unit", "u.service"))

    def texts(self) -> list[tuple[str, bytes]]:
        """The unit's files as they lie on a node, the fragment first."""
        own = f"{FOLDER}/{self.unit_name}"
        dropins = enumerate(self.data.get("dropins", []))
        return [
            (own, content(self.data["fragment"])),
            *((f"{own}.d/{number}.conf", content(text)) for number, text in dropins),
        ]

    def read(self) -> Unit:
        fragment, *dropins = self.texts()
        return read_unit(self.unit_name, fragment, dropins)

    def files(self) -> dict[str, bytes | None]:
        files = self.data.get("files", {})
        return {path: None if text is None else content(text) for path, text in files.items()}

    def base(self) -> dict[str, Value] | None:
        base = self.data.get("base")
        return None if base is None else {name: Known(value) for name, value in base.items()}


def cases() -> list[Case]:
    return [Case(path.stem, yaml.safe_load(path.read_text())) for path in sorted(CASES.glob("*.yaml"))]


def content(text: str | Mapping[str, str]) -> bytes:
    return text.encode() if isinstance(text, str) else text["latin1"].encode("latin-1")


def agrees(reading: Reading, wanted: object) -> bool:
    """Whether a reading is what a case says."""
    if wanted is None:
        return reading.value == ABSENT
    if isinstance(wanted, dict):
        return isinstance(reading.value, Unknown) and wanted["unknown"] in reading.value.reason
    return reading.value == Known(wanted)
