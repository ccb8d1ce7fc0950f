"""A plan tells what each drift calls for, and leaves the node as it was to the byte."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Cli, Run
from .contents import DROPINS, KERNEL, SCRIPT, UNIT
from .faults.knobs import SECRETS
from .fleet import Fleet

CTAS = "env:SGLANG_SM120_MMA_TARGET_CTAS"
NOFILE = "systemd:Service.LimitNOFILE"
OURS = f"{DROPINS}/zz-knowngood.conf"
LOOKED_AT = "/etc /root /var/lib/knowngood /run/systemd /srv /usr/local"


def state_of(fleet: Fleet, host: str) -> str:
    """Everything that a change could change: contents, attributes, times; the unit, its process."""
    files = f"find {LOOKED_AT} -xdev ! -type d -printf '%p %m %u %g %s %T@ %C@ %l\\n' 2>/dev/null | sort"
    hashes = f"find {LOOKED_AT} -xdev -type f -exec sha256sum {{}} + 2>/dev/null | sort"
    unit = f"systemctl show {UNIT} --property=InvocationID,ActiveState,UnitFileState,NeedDaemonReload"
    return hashlib.sha256(
        "".join(fleet[host].run(f"{command} || true").stdout for command in (files, hashes, unit)).encode()
    ).hexdigest()


def node(run: Run, host: str = "decode-02") -> dict[str, Any]:
    (found,) = [entry for entry in run.report["nodes"] if entry["host"] == host]
    assert isinstance(found, dict)
    return found


def told(entry: dict[str, Any], part: str) -> list[str]:
    return [each["what"] for each in entry[part]]


def test_a_clean_fleet_has_nothing_to_do(knowngood: Cli) -> None:
    run = knowngood("plan", "--json")
    assert (run.exit_code, run.report["waves"]) == (0, [])
    assert {entry["status"] for entry in run.report["nodes"]} == {"in_sync"}


# fault → paths that are written, what systemd is told of, what the restart is for, what is in the way
PLANS: dict[str, tuple[list[str], list[str], list[str], list[str]]] = {
    "knob-restored": ([], [], [CTAS], []),
    "kernel-edited": ([KERNEL, OURS], [OURS], [f"file:{KERNEL}"], []),
    "kernel-live": ([KERNEL, OURS], [OURS], [f"file:{KERNEL}"], []),
    "kernel-restored-old-mtime": ([], [], [f"file:{KERNEL}"], []),
    "kernel-stale-pyc": ([KERNEL, OURS], [OURS], [f"file:{KERNEL}"], []),
    "kernel-chmod": ([KERNEL], [], [], []),
    "kernel-owner": ([KERNEL], [], [], []),
    "kernel-missing": ([KERNEL, OURS], [OURS], [f"file:{KERNEL}"], []),
    "dropin-nofile": ([OURS], [OURS], [], [NOFILE]),
    "dropin-nofile-restarted": ([OURS], [OURS], [NOFILE], [NOFILE]),
    "dropin-mended-not-reloaded": ([], [NOFILE], [], []),
    "environment-in-dropin": ([], [], [], []),
    "no-exec": ([], [], [], []),
    "unit-missing": ([], [], [], ["unit:active"]),
    "unit-masked": ([], [], [], ["unit:active"]),
}


@pytest.mark.parametrize("fault", PLANS)
def test_what_a_fault_calls_for(knowngood: Cli, broken: Any, fleet: Fleet, fault: str) -> None:
    written, reload, restart, blockers = PLANS[fault]
    broken(fault, "decode-02")
    before = state_of(fleet, "decode-02")
    run = knowngood("plan", "--json")
    assert state_of(fleet, "decode-02") == before
    entry = node(run)
    assert [change["path"] for change in entry["changes"]] == written, run.stdout
    assert (told(entry, "restart"), told(entry, "blockers")) == (restart, blockers), run.stdout
    assert told(entry, "reload")[: len(reload)] == reload
    due = bool(written or reload or restart or blockers)
    assert run.exit_code == int(due)
    assert node(run, "decode-03")["status"] == "in_sync"
    # decode-01 is of the same pod: it restarts along, or is held back along.
    assert bool(node(run, "decode-01")["restart"]) == bool(restart)


def test_a_stopped_unit_is_started_only_on_request(knowngood: Cli, broken: Any) -> None:
    broken("unit-stopped", "decode-02")
    run = knowngood("plan", "--json")
    assert (run.exit_code, told(node(run), "start"), node(run)["changes"]) == (1, ["unit:active"], [])


def test_a_unit_that_would_not_start_at_boot_is_enabled(knowngood: Cli, broken: Any) -> None:
    broken("unit-disabled", "decode-02")
    run = knowngood("plan", "--json")
    assert (node(run)["enable"], node(run)["changes"], node(run)["restart"]) == (True, [], [])


def test_a_node_that_is_off_holds_its_pod_and_is_no_reason_to_change_anything(
    knowngood: Cli, broken: Any
) -> None:
    broken("node-off", "decode-02")
    run = knowngood("plan", "--json", "--connect-timeout", "3")
    assert (run.exit_code, node(run)["status"]) == (3, "unreachable")


def test_the_waves_and_the_screen(knowngood: Cli, broken: Any, tmp_path: Path) -> None:
    broken("kernel-edited", "decode-03")
    saved = tmp_path / "plan.json"
    run = knowngood("plan", "--out", str(saved))
    assert run.exit_code == 1
    assert "wave 1 (canary): decode-03\n1 due · 2 in sync\n" in run.stdout
    assert "gate: http://" in run.stdout
    document = json.loads(saved.read_text())
    assert document["waves"] == [{"manifest": "dsv4-decode", "kind": "canary", "hosts": ["decode-03"]}]
    assert document["manifests"][0]["content"]


def test_planted_secrets_are_nowhere(knowngood: Cli, broken: Any, tmp_path: Path) -> None:
    broken("secrets-planted", "decode-02")
    broken("kernel-edited", "decode-02")
    saved = tmp_path / "plan.json"
    for words in (["--json"], ["-vv"], ["--out", str(saved)]):
        run = knowngood("plan", *words)
        assert run.exit_code == 1
        assert not any(secret in run.stdout + run.stderr for secret in SECRETS)
    assert not any(secret in saved.read_text() for secret in SECRETS)


def test_a_plan_that_cannot_be_saved(knowngood: Cli, tmp_path: Path) -> None:
    run = knowngood("plan", "--out", str(tmp_path / "no" / "plan.json"))
    assert run.exit_code == 2
    assert "can't be saved" in run.stderr


EXPORT = f"export {CTAS[4:]}="


@pytest.mark.parametrize(
    ("fault", "changed"),
    [
        ("knob-live", [f"-{EXPORT}256", f"+{EXPORT}512"]),
        ("three-values", [f"-{EXPORT}256", f"+{EXPORT}512"]),
        ("knob-twice", [f"-{EXPORT}256"]),
        ("forbidden-knob", ["-export NCCL_DEBUG=INFO"]),
        ("flag-equals-other", ["-  --tp=2 \\", "+  --tp=4 \\"]),
    ],
)
def test_a_script_is_edited_at_its_place_alone(
    knowngood: Cli, broken: Any, fault: str, changed: list[str]
) -> None:
    broken(fault, "decode-02")
    run = knowngood("plan", "--json")
    entry = node(run)
    assert entry["blockers"] == [], run.stdout
    script, ours = entry["changes"]
    assert (script["path"], ours["path"]) == (SCRIPT, OURS)
    assert [line for line in script["diff"][2:] if line[0] in "+-"] == changed
    assert len(entry["restart"]) == 1


def test_a_knob_on_disk_alone_is_written_and_restarts_nothing(knowngood: Cli, broken: Any) -> None:
    broken("knob-on-disk", "decode-02")
    run = knowngood("plan", "--json")
    assert [change["path"] for change in node(run)["changes"]] == [SCRIPT, OURS]
    assert node(run)["restart"] == []
    assert node(run, "decode-01")["status"] == "in_sync"


def test_a_lost_flag_comes_back(knowngood: Cli, broken: Any) -> None:
    broken("flag-lost", "decode-02")
    entry = node(knowngood("plan", "--json"))
    assert told(entry, "restart") == ["arg:--disable-overlap-schedule"]
    assert any(
        line.startswith("+") and "--disable-overlap-schedule" in line for line in entry["changes"][0]["diff"]
    )
