"""Where a unit's texts lie on disk: as systemd finds them, which is asked where it is installed."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from knowngood.node.ground import Problem
from knowngood.node.unitfiles import UnitFiles, dropin_names

ETC, RUN, USR = "etc/systemd/system", "run/systemd/system", "usr/lib/systemd/system"


def plant(root: Path, *paths: str) -> None:
    """Files by path; `path -> target` is a link."""
    for each in paths:
        path, _, target = each.partition(" -> ")
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if target:
            file.symlink_to(target)
        else:
            file.write_text(
                "[Service]\nExecStart=/bin/true\n" if path.endswith(".service") else "[Service]\n"
            )


def found(root: Path, unit: str, *aliases: str) -> tuple[str | None, list[str]]:
    files = UnitFiles(unit, aliases, os.fsencode(root))
    return (
        None if files.fragment is None else str(Path(os.fsdecode(files.fragment)).relative_to(root)),
        [str(Path(os.fsdecode(path)).relative_to(root)) for path in files.dropins()],
    )


def test_the_first_folder_of_the_search_path_has_the_fragment(tmp_path: Path) -> None:
    plant(tmp_path, f"{USR}/a.service", f"{ETC}/a.service", f"{RUN}/a.service")
    assert found(tmp_path, "a.service") == (f"{ETC}/a.service", [])


def test_no_such_unit(tmp_path: Path) -> None:
    assert found(tmp_path, "a.service") == (None, [])


def test_drop_ins_merge_by_name_whatever_their_folder(tmp_path: Path) -> None:
    plant(tmp_path, f"{USR}/a.service.d/20.conf", f"{RUN}/a.service.d/10.conf", f"{ETC}/a.service.d/30.conf")
    plant(
        tmp_path, f"{ETC}/a.service.d/zz.txt", f"{ETC}/a.service.d/.hidden.conf", f"{ETC}/a.service.d/Z.conf"
    )
    assert found(tmp_path, "a.service")[1] == [
        f"{RUN}/a.service.d/10.conf",
        f"{USR}/a.service.d/20.conf",
        f"{ETC}/a.service.d/30.conf",
        f"{ETC}/a.service.d/Z.conf",
    ]


def test_one_name_counts_once_from_the_first_folder(tmp_path: Path) -> None:
    plant(tmp_path, f"{USR}/a.service.d/x.conf", f"{ETC}/a.service.d/x.conf -> /dev/null")
    assert found(tmp_path, "a.service")[1] == [f"{ETC}/a.service.d/x.conf"]


def test_dashes_templates_and_the_type_have_folders_too(tmp_path: Path) -> None:
    plant(tmp_path, f"{ETC}/sgl-decode@.service", f"{ETC}/sgl-decode@.service.d/1.conf")
    plant(tmp_path, f"{ETC}/sgl-decode@0.service.d/2.conf", f"{ETC}/sgl-.service.d/3.conf")
    plant(
        tmp_path,
        f"{ETC}/sgl-@0.service.d/4.conf",
        f"{ETC}/service.d/5.conf",
        f"{ETC}/sgl-decode.service.d/6.conf",
    )
    fragment, dropins = found(tmp_path, "sgl-decode@0.service")
    assert fragment == f"{ETC}/sgl-decode@.service"
    assert [path[-6] for path in dropins] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("target", ["b.service", f"/{ETC}/b.service", f"/{USR}/b.service", "./b.service"])
def test_an_alias_leads_to_the_unit_and_both_names_have_drop_ins(tmp_path: Path, target: str) -> None:
    plant(tmp_path, f"{ETC}/b.service", f"{USR}/b.service", f"{ETC}/a.service -> {target}")
    plant(tmp_path, f"{ETC}/a.service.d/x.conf", f"{ETC}/b.service.d/y.conf", f"{ETC}/c.service.d/z.conf")
    assert found(tmp_path, "a.service", "c.service") == (
        f"{ETC}/b.service",
        [f"{ETC}/a.service.d/x.conf", f"{ETC}/b.service.d/y.conf", f"{ETC}/c.service.d/z.conf"],
    )


def test_a_link_out_of_the_search_path_is_the_file_itself(tmp_path: Path) -> None:
    plant(tmp_path, "opt/other.service", f"{ETC}/a.service -> {tmp_path}/opt/other.service")
    assert found(tmp_path, "a.service")[0] == f"{ETC}/a.service"


def test_aliases_in_a_circle_are_told(tmp_path: Path) -> None:
    plant(tmp_path, f"{ETC}/a.service -> b.service", f"{ETC}/b.service -> a.service")
    with pytest.raises(Problem, match="circle"):
        found(tmp_path, "a.service")


def test_the_names_that_a_unit_has_drop_ins_under() -> None:
    assert list(dropin_names(b"foo-bar-baz.service")) == [
        b"foo-bar-baz.service",
        b"foo-bar-.service",
        b"foo-.service",
    ]
    assert list(dropin_names(b"-.slice")) == [b"-.slice"]


def everywhere(rng: random.Random, root: Path) -> str:
    """A tree with fragments, drop-ins and masks at random places; the unit to look for."""
    unit, names = rng.choice(
        [
            (
                "foo-bar-baz.service",
                ["foo-bar-baz.service", "foo-bar-.service", "foo-.service", "foo-bar.service"],
            ),
            (
                "foo-x@a.service",
                ["foo-x@a.service", "foo-x@.service", "foo-.service", "foo-@.service", "foo-@a.service"],
            ),
            ("plain.service", ["plain.service", "plain-.service"]),
        ]
    )
    plant(root, f"{USR}/{unit}")
    for folder in (ETC, RUN, USR, "etc/systemd/system.control", "usr/local/lib/systemd/system"):
        for name in rng.sample([*names, "service"], 3):
            for file in rng.sample(["10.conf", "20.conf", "zz.conf", "Z.conf", ".hidden.conf", "no.txt"], 2):
                plant(root, f"{folder}/{name}.d/{file}" + rng.choice(["", "", "", " -> /dev/null"]))
        if not (root / folder / unit).exists() and rng.random() < 0.3:
            plant(root, f"{folder}/{unit}")
    return unit


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
@pytest.mark.parametrize("seed", range(8))
def test_systemd_finds_the_same(tmp_path: Path, seed: int) -> None:
    unit = everywhere(random.Random(seed), tmp_path)
    told = subprocess.run(
        ["systemd-analyze", f"--root={tmp_path}", "verify", "--man=no", unit],
        env={**os.environ, "SYSTEMD_LOG_LEVEL": "debug"},
        capture_output=True,
        text=True,
        check=False,
    )
    paths = [
        line.partition(" Path: ")[2]
        for line in told.stdout.split("\n")
        if "\tFragment Path: " in line or "\tDropIn Path: " in line
    ]
    fragment, dropins = found(tmp_path, unit)
    assert paths, told.stderr
    assert [fragment, *dropins] == [str(Path(path).relative_to(tmp_path)) for path in paths]
