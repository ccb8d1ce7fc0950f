#!/usr/bin/env python3
"""How fast the command line answers when it has nothing to ask the fleet, beside Python and click alone.

Runs everything in turns and shows the fastest and the median of many starts. See README.md here.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import audit_scene
import measure
import table
import tools_venv
from measure import Cost

BUDGETS = {"knowngood --help": 0.100, "knowngood validate": 0.250}  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30, help="starts of each (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers there too")
    parser.add_argument("--check", action="store_true", help="exit 1 when a budget is exceeded")
    options = parser.parse_args()
    tools_venv.install()
    machine = table.machine()

    with tempfile.TemporaryDirectory(prefix="kg-startup-") as scratch:
        project = Path(scratch, "project")
        audit_scene.write_project(project, "decode = ['127.0.0.1']\n")
        starts = time_starts(_commands(project), options.repeats)

    middles = {name: measure.middle(costs) for name, costs in starts.items()}
    bare = middles["python -c pass"].wall
    rows = [
        [name, min(cost.wall for cost in starts[name]) * 1000, m.wall * 1000, m.cpu * 1000, m.wall / bare]
        for name, m in middles.items()
    ]
    columns = ["", "fastest ms", "median ms", "CPU ms", "÷ python"]
    table.show(f"start-up, {options.repeats} starts each", columns, rows)
    targets = [
        table.Target(name, middles[name].wall * 1000, budget * 1000, " ms")
        for name, budget in BUDGETS.items()
    ]
    met = table.show_targets(targets)
    if options.json:
        walls = {name: [cost.wall for cost in costs] for name, costs in starts.items()}
        table.write_json(options.json, {"machine": machine, "starts": walls}, targets)
    sys.exit(1 if options.check and not met else 0)


def _commands(project: Path) -> dict[str, list[str]]:
    python, knowngood = str(tools_venv.BIN / "python"), str(tools_venv.BIN / "knowngood")
    return {
        "python -c pass": [python, "-c", "pass"],
        "python -c 'import click'": [python, "-c", "import click"],
        "knowngood --help": [knowngood, "--help"],
        "knowngood validate": [knowngood, "validate", "-C", str(project)],
    }


def time_starts(commands: dict[str, list[str]], repeats: int) -> dict[str, list[Cost]]:
    """The cost of each start, by command. One start of each goes before, for the caches' sake."""
    starts: dict[str, list[Cost]] = {name: [] for name in commands}
    for turn in range(repeats + 1):
        for name, argv in commands.items():
            cost = measure.run(argv, sample=False, timeout=60)
            if cost.exit_code:
                raise SystemExit(f"{name} ended with {cost.exit_code}:\n{cost.output}{cost.errors}")
            if turn:
                starts[name].append(cost)
    return starts


if __name__ == "__main__":
    main()
