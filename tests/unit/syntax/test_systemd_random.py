"""Random units and drop-ins, as systemd-analyze reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from systemd_grammar import Grammar
from systemd_oracle import FOLDER, WHY_NOT, ask, disagreements

from knowngood.syntax.systemd import order_dropins, read_unit

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)


def random_units(seed: int, count: int) -> dict[str, list[tuple[str, bytes]]]:
    """Units by name, each with its fragment and up to two drop-ins."""
    grammar = Grammar(seed)
    units = {}
    for number in range(count):
        name = f"u-x{number}@in-st{number}.service" if number % 3 == 0 else f"u-{number}-y.service"
        dropins = [grammar.dropin() for _ in range(number % 3)]
        files = [(f"{FOLDER}/{name}.d/{index}.conf", text) for index, text in enumerate(dropins)]
        units[name] = [(f"{FOLDER}/{name}", grammar.unit()), *files]
    return units


@pytest.mark.parametrize("seed", range(3))
def test_random_units_are_read_as_systemd_reads_them(seed: int, tmp_path: Path) -> None:
    units = random_units(seed, 150)
    verdict = ask(tmp_path, units)
    wrong = {}
    for name, files in units.items():
        of_unit = {path: lines for path, lines in verdict.complaints.items() if f"/{name}" in path}
        found = disagreements(read_unit(name, files[0], files[1:]), verdict.loaded.get(name), of_unit)
        if found:
            wrong[name] = (files, found)
    assert wrong == {}
    assert len(verdict.loaded) > 75


PLACES = ["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system"]


@pytest.mark.parametrize(
    "unit", ["a-b-c.service", "a-b@i-j.service", "a-.service", "a.service", "-a-b.service"]
)
def test_dropins_are_merged_in_systemds_order(unit: str, tmp_path: Path) -> None:
    folders = [
        "a-b-c.service.d",
        "a-b-.service.d",
        "a-.service.d",
        "service.d",
        "a-b@.service.d",
        "a-b@i-j.service.d",
    ]
    folders += [
        "a-@i-j.service.d",
        "a-@.service.d",
        "a.service.d",
        "-a-b.service.d",
        "-.service.d",
        "-a-.service.d",
    ]
    paths = [
        f"{place}/{folder}/{name}"
        for index, place in enumerate(PLACES)
        for number, folder in enumerate(folders)
        for name in (f"{index}{number}.conf", f"5{number % 4}.conf", "all.conf", "x.txt", ".hidden.conf")
    ]
    fragment = (f"{FOLDER}/{unit}", b"[Service]\nExecStart=/bin/true\n")
    verdict = ask(tmp_path, {unit: [fragment, *((path, b"[Service]\nNice=1\n") for path in paths)]})
    told = [path.removeprefix(str(tmp_path)) for path in verdict.loaded[unit].dump["DropIn Path"]]
    assert order_dropins(paths, unit) == told
    assert order_dropins(reversed(paths), unit) == told
