"""The node's transaction on real nodes: a change comes whole and is confirmed, or the node goes back."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from knowngood.observe.node_program import receipt_hook

from .contents import DROPINS, KERNEL, SCRIPT, UNIT
from .fleet import Fleet
from .mend import mend
from .node import Node
from .transactions import Program, kernel_with, read, script_with
from .waits import until

KNOB = "SGLANG_SM120_MMA_TARGET_CTAS"
DROPIN = f"{DROPINS}/zz-knowngood.conf"
TEXT = f"[Service]\nLimitNOFILE=15000\n{receipt_hook()}\n".encode()


@pytest.fixture
def node(fleet: Fleet) -> Iterator[Node]:
    """A node that is as new again after the test."""
    yield fleet["decode-01"]
    mend(fleet["decode-01"])


@pytest.fixture
def program(node: Node) -> Program:
    made = Program(node)
    assert made.lock()["ok"]
    return made


def knob(node: Node) -> str:
    return str(node.wait_until_healthy()["knobs"][KNOB])


def leftovers(node: Node) -> str:
    return node.run(
        "find / -xdev -name '.knowngood-*' 2>/dev/null; systemctl list-units --no-legend 'knowngood-re*'"
    ).stdout


def test_a_change_comes_whole_runs_and_is_confirmed(node: Node, program: Program) -> None:
    script, kernel = script_with(node, **{KNOB: "256"}), kernel_with(node, "new")
    answer = program.activate({SCRIPT: script, KERNEL: kernel, DROPIN: TEXT})
    assert (answer["ok"], answer["state"]) == (True, "active"), answer
    assert knob(node) == "256"
    assert (read(node, SCRIPT), read(node, KERNEL), read(node, DROPIN)) == (script, kernel, TEXT)
    assert node.run(f"systemctl show -P LimitNOFILE {UNIT}").stdout == "15000\n"
    confirmed = program.call("confirm", generation=answer["generation"])
    assert (confirmed["ok"], confirmed["state"]) == (True, "confirmed")
    assert leftovers(node) == ""
    assert program.call("status")["current"]["dsv4-decode"]["confirmed"] == answer["generation"]


def test_what_each_start_loaded_is_on_record_also_for_starts_by_others(node: Node, program: Program) -> None:
    kernel = kernel_with(node, "new")
    program.call("confirm", generation=program.activate({KERNEL: kernel, DROPIN: TEXT})["generation"])
    node.restart()
    invocation = node.run(f"systemctl show -P InvocationID {UNIT}").stdout.strip()
    receipt = json.loads(node.run(f"cat /var/lib/knowngood/receipts/{UNIT}/{invocation}.json").stdout)
    found = node.run(f"stat -c %s '{KERNEL}'; sha256sum <'{KERNEL}'").stdout.split()
    assert receipt["invocation_id"] == invocation
    assert [str(receipt["files"][KERNEL]["size"]), receipt["files"][KERNEL]["sha256"]] == found[:2]


def test_no_receipt_can_stop_a_start(node: Node, program: Program) -> None:
    program.call("confirm", generation=program.activate({DROPIN: TEXT})["generation"])
    node.run("rm /var/lib/knowngood/bin/node.pyz; rm /usr/bin/python3")
    assert node.restart()["pid"]


def test_the_same_again_changes_nothing(node: Node, program: Program) -> None:
    files = {SCRIPT: script_with(node, **{KNOB: "256"}), DROPIN: TEXT}
    program.call("confirm", generation=program.activate(files)["generation"])
    pid, stat = node.wait_until_healthy()["pid"], node.run(f"stat -c '%i %Y %Z' {SCRIPT} {DROPIN}").stdout
    again = program.activate(files, restart=False)
    assert [each["step"] for each in again["steps"]] == ["stage", "arm", "rename", "read back", "active"]
    assert program.call("confirm", generation=again["generation"])["ok"]
    assert (node.wait_until_healthy()["pid"], node.run(f"stat -c '%i %Y %Z' {SCRIPT} {DROPIN}").stdout) == (
        pid,
        stat,
    )


# --- Refused before anything is touched --------------------------------------------------------------------


def untouched(node: Node, work: Callable[[], Any]) -> Any:
    """What `work` gives, where it changes neither file nor process."""
    files = "find /root /etc/systemd -type f ! -name '*.pyc' ! -name 'knowngood-boot*' -exec sha256sum {} +"
    before = node.run(files).stdout, node.wait_until_healthy()["pid"]
    given = work()
    assert (node.run(files).stdout, node.wait_until_healthy()["pid"]) == before
    return given


def test_an_edit_between_plan_and_activation_is_named_and_nothing_written(
    node: Node, program: Program
) -> None:
    wanted = program.set_of({SCRIPT: script_with(node, **{KNOB: "256"}), KERNEL: kernel_with(node, "new")})
    wanted["entries"][1]["expect"] = "0" * 64
    answer = untouched(node, lambda: program.call("activate", set=wanted, restart=True, follow_s=20))
    assert (answer["ok"], answer["paths"]) == (False, [KERNEL])
    assert "changed since it was looked at" in answer["reason"]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        pytest.param(f"mv {SCRIPT} /root/real; ln -s real {SCRIPT}", "is a symlink", id="symlink"),
        pytest.param(f"rm -r {DROPINS}; mkdir -p {DROPIN}", "is a directory", id="directory"),
        pytest.param(f"chattr +i {SCRIPT}", "immutable", id="immutable file"),
        pytest.param(
            f"mkdir -p {DROPINS}; mount -t tmpfs -o ro tmpfs {DROPINS}", "read-only", id="read-only"
        ),
        pytest.param(
            f"mkdir -p {DROPINS} && mount -t tmpfs -o size=4k x {DROPINS} && yes | head -c 4096 >{DROPINS}/x",
            "disk is full",
            id="full disk",
        ),
    ],
)
def test_what_can_not_be_replaced_leaves_all_as_it_is(
    node: Node, program: Program, spoil: str, reason: str
) -> None:
    script = script_with(node, **{KNOB: "256"})
    node.run(f"({spoil}) 2>&1", check="chattr" not in spoil)
    if "chattr" in spoil and "i" not in node.run(f"lsattr {SCRIPT}", check=False).stdout.partition(" ")[0]:
        pytest.skip("no immutable files on this file system")
    answer = untouched(node, lambda: program.activate({SCRIPT: script, DROPIN: TEXT}))
    node.run(f"chattr -i {SCRIPT}", check=False)
    assert not answer["ok"]
    assert reason in answer["reason"]
    assert leftovers(node) == ""


def test_a_tampered_store_changes_nothing(node: Node, program: Program) -> None:
    wanted = program.set_of({SCRIPT: script_with(node, **{KNOB: "256"})})
    node.run(f"echo evil >>/var/lib/knowngood/store/sha256/{wanted['entries'][0]['sha256']}")
    answer = untouched(node, lambda: program.call("activate", set=wanted, restart=True, follow_s=20))
    assert (answer["ok"], answer["state"]) == (False, "failed")
    assert "tampered" in answer["reason"]
    blob = {"sha256": wanted["entries"][0]["sha256"], "size": 5}
    assert program.call("need", blobs=[blob])["missing"] == [blob["sha256"]]


# --- The dead man's switch ---------------------------------------------------------------------------------


def test_without_a_word_the_node_goes_back_and_says_why(node: Node, program: Program) -> None:
    before = read(node, SCRIPT), knob(node)
    files = {SCRIPT: script_with(node, **{KNOB: "256"}), DROPIN: TEXT}
    answer = program.activate(files, confirm_within_s=8)
    assert answer["state"] == "active", answer
    until(lambda: program.state(answer["generation"]) == "restored", "the node to go back", 60)
    assert (read(node, SCRIPT), knob(node)) == before
    assert read(node, DROPIN) is None
    told = program.call("wait", generation=answer["generation"])
    assert (told["why"], told["error"]) == ("nobody confirmed it in time", None)
    assert not program.call("confirm", generation=answer["generation"])["ok"]
    assert leftovers(node) == ""
    refused = program.activate(files)
    assert "rolled back from here: nobody confirmed it in time" in refused["reason"]
    again = program.activate(files, again=True)
    assert program.call("confirm", generation=again["generation"])["ok"]
    assert program.call("status")["refused"] == []


def test_heartbeats_put_it_off(node: Node, program: Program) -> None:
    answer = program.activate({SCRIPT: script_with(node, **{KNOB: "256"})}, confirm_within_s=6)
    for _ in range(4):
        time.sleep(3)
        beat = program.call("heartbeat", generation=answer["generation"], confirm_within_s=20)
        assert (beat["ok"], beat["state"]) == (True, "active"), beat
    assert program.call("confirm", generation=answer["generation"])["ok"]
    assert knob(node) == "256"


def test_a_start_that_hangs_is_undone_in_time(node: Node, program: Program) -> None:
    hanging = b"[Service]\nExecStartPre=/bin/sleep 300\nTimeoutStartSec=600\n"
    answer = program.activate({DROPIN: hanging}, confirm_within_s=6, follow_s=1)
    assert answer["state"] == "live"
    until(lambda: program.state(answer["generation"]) == "restored", "the node to go back", 60)
    node.wait_until_healthy()
    assert read(node, DROPIN) is None


def test_a_start_that_systemd_calls_failed_is_undone_at_once(node: Node, program: Program) -> None:
    answer = program.activate({DROPIN: b"[Service]\nExecStartPre=/bin/false\nRestart=no\n"})
    assert (answer["ok"], answer["state"]) == (False, "restored"), answer
    assert "sglang-dsv4-decode.service did not start: failed (exit-code)" in answer["why"]
    node.wait_until_healthy()


def test_the_switch_fires_also_when_its_first_try_is_killed(node: Node, program: Program) -> None:
    answer = program.activate({SCRIPT: script_with(node, **{KNOB: "256"})}, confirm_within_s=4)
    number = answer["generation"]
    until(
        lambda: (
            node.run(f"systemctl is-active knowngood-revert-{number}.service", check=False).returncode == 0
        ),
        "it",
        20,
    )
    node.run(f"systemctl kill -s KILL knowngood-revert-{number}.service", check=False)
    until(lambda: program.state(number) == "restored", "the node to go back", 60)
    assert knob(node) != "256"


# --- Going back on somebody's word -------------------------------------------------------------------------


def test_a_red_gate_takes_it_back(node: Node, program: Program) -> None:
    answer = program.activate({SCRIPT: script_with(node, **{KNOB: "256"})})
    back = program.call("restore", why="the gate was red", follow_s=40)
    assert (back["state"], back["why"], back["error"]) == ("restored", "the gate was red", None), back
    assert knob(node) == "512"
    assert program.call("status")["refused"][0]["why"] == "the gate was red"
    assert back["generation"] == answer["generation"]


def test_an_older_generation_comes_back_by_the_same_road(node: Node, program: Program) -> None:
    for value in ("256", "128"):
        answer = program.activate({SCRIPT: script_with(node, **{KNOB: value})})
        program.call("confirm", generation=answer["generation"])
    assert knob(node) == "128"
    for wanted, generation in (("256", 1), ("512", 0)):
        back = program.call("restore", generation=generation, restart=True, follow_s=40)
        assert (back["state"], back["restores"]) == ("active", generation), back
        assert program.call("confirm", generation=back["generation"])["ok"]
        assert knob(node) == wanted


SET_ATTRIBUTES = """
import os, struct, sys
nobody = 0xFFFFFFFF
entries = [(1, 7, nobody), (2, 4, 1000), (4, 5, nobody), (16, 5, nobody), (32, 0, nobody)]
acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
os.setxattr(sys.argv[1], "system.posix_acl_access", acl)
os.setxattr(sys.argv[1], "trusted.note", b"hi")
"""


def test_two_in_a_row_go_back_two(node: Node, program: Program) -> None:
    for value in ("256", "128"):
        answer = program.activate({SCRIPT: script_with(node, **{KNOB: value})})
        program.call("confirm", generation=answer["generation"])
    for value in ("256", "512"):
        back = program.call("restore", restart=True, follow_s=40)
        assert program.call("confirm", generation=back["generation"])["ok"], back
        assert knob(node) == value
    assert "before" in program.call("restore")["reason"]
    assert len(program.call("status")["refused"]) == 2


def test_a_disk_that_fills_up_does_not_keep_it_from_going_back(node: Node, program: Program) -> None:
    node.run(f"mkdir -p {DROPINS}; mount -t tmpfs -o size=64k tmpfs {DROPINS}")
    node.run(f"printf '[Service]\\nLimitNOFILE=14000\\n' >{DROPIN}; systemctl daemon-reload")
    before = read(node, DROPIN)
    program.activate({DROPIN: TEXT})
    node.run(f"yes >{DROPINS}/log", check=False)
    back = program.call("restore", follow_s=40)
    assert (back["state"], back["error"], read(node, DROPIN)) == ("restored", None, before), back


def test_a_cut_connection_does_not_end_it(node: Node, program: Program) -> None:
    wanted = program.set_of({SCRIPT: script_with(node, **{KNOB: "256"})})
    asked = {"token": program.token, "set": wanted, "restart": True, "confirm_within_s": 60, "follow_s": 40}
    ssh = subprocess.Popen(
        node.ssh_command(f"python3 -I -S {program.path} activate"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert ssh.stdin
    ssh.stdin.write(json.dumps(asked).encode())
    ssh.stdin.close()
    pending = until(lambda: program.call("status")["pending"], "the transaction", 30)
    ssh.kill()
    ssh.wait()
    told = program.call("wait", generation=pending["generation"], timeout_s=40)
    assert told["state"] == "active"
    assert program.call("confirm", generation=pending["generation"])["ok"]
    assert knob(node) == "256"


def test_a_crash_loop_at_its_start_limit_is_mended(node: Node, program: Program) -> None:
    node.run(f"mkdir -p {DROPINS} /run/standin; touch /run/standin/exit-at-once")
    limit = "[Unit]\nStartLimitIntervalSec=99\nStartLimitBurst=2\n[Service]\nRestartSec=0\n"
    node.run(f"cat >{DROPIN}", input=limit)
    node.run(f"systemctl daemon-reload; systemctl restart {UNIT}", check=False)
    failed = f"systemctl is-failed -q {UNIT}"
    until(lambda: node.run(failed, check=False).returncode == 0, "the start limit", 30)
    node.run("rm /run/standin/exit-at-once")
    answer = program.activate({SCRIPT: script_with(node, **{KNOB: "256"})})
    assert (answer["state"], answer["unit_after"]["active"]) == ("active", "active"), answer
    assert knob(node) == "256"


def test_attributes_survive_there_and_back(node: Node, program: Program) -> None:
    script = script_with(node, **{KNOB: "256"})
    node.run(f"chown ops:1001 {SCRIPT}; chmod 4750 {SCRIPT}")
    node.run(f"python3 - {SCRIPT}", input=SET_ATTRIBUTES)
    shown = (
        f"stat -c '%a %u %g' {SCRIPT}; python3 -c 'import os, sys; "
        f"print([(n, os.getxattr(sys.argv[1], n)) for n in sorted(os.listxattr(sys.argv[1]))])' {SCRIPT}"
    )
    before = node.run(shown).stdout
    assert "trusted.note" in before
    assert "posix_acl_access" in before
    program.activate({SCRIPT: script})
    assert (node.run(shown).stdout, read(node, SCRIPT)) == (before, script)
    program.call("restore", follow_s=40)
    assert node.run(shown).stdout == before
    assert read(node, SCRIPT) != script


# --- Reboots, kills ----------------------------------------------------------------------------------------


def test_a_reboot_while_the_switch_is_armed_goes_on_waiting(node: Node, program: Program) -> None:
    answer = program.activate(
        {SCRIPT: script_with(node, **{KNOB: "256"}), DROPIN: TEXT}, confirm_within_s=120
    )
    node.reboot()
    assert knob(node) == "256"
    told = program.call("status")
    assert (told["armed"], told["pending"]["state"]) == (True, "active")
    assert 0 < told["pending"]["left_s"] < 120
    assert program.call("confirm", generation=answer["generation"])["ok"]


def test_a_reboot_beyond_the_deadline_starts_with_the_former_set(node: Node, program: Program) -> None:
    before = read(node, SCRIPT)
    answer = program.activate({SCRIPT: script_with(node, **{KNOB: "256"}), DROPIN: TEXT}, confirm_within_s=5)
    node.stop()
    time.sleep(6)
    node.start()
    node.wait_until_up()
    assert (program.state(answer["generation"]), read(node, SCRIPT), knob(node)) == (
        "restored",
        before,
        "512",
    )
    assert read(node, DROPIN) is None
    assert node.run(f"systemctl show -P LimitNOFILE {UNIT}").stdout == "16384\n"


# --- Others ------------------------------------------------------------------------------------------------


def test_a_unit_that_was_stopped_stays_stopped_unless_asked(node: Node, program: Program) -> None:
    node.run(f"systemctl stop {UNIT}")
    answer = program.activate({SCRIPT: script_with(node, **{KNOB: "256"})})
    assert (answer["state"], answer["unit_after"]["active"]) == ("active", "inactive")
    program.call("confirm", generation=answer["generation"])
    started = program.activate({SCRIPT: script_with(node, **{KNOB: "128"})}, start=True)
    assert (started["state"], started["unit_after"]["active"]) == ("active", "active")
    back = program.call("restore", follow_s=40)
    assert (back["state"], back["unit_after"]["active"]) == ("restored", "inactive")


def test_enabled_is_set_and_comes_back(node: Node, program: Program) -> None:
    enabled = f"systemctl is-enabled {UNIT}"
    answer = program.activate({SCRIPT: script_with(node, **{KNOB: "256"})}, more={"enabled": False})
    assert answer["state"] == "active", answer
    assert node.run(enabled, check=False).stdout == "disabled\n"
    assert program.call("restore", follow_s=40)["state"] == "restored"
    assert node.run(enabled).stdout == "enabled\n"


def test_a_secret_reaches_the_server_and_nothing_else(node: Node, program: Program) -> None:
    secret, place = "s3cr3t-very-long-token", "/var/lib/knowngood/secrets/decode.env"
    dropin = f"[Service]\nEnvironmentFile={place}\n".encode()
    with_secret = {"secrets": {"decode.env": f"HF_TOKEN={secret}\n"}}
    answer = program.activate({DROPIN: dropin}, more=with_secret)
    assert answer["state"] == "active", answer
    assert node.wait_until_healthy()["knobs"]["HF_TOKEN"] == secret
    assert node.run(f"stat -c %a {place}").stdout == "600\n"
    program.call("confirm", generation=answer["generation"])
    second = program.activate(
        {DROPIN: dropin}, more={"secrets": {"decode.env": "HF_TOKEN=another-long-one\n"}}
    )
    assert node.wait_until_healthy()["knobs"]["HF_TOKEN"] == "another-long-one"
    assert program.call("restore", follow_s=40)["state"] == "restored"
    assert node.wait_until_healthy()["knobs"]["HF_TOKEN"] == secret
    holders = node.run(
        f"grep -rl {secret} /var/lib/knowngood /etc /run /root 2>/dev/null || true"
    ).stdout.split()
    assert [each for each in holders if "/secrets/" not in each] == []
    assert secret not in node.run("journalctl --no-pager -t systemd -t python3; ps axo args").stdout
    assert secret not in json.dumps(program.call("status"))
    node.run(f"systemd-run --quiet --unit=leaky sh -c 'echo the token is {secret}; exec sleep 100'")
    leaky = until(lambda: program.call("evidence", unit="leaky.service", lines=9), "the log", 20)
    assert "the token is ********" in leaky["log"]
    assert secret not in json.dumps(leaky)
    assert second["generation"] > answer["generation"]


def test_stale_bytecode_and_caches_go(node: Node, program: Program) -> None:
    pycs = f"ls {KERNEL.rpartition('/')[0]}/__pycache__"
    assert "flash_mla_sm120_triton" in node.run(pycs).stdout
    cache = "/root/.triton/cache"
    node.run(f"mkdir -p {cache}/mounted; mount -t tmpfs x {cache}/mounted; touch {cache}/mounted/kept")
    mounted = program.activate({KERNEL: kernel_with(node, "x")}, more={"cache_dirs": [f"{cache}/mounted"]})
    assert "is a mount point" in mounted["reason"]
    node.run(
        "cd /root; mkdir -p .triton/cache/deep/er; touch .triton/cache/deep/er/x; ln -s /etc .triton/cache/o"
    )
    answer = program.activate(
        {KERNEL: kernel_with(node, "new")}, restart=False, more={"cache_dirs": ["/root/.triton/cache"]}
    )
    assert answer["state"] == "active", answer
    assert "flash_mla_sm120_triton" not in node.run(pycs).stdout
    assert node.run(f"find {cache} -mindepth 1; ls /etc/passwd").stdout.split() == [
        f"{cache}/mounted",
        f"{cache}/mounted/kept",
        "/etc/passwd",
    ]


def test_a_path_with_spaces_and_quotes(node: Node, program: Program) -> None:
    path = '/root/a b/it\'s "odd" \u00e9'
    answer = program.activate({path: b"x\n"}, restart=False)
    assert answer["state"] == "active", answer
    program.call("restore", follow_s=40)
    assert node.run("ls -d '/root/a b'", check=False).returncode != 0


def test_the_second_operator_is_told_who_holds_the_lock(node: Node, program: Program) -> None:
    second = Program(node)
    answer = second.lock()
    assert (answer["ok"], answer["held_by"]["user"], answer["held_by"]["purpose"]) == (
        False,
        "tester",
        "a test",
    )
    assert "locked by tester on here" in second.activate({SCRIPT: b"x"})["reason"]
    assert not second.call("unlock")["ok"]
    assert second.call("unlock", force=True)["was_locked"]
    assert second.lock()["ok"]
    assert not program.call("renew")["ok"]


def test_who_takes_over_meets_the_open_transaction(node: Node, program: Program) -> None:
    answer = program.activate({SCRIPT: script_with(node, **{KNOB: "256"})})
    second = Program(node)
    held = second.lock(take_over=True)["held_by"]
    assert not held["dead"]
    taken = second.lock(take_over=held["id"])
    assert (taken["ok"], taken["pending"]["generation"]) == (True, answer["generation"])
    assert second.call("confirm", generation=answer["generation"])["ok"]


# --- The gate ----------------------------------------------------------------------------------------------


def test_the_gate_takes_an_answer_from_the_units_own_process_alone(node: Node, program: Program) -> None:
    health = {"http": f"http://{node.address}:30000/health"}
    good = program.call("gate", unit=UNIT, health=health, restarts=0)
    assert (good["ok"], good["listener_pid"], good["status"]) == (
        True,
        node.wait_until_healthy()["pid"],
        200,
    ), good
    completion = {
        "completion": {
            "url": f"http://{node.address}:30000/v1/completions",
            "body": {"prompt": "x"},
            "tokens": 3,
        }
    }
    assert program.call("gate", unit=UNIT, health=completion)["ok"]
    assert not program.call("gate", unit=UNIT, health=health | {"status": 204})["ok"]
    assert (
        program.call("gate", unit=UNIT, health={"command": "echo sick >&2; exit 3"})["reason"]
        == "/bin/sh: sick"
    )
    node.run(
        f"systemctl kill -s KILL {UNIT}; systemctl stop {UNIT}; "
        f"systemd-run --quiet --unit=orphan /usr/bin/python3 -m http.server --bind {node.address} 30000; "
        f"systemd-run --quiet --unit=decoy.service sleep 100"
    )
    until(lambda: node.run("ss -ltn | grep -q :30000", check=False).returncode == 0, "the orphan", 20)
    orphan = program.call("gate", unit="decoy.service", health={"http": f"http://{node.address}:30000/"})
    assert not orphan["ok"]
    assert "not of the unit" in orphan["reason"]


def test_evidence_has_log_and_processes(node: Node, program: Program) -> None:
    told = program.call("evidence", unit=UNIT, lines=50)
    assert "Started" in told["log"]
    assert any("sglang" in each["argv"] for each in told["processes"])
