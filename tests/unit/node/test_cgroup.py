"""The unit's control group in each of the three hierarchies, as trees of files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from knowngood.node.cgroup import Cgroup
from knowngood.node.ground import Problem

UNIT = "/system.slice/a.service"


def plant(root: Path, **files: str) -> None:
    for path, text in files.items():
        file = root / path.replace("__", "/").replace("UNIT", UNIT[1:])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def group(root: Path, path: str = UNIT, main_pid: int = 0) -> Cgroup:
    return Cgroup(path, main_pid, os.fsencode(root))


@pytest.mark.parametrize("tree", ["", "unified/", "systemd/"])
def test_processes_in_v2_hybrid_and_v1(tmp_path: Path, tree: str) -> None:
    own = tmp_path / tree / UNIT[1:]
    (own / "sub" / "deep").mkdir(parents=True)
    (own / "cgroup.procs").write_text("30\n0\n10\n")
    (own / "sub" / "cgroup.procs").write_text("")
    (own / "sub" / "deep" / "cgroup.procs").write_text("20\n10\n")
    assert group(tmp_path).pids() == [10, 20, 30]  # 0 is a process outside of our namespace


def test_a_unit_without_a_group_has_no_process(tmp_path: Path) -> None:
    assert group(tmp_path, "").pids() == []


def test_a_group_that_is_not_found_is_no_proof_of_an_empty_unit(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="was not found"):
        group(tmp_path).pids()


def test_the_main_process_shows_a_group_that_systemd_names_otherwise(tmp_path: Path) -> None:
    own = Path("/proc/self/cgroup").read_text()
    path = next(
        line.split(":", 2)[2] for line in own.splitlines() if line.split(":")[1] in ("", "name=systemd")
    )
    (tmp_path / path[1:]).mkdir(parents=True, exist_ok=True)
    (tmp_path / path[1:] / "cgroup.procs").write_text("7\n")
    if path == "/":
        pytest.skip("this process is in the root group, which is no unit's")
    assert group(tmp_path, "/elsewhere", os.getpid()).pids() == [7]


def test_limits_of_v2(tmp_path: Path) -> None:
    plant(tmp_path, **{"UNIT__memory.max": "1073741824\n", "UNIT__memory.high": "max\n"})
    plant(tmp_path, **{"UNIT__cpu.max": "150000 100000\n", "UNIT__pids.max": "max\n"})
    assert group(tmp_path).limits() == {
        "MemoryMax": "1073741824",
        "MemoryHigh": "infinity",
        "CPUQuota": "150000 100000",
        "TasksMax": "infinity",
    }


def test_limits_of_v1(tmp_path: Path) -> None:
    plant(tmp_path, **{"memory__UNIT__memory.limit_in_bytes": "9223372036854771712\n"})
    plant(tmp_path, **{"cpu__UNIT__cpu.cfs_quota_us": "-1\n", "cpu__UNIT__cpu.cfs_period_us": "100000\n"})
    plant(tmp_path, **{"pids__UNIT__pids.max": "512\n"})
    assert group(tmp_path).limits() == {
        "MemoryMax": "infinity",
        "CPUQuota": "infinity 100000",
        "TasksMax": "512",
    }


def test_limits_that_no_file_shows_are_left_out(tmp_path: Path) -> None:
    assert group(tmp_path).limits() == {}


def test_without_a_quota_v2_says_max_with_a_period(tmp_path: Path) -> None:
    plant(tmp_path, **{"UNIT__cpu.max": "max 100000\n"})
    assert group(tmp_path).limits() == {"CPUQuota": "infinity 100000"}
