"""How the benchmarks show what they measured: tables, targets with pass or miss, and one JSON file."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

BUSY = 0.5  # runnable processes, before anything is measured


@dataclass(frozen=True, slots=True)
class Target:
    """A number to reach: `measured` may be at most `limit`, or at least, when `at_least` is set."""

    what: str
    measured: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table: the first column to the left, the others to the right, floats with sense."""
    lines = [list(columns), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    print(f"\n{title}")
    for line in lines:
        first, *others = zip(line, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        print("  " + "  ".join(cells).rstrip())


def show_targets(targets: Sequence[Target]) -> bool:
    """Print each target as met or missed; True when all are met."""
    rows = [
        [
            target.what,
            f"{_cell(target.measured)}{target.unit}",
            f"{'≥' if target.at_least else '≤'} {_cell(target.limit)}{target.unit}",
            "met" if target.met else "MISSED",
        ]
        for target in targets
    ]
    if rows:
        show("targets", ["", "measured", "to reach", ""], rows)
    return all(target.met for target in targets)


def machine() -> dict[str, object]:
    """Where the numbers come from, so that nobody compares two machines unawares; warns when it is busy."""
    load = os.getloadavg()[0]
    if load > BUSY:
        print(f"this machine is busy (load {load:.1f}): what is measured now is too high", file=sys.stderr)
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.machine(),
    )
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load_before": round(load, 2),
    }


def write_json(path: Path, results: dict[str, object], targets: Sequence[Target]) -> None:
    """Write results and targets to `path`, for machines and for a look at the trend."""
    judged = [{**asdict(target), "met": target.met} for target in targets]
    path.write_text(json.dumps({**results, "targets": judged}, indent=2) + "\n")


def _cell(value: object) -> str:
    if isinstance(value, float):
        digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
        return f"{value:,.{digits}f}"
    return "–" if value is None else str(value)


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []
