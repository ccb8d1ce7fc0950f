"""Which process of the unit serves: the outermost match that is no shell and no wrapper."""

from __future__ import annotations

from knowngood.model import Process, Unknown
from knowngood.observe.server import descendants, find_server

OVERWRITTEN = Unknown("overwritten by the process")


def process(pid: int, ppid: int, *argv: str, exe: str | None = None, unreadable: bool = False) -> Process:
    words = OVERWRITTEN if unreadable else argv
    return Process(pid, ppid, pid, pid * 10**9, exe, words, {}, {})


BASH = process(10, 1, "/bin/bash", "/root/serve.sh", exe="/usr/bin/bash")
LAUNCHER = process(11, 10, "python3", "-m", "sglang.launch_server", "--tp", "4", exe="/usr/bin/python3.11")
SCHEDULER = process(
    12, 11, "python3", "-c", "from multiprocessing.spawn import spawn_main", exe="/usr/bin/python3.11"
)


def pid(found: Process | Unknown) -> int | str:
    return found.reason if isinstance(found, Unknown) else found.pid


def test_a_script_without_exec_leaves_bash_as_the_main_process() -> None:
    assert pid(find_server((BASH, LAUNCHER, SCHEDULER), "sglang.launch_server", 10)) == 11


def test_the_obvious_server_needs_no_name() -> None:
    assert pid(find_server((BASH, LAUNCHER, SCHEDULER), None, 10)) == 11


def test_a_wrapper_is_seen_through() -> None:
    numactl = process(20, 1, "numactl", "--cpunodebind=0", "python3", "-m", "sglang.launch_server")
    server = process(21, 20, "python3", "-m", "sglang.launch_server", exe="/usr/bin/python3.11")
    assert pid(find_server((numactl, server), "sglang.launch_server", 20)) == 21


def test_a_shell_that_names_the_server_in_its_command_line_is_not_it() -> None:
    shell = process(30, 1, "bash", "-c", "python3 -m sglang.launch_server", exe="/usr/bin/bash")
    server = process(31, 30, "python3", "-m", "sglang.launch_server", exe="/usr/bin/python3.11")
    assert pid(find_server((shell, server), "sglang.launch_server", 30)) == 31


def test_the_outermost_of_two_matches_counts() -> None:
    worker = process(13, 11, "python3", "-m", "sglang.launch_server", "--worker", exe="/usr/bin/python3.11")
    assert pid(find_server((worker, LAUNCHER, BASH), "sglang.launch_server", 10)) == 11


def test_two_servers_side_by_side_are_told_apart_by_no_guess() -> None:
    prefill = process(
        40, 10, "python3", "-m", "sglang.launch_server", "--port", "1", exe="/usr/bin/python3.11"
    )
    decode = process(
        41, 10, "python3", "-m", "sglang.launch_server", "--port", "2", exe="/usr/bin/python3.11"
    )
    found = find_server((BASH, prefill, decode), "sglang.launch_server", 10)
    assert pid(found) == "several processes may be the server (pids 40, 41): name it with `server:`"
    assert pid(find_server((BASH, prefill, decode), "--port 2", 10)) == 41


def test_a_main_process_that_rewrote_its_command_line_is_still_the_server() -> None:
    titled = process(50, 1, exe="/usr/bin/python3.11", unreadable=True)
    child = process(51, 50, exe="/usr/bin/python3.11", unreadable=True)
    assert pid(find_server((titled, child), "sglang.launch_server", 50)) == 50


def test_no_match_is_told() -> None:
    other = process(60, 1, "nginx", exe="/usr/sbin/nginx")
    found = find_server((other,), "sglang.launch_server", 60)
    assert pid(found) == "no process of the unit has 'sglang.launch_server' in its command line"


def test_a_pipeline_into_tee() -> None:
    server = process(71, 10, "vllm", "serve", exe="/usr/bin/python3.11")
    tee = process(72, 10, "tee", "log", exe="/usr/bin/tee")
    assert pid(find_server((BASH, server, tee), None, 10)) == 71


def test_a_loop_of_parents_ends() -> None:
    one = process(80, 81, "a", exe="/a")
    two = process(81, 80, "b", exe="/b")
    assert pid(find_server((one, two), None, 99)) == "the unit runs only shells and wrappers"
    assert descendants(one, (one, two)) == [two]
