"""What one node lacks: written, told to systemd, restarted; and what is in the way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rollout_nodes import (
    DESIRED,
    DROPINS,
    GOOD,
    KERNEL,
    NOW,
    OTHER,
    OURS,
    SCRIPT,
    TEXT,
    S,
    file_state,
    observation,
    planned,
    process,
)

from knowngood.drift.judge import judge
from knowngood.model import ABSENT, DesiredScript, FileState, Known, Pyc, Receipt, Secret, Unknown
from knowngood.observe.see import see
from knowngood.rollout.node_plan import Ways
from knowngood.rollout.plan import NodePlan, NodeState
from knowngood.rollout.predict import written

STALE = Pyc("/site/kernel.pyc", "cpython-311", 500, 100, 600 * S, 600 * S, matches_source=False)


def restarts(plan: NodePlan) -> dict[str, str]:
    return {each.what: each.reason for each in plan.restart}


def contents(plan: NodePlan) -> dict[str, tuple[str | None, str | None]]:
    return {change.path: (change.old, change.new) for change in plan.changes}


def test_a_node_in_sync_gets_nothing() -> None:
    plan = planned(observation())
    assert plan.status is NodeState.IN_SYNC
    assert not plan.has_work
    assert plan.differs == plan.blockers == plan.unproved == ()


def test_a_knob_that_only_the_process_lacks_costs_a_restart_and_writes_nothing() -> None:
    plan = planned(observation(processes=(process(TARGET=Known("256")),)))
    assert restarts(plan) == {"env:TARGET": "the process has 256, not 512"}
    assert plan.changes == plan.reload == ()


def test_a_kernel_that_was_edited_and_is_live() -> None:
    plan = planned(observation(kernel=file_state(KERNEL, OTHER)))
    assert contents(plan)[KERNEL] == (OTHER, GOOD)
    assert plan.changes[0].source == "/project/state/files/kernel.py"
    assert plan.empties == ("/root/.triton/cache",)
    assert list(restarts(plan)) == [f"file:{KERNEL}"]


def test_the_receipt_hook_comes_along_and_is_no_reason() -> None:
    plan = planned(observation(kernel=file_state(KERNEL, OTHER)))
    _, ours = plan.changes
    assert ours.path == OURS
    assert ours.data is not None
    assert b"ExecStartPre=-+/usr/bin/python3 -I -S /var/lib/knowngood/bin/node.pyz record" in ours.data
    assert not planned(observation(dropins={OURS: b"[Service]\nLimitNOFILE=16384\n"})).has_work


def test_an_attribute_alone_restarts_nothing() -> None:
    plan = planned(observation(kernel=file_state(KERNEL, GOOD, mode="0664")))
    assert contents(plan) == {KERNEL: (GOOD, GOOD)}
    assert [(each.kind, each.old, each.new) for each in plan.changes[0].attributes] == [
        ("mode", "0664", "0644")
    ]
    assert plan.restart == plan.reload == plan.empties == ()


def test_a_file_that_the_process_is_known_to_have_is_vouched_for() -> None:
    """Its receipt says that it loaded the good content; someone edited the file since."""
    node = observation(kernel=file_state(KERNEL, OTHER, mtime_ns=1500 * S, ctime_ns=1500 * S))
    node = replace(node, receipt=Receipt("f00d", {KERNEL: (GOOD, 500 * S)}))
    plan = planned(node)
    assert plan.vouched == ((KERNEL, GOOD),)
    assert plan.restart == ()


def test_without_vouching_only_a_restart_proves_what_is_loaded() -> None:
    node = observation(kernel=file_state(KERNEL, GOOD, mode="0664"))
    assert planned(node, ways=Ways(vouch=False)).unproved[0].what == f"file:{KERNEL}"
    assert planned(node).unproved == ()


def test_stale_bytecode_is_dropped_or_a_restart_would_load_it_again() -> None:
    plan = planned(observation(kernel=file_state(KERNEL, GOOD, pycs=(STALE,))))
    assert plan.changes[0].stale_bytecode
    assert contents(plan)[KERNEL] == (GOOD, GOOD)
    assert list(restarts(plan)) == [f"file:{KERNEL}"]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (file_state(KERNEL, OTHER, symlink="/opt/kernel.py"), "a symbolic link to /opt/kernel.py"),
        (FileState(KERNEL, "directory"), "a directory is where the file should be"),
        (FileState(KERNEL, "other"), "not a regular file is where"),
    ],
)
def test_what_is_no_file_is_not_written_over(state: FileState, reason: str) -> None:
    plan = planned(observation(kernel=state))
    assert plan.status is NodeState.BLOCKED
    assert reason in plan.blockers[0].reason
    assert KERNEL not in contents(plan)


def test_what_is_unreadable_is_not_taken_for_missing() -> None:
    plan = planned(observation(kernel=FileState(KERNEL, "unreadable", "permission denied")))
    assert plan.status is NodeState.INCOMPLETE
    assert plan.unproved[0].what == f"file:{KERNEL}"
    assert not plan.has_work


def test_a_missing_file_is_written() -> None:
    plan = planned(observation(kernel=FileState(KERNEL, "missing")))
    assert contents(plan)[KERNEL] == (None, GOOD)
    assert plan.blockers == ()


def test_a_foreign_dropin_that_sorts_after_ours_blocks_by_name() -> None:
    theirs = f"{DROPINS}/zzz-by-hand.conf"
    plan = planned(observation(dropins={theirs: b"[Service]\nLimitNOFILE=4096\n"}))
    assert plan.status is NodeState.BLOCKED
    assert plan.blockers[0].what == "systemd:Service.LimitNOFILE"
    assert theirs in plan.blockers[0].reason
    assert theirs in plan.blockers[0].advice


def test_a_foreign_dropin_that_sorts_before_ours_is_overridden() -> None:
    plan = planned(observation(dropins={f"{DROPINS}/10-by-hand.conf": b"[Service]\nLimitNOFILE=4096\n"}))
    assert plan.status is NodeState.DUE
    assert list(contents(plan)) == [OURS]
    assert plan.reload[0].what == OURS
    assert plan.restart == ()


def test_a_manager_that_was_not_told_is_told_and_nothing_is_written() -> None:
    plan = planned(observation(limit="4096"))
    assert [each.what for each in plan.reload] == ["systemd:Service.LimitNOFILE"]
    assert plan.changes == plan.restart == ()


def test_what_our_dropin_states_and_the_manifest_no_longer_does_goes() -> None:
    ours = b"# Written by knowngood from the manifest decode\n[Service]\nLimitNOFILE=16384\nNice=5\n"
    plan = planned(observation(dropins={OURS: ours}))
    (change,) = plan.changes
    assert b"Nice" not in (change.data or b"")
    assert restarts(plan) == {
        "systemd:Service.Nice": "no longer declared; the process may have it from its start"
    }


def test_a_stopped_unit_waits_for_a_word_and_a_failed_one_does_not() -> None:
    stopped = planned(observation(active_state="inactive", sub_state="dead", processes=()))
    assert [each.what for each in stopped.start] == ["unit:active"]
    assert stopped.restart == ()
    failed = planned(observation(active_state="failed", sub_state="failed", processes=()))
    assert restarts(failed) == {"unit:active": "the unit is failed"}
    assert failed.start == ()


def test_a_unit_that_should_start_at_boot() -> None:
    plan = planned(observation(unit_file_state="disabled"))
    assert plan.enable is True
    assert plan.changes == plan.restart == ()


@pytest.mark.parametrize(
    ("state", "reason"),
    [("not-found", "no such unit"), ("masked", "masked"), ("bad-setting", "refuses the unit")],
)
def test_a_unit_that_cannot_run_blocks(state: str, reason: str) -> None:
    plan = planned(observation(load_state=state, active_state="inactive", processes=()))
    assert plan.status is NodeState.BLOCKED
    assert reason in plan.blockers[0].reason
    assert plan.restart == ()


def test_a_unit_that_should_not_run_is_left_to_a_person() -> None:
    plan = planned(observation(), replace(DESIRED, active=False))
    assert plan.status is NodeState.BLOCKED
    assert plan.blockers[0].advice == "systemctl stop decode.service"


def test_a_secret_in_the_script_that_would_have_to_change_blocks() -> None:
    secret = "hf_PLANTEDsecret"
    desired = replace(DESIRED, env={**DESIRED.env, "HF_TOKEN": Secret("HF_TOKEN", secret)})
    node = observation(script=TEXT.replace(b"\nexec", b"\nexport HF_TOKEN=hf_theOTHERone\nexec"))
    plan = planned(node, desired)
    assert plan.status is NodeState.BLOCKED
    assert plan.blockers[0].what == "env:HF_TOKEN"
    assert "systemd: Environment" in plan.blockers[0].advice
    assert secret not in repr(plan)
    assert "theOTHERone" not in repr(plan)


def test_a_unit_s_secret_goes_into_a_file_of_its_own() -> None:
    secret = "hf_PLANTEDsecret"
    desired = replace(DESIRED, unit_env={"HF_TOKEN": Secret("HF_TOKEN", secret)})
    plan = planned(observation(), desired)
    assert plan.status is NodeState.DUE, plan.blockers
    assert plan.secrets == ("HF_TOKEN",)
    assert dict(plan.secret_texts) == {"HF_TOKEN": secret}
    assert [change.path for change in plan.changes] == [OURS]
    assert secret.encode() not in (plan.changes[0].data or b"")
    assert secret not in repr(plan)
    assert list(restarts(plan)) == ["env:HF_TOKEN"]


def test_an_owned_script_that_is_missing_is_written_and_runs() -> None:
    script = DesiredScript(SCRIPT, "/project/serve.sh", TEXT, TEXT)
    node = observation()
    node = replace(
        node,
        script=replace(node.script, data=None, error="missing"),  # type: ignore[type-var]
        files={**node.files, SCRIPT: FileState(SCRIPT, "missing")},
    )
    plan = planned(node, replace(DESIRED, script=script))
    (change, _) = plan.changes
    assert (change.kind, change.old, change.data, change.mode) == ("script", None, TEXT, "0755")
    assert plan.status is NodeState.DUE
    unowned = planned(replace(node, processes=(process(TARGET=Known("256")),)))
    assert unowned.status is NodeState.BLOCKED
    assert "own it with serve_script: source" in unowned.blockers[0].advice


def test_a_source_that_lacks_a_declared_secret_blocks_before_it_takes_it_away() -> None:
    secret = "hf_PLANTEDsecret"
    with_secret = TEXT.replace(b"\nexec", f"\nexport HF_TOKEN={secret}\nexec".encode())
    desired = replace(
        DESIRED,
        script=DesiredScript(SCRIPT, "/project/serve.sh", TEXT, TEXT),
        env={**DESIRED.env, "HF_TOKEN": Secret("HF_TOKEN", secret)},
    )
    plan = planned(observation(script=with_secret), desired)
    assert plan.status is NodeState.BLOCKED
    assert "env:HF_TOKEN" in {blocker.what for blocker in plan.blockers}
    assert secret not in repr(plan)


def test_an_environ_that_cannot_be_read_is_not_proved_and_nothing_is_done() -> None:
    hidden = replace(process(), environ=Unknown("overwritten by the process"))
    plan = planned(observation(processes=(hidden,)))
    assert plan.status is NodeState.INCOMPLETE
    assert [each.what for each in plan.unproved] == ["env:TARGET"]


def test_what_cannot_be_edited_blocks_with_what_to_do() -> None:
    script = b"#!/bin/bash\nif [ -e /x ]; then export TARGET=$(cat /x); fi\n" + TEXT.partition(b"512\n")[2]
    plan = planned(observation(script=script, processes=(process(TARGET=Known("256")),)))
    assert plan.status is NodeState.BLOCKED
    assert plan.blockers[0].what == "env:TARGET"


@pytest.mark.parametrize(
    "node",
    [
        observation(kernel=file_state(KERNEL, OTHER)),
        observation(kernel=file_state(KERNEL, GOOD, mode="0600")),
        observation(dropins={f"{DROPINS}/10-by-hand.conf": b"[Service]\nLimitNOFILE=4096\n"}),
    ],
    ids=["kernel", "mode", "dropin"],
)
def test_carried_out_it_leaves_nothing_to_plan(node: object) -> None:
    from knowngood.model import Observation

    assert isinstance(node, Observation)
    plan = planned(node)
    assert plan.status is NodeState.DUE, plan.blockers
    after = written(DESIRED, node, plan.changes, None, dict(plan.vouched))
    if plan.restart:
        young = replace(process(), started_ns=NOW + 10 * S)
        after = replace(after, processes=(young,))
    assert judge(DESIRED, after, see(DESIRED, after)).findings == ()
    assert not planned(after).has_work


def test_an_absent_directive_that_someone_else_sets_is_unset_by_ours() -> None:
    theirs = f"{DROPINS}/10-by-hand.conf"
    desired = replace(DESIRED, directives={**DESIRED.directives, "Service.ExecReload": ABSENT})
    plan = planned(observation(dropins={theirs: b"[Service]\nExecReload=/bin/true\n"}), desired)
    assert plan.status is NodeState.DUE, plan.blockers
    assert b"\nExecReload=\n" in (plan.changes[0].data or b"")


def test_an_absent_directive_that_no_dropin_can_unset_is_left_to_a_person() -> None:
    theirs = f"{DROPINS}/10-by-hand.conf"
    desired = replace(DESIRED, directives={**DESIRED.directives, "Service.Restart": ABSENT})
    plan = planned(observation(dropins={theirs: b"[Service]\nRestart=always\n"}), desired)
    assert plan.status is NodeState.BLOCKED
    assert theirs in plan.blockers[0].advice
    assert not planned(observation(), desired).has_work
