#!/usr/bin/env python3
"""What it costs to compare 1,000 nodes × 200 settings, once their answers are in.

Judges made-up nodes of which none, some or many settings drift, with the code that `knowngood drift` judges
with; no node is asked and nothing is printed per node. See README.md here.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from pathlib import Path

import measure
import table
import tools_venv

if __name__ == "__main__":
    tools_venv.move_in()

from knowngood.drift.judge import judge
from knowngood.drift.wanted import wanted
from knowngood.model import (
    Desired,
    DesiredFile,
    HostResult,
    Known,
    Observation,
    Occurrences,
    Plain,
    Seen,
    Setting,
    UnitState,
    Value,
)

SHARES = (0.0, 0.01, 0.5)  # of the settings that drift
LIMIT = 2.0  # CPU seconds
NONCE = b"compare"
LAYERS = {  # as the reader of a node's answer fills them
    "unit": ("running",),
    "mode": ("disk",),
    "owner": ("disk",),
    "group": ("disk",),
    "file": ("disk", "running"),
    "env": ("disk", "running"),
    "arg": ("disk", "running"),
    "systemd": ("disk", "loaded", "running"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1000, help="(%(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers there too")
    parser.add_argument("--check", action="store_true", help="exit 1 when the limit is exceeded")
    options = parser.parse_args()
    machine = table.machine()

    rows, results, targets = [], {}, []
    for share in SHARES:
        fleet = make_fleet(options.nodes, share)
        settings = len(wanted(fleet[0][0], NONCE))
        found = sum(len(result.findings) for result in judge_all(fleet))
        times = sorted(measure.cpu_of(judge_all, fleet) for _ in range(options.repeats))
        middle = times[len(times) // 2]
        name = f"{share:.0%} of the settings drift"
        per_node = middle / options.nodes
        rows.append([name, found, middle, per_node * 1000, per_node / settings * 1e6])
        results[name] = {"settings": settings, "findings": found, "cpu": times}
        targets.append(table.Target(f"CPU, {name}", middle, LIMIT, " s"))
    title = f"comparing {options.nodes:,} nodes × {settings} settings, median of {options.repeats}"
    table.show(title, ["", "findings", "CPU s", "ms/node", "µs/setting"], rows)
    met = table.show_targets(targets)
    if options.json:
        table.write_json(options.json, {"machine": machine, "comparisons": results}, targets)
    sys.exit(1 if options.check and not met else 0)


def judge_all(fleet: list[tuple[Desired, Observation, Seen]]) -> list[HostResult]:
    return [judge(desired, observation, seen) for desired, observation, seen in fleet]


def make_fleet(nodes: int, share: float) -> list[tuple[Desired, Observation, Seen]]:
    """What was wanted of each node and seen there; of `share` of the settings some layer differs."""
    chance = random.Random(1)
    fleet = []
    for number in range(nodes):
        host = f"decode-{number:04}"
        unit = UnitState("decode.service", "loaded", "active", "running", "enabled", 1, 0, False, "")
        observation = Observation(host, unit, (), nonce=NONCE)
        # What was seen is made from a Desired of its own, so that equal texts are not the same objects.
        fleet.append((make_desired(host), observation, make_seen(make_desired(host), share, chance)))
    return fleet


def make_desired(host: str) -> Desired:
    """200 settings: active, enabled, 20 files of four settings each, 55 knobs, 55 flags, 8 directives."""
    return Desired(
        manifest="decode",
        host=host,
        unit="decode.service",
        enabled=True,
        files=tuple(
            DesiredFile(f"/srv/kernels/{n}.py", f"{n:064x}", f"/state/{n}.py", "0644", "root", "root")
            for n in range(20)
        ),
        env={f"SGLANG_KNOB_{n}": Known(str(n * 8)) for n in range(55)},
        args={f"--flag-{n}": Known(_words(n)) for n in range(55)},
        directives={f"Service.{name}": (text,) for name, text in DIRECTIVES.items()},
    )


DIRECTIVES = {
    "LimitNOFILE": "16384",
    "LimitMEMLOCK": "infinity",
    "Nice": "1",
    "OOMScoreAdjust": "-500",
    "Restart": "always",
    "TimeoutStopSec": "90s",
    "UMask": "0027",
    "WorkingDirectory": "/srv",
}


def _words(number: int) -> Occurrences:
    """Bare flags, values, a list of six words and a JSON object, as command lines have them."""
    kinds = ((), (str(number),), tuple("124816"), (f'{{"layers": [1, 2], "tokens": {number}}}',))
    return Occurrences((kinds[(0, 1, 1, 1, 1, 1, 1, 1, 2, 3)[number % 10]],))


def make_seen(desired: Desired, share: float, chance: random.Random) -> Seen:
    maps: dict[str, dict[Setting, Value]] = {"disk": {}, "loaded": {}, "running": {}}
    for setting, value in wanted(desired, NONCE).items():
        layers = LAYERS[setting.kind]
        differing = _some_of(layers, chance) if setting.kind != "unit" and chance.random() < share else ()
        for layer in layers:
            maps[layer][setting] = _other(value) if layer in differing else value
    return Seen(disk=maps["disk"], loaded=maps["loaded"], running=maps["running"])


def _some_of(layers: tuple[str, ...], chance: random.Random) -> tuple[str, ...]:
    choices = [some for size in range(1, len(layers) + 1) for some in itertools.combinations(layers, size)]
    return chance.choice(choices)


def _other(value: Value) -> Value:
    assert isinstance(value, Known)
    plain: Plain = value.value
    if isinstance(plain, str):
        return Known(plain + "0")
    words = plain.words[0]
    changed = (words[0].replace("1", "3").replace("tokens", "token"), *words[1:]) if words else ("on",)
    return Known(Occurrences(((*changed, "extra") if changed == words else changed,)))


if __name__ == "__main__":
    main()
