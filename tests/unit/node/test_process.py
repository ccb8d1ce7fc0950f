"""Real processes as the probe sees them: words, knobs, limits, times, and what they did to themselves."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from knowngood.node.ground import Round
from knowngood.node.process import Asked, processes
from knowngood.node.seals import Argv, Seals
from knowngood.syntax.secrets import MASK, SECRETIVE_PATTERN, digest

NONCE = b"nonce"
SLEEP = [sys.executable, "-I", "-S", "-c", "import time; print(flush=True); time.sleep(60)"]
# What setproctitle does: a title over argv and, where it is long, on into the environment; the rest zeroed.
TITLED = """
import ctypes, sys, time
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
start, end = int(fields[45]), int(fields[48])
title = sys.argv[1].encode()
ctypes.memset(start, 0, end - start)
ctypes.memmove(start, title, len(title))
print(flush=True)
time.sleep(60)
"""
Start = Callable[..., int]


@pytest.fixture
def start() -> Iterator[Start]:
    running = []

    def run(argv: list[str], env: dict[str, str] | None = None, **how: Any) -> int:
        process = subprocess.Popen(argv, env=env or {}, stdout=subprocess.PIPE, **how)
        assert process.stdout is not None
        running.append(process)
        process.stdout.readline()  # it says that it is up
        return process.pid

    yield run
    for process in running:
        process.kill()
        process.communicate()


def look(*pids: int, env: dict[str, bool] | None = None, turn: Round | None = None) -> list[dict[str, Any]]:
    seals = Seals(NONCE, SECRETIVE_PATTERN, ["token", "key"], MASK)
    asked = Asked(env or {}, Argv(seals, ["--hf-token"], []), seals)
    return processes(list(pids), asked, turn or Round(10, 1 << 20))


def test_who_it_is(start: Start) -> None:
    began = time.time_ns()
    pid = start(SLEEP)
    (told,) = look(pid)
    assert (told["pid"], told["ppid"]) == (pid, os.getpid())
    assert told["exe"] == os.path.realpath(sys.executable)
    assert told["argv"] == {"value": SLEEP}
    assert abs(told["started_ns"] - began) < 2 * 10**9
    assert told["start_ticks"] > 0


def test_knobs_hold_any_byte_but_nul(start: Start) -> None:
    env = {"A": "line\nX=2", "B": "", "C": "\udcff=", "OTHER": "stays"}
    (told,) = look(start(SLEEP, env), env={"A": False, "B": False, "C": False, "MISSING": False})
    assert told["environ"] == {"values": {"A": "line\nX=2", "B": "", "C": "\udcff="}, "missing": None}


def test_secrets_leave_as_digests_and_masks_alone(start: Start) -> None:
    env = {"HF_TOKEN": "hf_declared", "OTHER_TOKEN": "tk_undeclared"}
    argv = [*SLEEP, "--hf-token", "hf_declared", "--api-key=abc", "--header=x tk_undeclared y"]
    (told,) = look(start(argv, env), env={"HF_TOKEN": True})
    sealed = digest(NONCE, "hf_declared")
    assert told["environ"]["values"] == {"HF_TOKEN": sealed}
    assert told["argv"]["value"][5:] == ["--hf-token", sealed, f"--api-key={MASK}", f"--header=x {MASK} y"]


def test_the_folder_it_runs_in_is_no_secret_whatever_its_name(start: Start) -> None:
    (told,) = look(start([*SLEEP, "/srv/models/x"], {"PWD": "/srv/models"}))
    assert told["argv"]["value"][-1] == "/srv/models/x"


def test_what_it_runs_under(start: Start) -> None:
    def prepare() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(7)
        os.umask(0o027)

    (told,) = look(start(SLEEP, cwd="/usr", preexec_fn=prepare))
    traits = told["traits"]
    assert (traits["LimitNOFILE"], traits["LimitCORE"], traits["LimitAS"]) == (
        "100:200",
        "0:0",
        "infinity:infinity",
    )
    assert (traits["UMask"], traits["WorkingDirectory"]) == ("0027", "/usr")
    assert int(traits["Nice"]) == os.nice(0) + 7
    assert traits["CPUAffinity"]
    assert traits["OOMScoreAdjust"].lstrip("-").isdigit()
    assert {"User", "Group"} <= set(traits)


@pytest.mark.parametrize("title", ["short", "nginx: worker process", "long" * 100])
def test_a_process_that_set_a_title_is_unknown_and_not_without_knobs(start: Start, title: str) -> None:
    env = {"A": "1", "PAD": "x" * 1000}
    (told,) = look(start([sys.executable, "-I", "-S", "-c", TITLED, title], env), env={"A": False})
    assert told["argv"] == {"error": "overwritten by the process"}
    assert told["environ"] == {"error": "overwritten by the process"}


def test_an_environment_that_is_really_empty(start: Start) -> None:
    (told,) = look(start(["/bin/sh", "-c", "echo; exec sleep 60"], {}), env={"PATH": False})
    assert told["environ"]["missing"] is None


def test_processes_that_are_gone_or_dead_are_left_out(start: Start) -> None:
    dead = subprocess.Popen(["true"])  # and not waited for: a zombie
    time.sleep(0.2)
    pid = start(SLEEP)
    assert [told["pid"] for told in look(dead.pid, pid, 2**22 + 1)] == [pid]
    dead.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give it up")
def test_what_we_may_not_read_is_told_source_by_source(start: Start) -> None:
    pid = start(SLEEP, {"A": "1"})
    os.seteuid(65534)
    try:
        (told,) = look(pid, env={"A": False})
    finally:
        os.seteuid(0)
    assert told["environ"] == {"error": "not permitted (asked as uid 65534)"}
    assert told["argv"] == {"value": SLEEP}
    assert told["exe"] is None
    assert "WorkingDirectory" not in told["traits"]
    assert "LimitNOFILE" in told["traits"]


def test_many_words_are_too_many(start: Start) -> None:
    (told,) = look(start([*SLEEP, *["x" * 1000] * 200]))
    assert told["argv"]["error"].startswith("too large: 200")
