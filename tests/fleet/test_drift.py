"""Each way a node can part from its manifest gives exactly these findings, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Cli

CTAS = "env:SGLANG_SM120_MMA_TARGET_CTAS"
KERNEL = "/root/venv/lib/python3.11/site-packages/sglang/srt/layers/attention/flash_mla_sm120_triton.py"
NOFILE = "systemd:Service.LimitNOFILE"
KNOBS = (CTAS, "env:SGLANG_OPT_USE_MULTI_STREAM_OVERLAP", "env:NCCL_DEBUG")
FLAGS = tuple(
    "arg:" + flag
    for flag in (
        "--host --tp --dist-init-addr --mem-fraction-static --cuda-graph-bs "
        "--disable-overlap-schedule --enable-mixed-chunk"
    ).split()
)

# fault → its findings; the exit code is 1 where there is one, and 0 where there is none
DRIFT: dict[str, set[tuple[str, str]]] = {
    "knob-on-disk": {(CTAS, "edited_on_disk")},
    "knob-live": {(CTAS, "edited_and_live")},
    "knob-restored": {(CTAS, "restart_pending")},
    "knob-restored-cp-p": {(CTAS, "restart_pending")},
    "three-values": {(CTAS, "split")},
    "knob-in-comment-only": {(CTAS, "edited_and_live")},
    "knob-in-comment-on-disk": {(CTAS, "edited_on_disk")},
    "knob-twice": {(CTAS, "edited_and_live")},
    "forbidden-knob": {("env:NCCL_DEBUG", "edited_and_live")},
    "flag-lost": {("arg:--disable-overlap-schedule", "edited_and_live")},
    "flag-equals-other": {("arg:--tp", "edited_and_live")},
    "flag-equals-same": set(),
    "no-exec": set(),
    "kernel-edited": {(f"file:{KERNEL}", "edited_on_disk")},
    "kernel-live": {(f"file:{KERNEL}", "edited_and_live")},
    "kernel-restored-old-mtime": {(f"file:{KERNEL}", "restart_pending")},
    "kernel-stale-pyc": {(f"file:{KERNEL}", "edited_on_disk")},
    "kernel-chmod": {(f"mode:{KERNEL}", "edited_on_disk")},
    "kernel-owner": {(f"owner:{KERNEL}", "edited_on_disk")},
    "kernel-missing": {(f"file:{KERNEL}", "edited_on_disk")},
    "dropin-nofile": {(NOFILE, "edited_on_disk")},
    "dropin-nofile-reloaded": {(NOFILE, "edited_on_disk")},
    "dropin-nofile-restarted": {(NOFILE, "edited_and_live")},
    "dropin-mended-not-reloaded": {(NOFILE, "reload_pending")},
    "environment-in-dropin": set(),
    "unit-stopped": {("unit:active", "stopped")},
    "unit-missing": {("unit:active", "stopped")},
    "unit-disabled": {("unit:enabled", "edited_on_disk")},
    "titles-keep-environ": set(),
    "server-never-healthy": set(),
    "generation-hangs": set(),
    "shell-greets": set(),
}


def test_a_clean_fleet_is_in_sync(knowngood: Cli) -> None:
    run = knowngood("drift", "--json")
    assert (run.exit_code, run.statuses()) == (
        0,
        dict.fromkeys(("decode-01", "decode-02", "decode-03"), "in_sync"),
    )


@pytest.mark.parametrize("fault", DRIFT)
def test_a_fault_gives_exactly_its_findings(knowngood: Cli, broken: Any, fault: str) -> None:
    broken(fault, "decode-02")
    run = knowngood("drift", "--json")
    assert run.findings("decode-02") == DRIFT[fault], run.stdout
    drifted = bool(DRIFT[fault])
    assert run.exit_code == int(drifted) == run.report["exit_code"]
    assert run.statuses() == {
        "decode-01": "in_sync",
        "decode-02": "drifted" if drifted else "in_sync",
        "decode-03": "in_sync",
    }


def test_environ_zeroed_everywhere_is_not_called_missing(knowngood: Cli, broken: Any) -> None:
    broken("environ-zeroed", "decode-02")
    run = knowngood("drift", "--json")
    assert run.exit_code == 3
    assert run.statuses()["decode-02"] == "incomplete"
    assert run.findings("decode-02") == {(knob, "unknown") for knob in KNOBS}
    for finding in run.report["hosts"][1]["findings"]:
        assert finding["running"]["state"] == "unknown"
        assert "overwritten" in finding["running"]["reason"]


def test_a_server_with_a_title_keeps_its_flags_to_itself(knowngood: Cli, broken: Any) -> None:
    """Its argv and environ are gone; a child of it still has the environ."""
    broken("launcher-titled", "decode-02")
    run = knowngood("drift", "--json")
    assert run.exit_code == 3
    assert run.findings("decode-02") == {(setting, "unknown") for setting in FLAGS}


@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        ("sshd-dead", "unreachable", "connection refused"),
        ("sshd-hung", "unreachable", "no answer"),
        ("key-refused", "unreachable", "key refused"),
        ("host-key-changed", "unreachable", "host key changed"),
        ("shell-hung", "unreachable", "within 8 s"),
        ("shell-floods", "incomplete", "more than"),
        ("node-off", "unreachable", "connection refused"),
        ("python-missing", "incomplete", "python3"),
        ("python-broken", "incomplete", "python3"),
        ("python-floods", "incomplete", "more than"),
        ("python-hangs", "unreachable", "within 8 s"),
        ("python-talks-nonsense", "incomplete", ""),
    ],
)
def test_a_node_that_cannot_be_observed(
    knowngood: Cli, broken: Any, fault: str, status: str, reason: str
) -> None:
    broken(fault, "decode-02")
    run = knowngood("drift", "--json", "--timeout", "8", "--connect-timeout", "3")
    assert run.exit_code == 3
    assert run.statuses() == {"decode-01": "in_sync", "decode-02": status, "decode-03": "in_sync"}
    assert reason in run.error("decode-02")
    assert run.findings("decode-02") == set()
    assert run.report["duration_s"] < 12
