"""Knobs and flags of the serve script: edited in place, and nothing else of it."""

from __future__ import annotations

import pytest
from rollout_nodes import DESIRED, SCRIPT, TEXT, observation, planned, process

from knowngood.drift.judge import judge
from knowngood.model import Known
from knowngood.observe.see import see
from knowngood.rollout.plan import NodeState
from knowngood.rollout.predict import written

KNOB = TEXT.replace(b"512", b"256")
FLAG = TEXT.replace(b"--tp 4", b"--tp 2")
GONE = TEXT.replace(b" --tp 4", b"")


@pytest.mark.parametrize(
    ("script", "removed", "added"),
    [
        (KNOB, "-export TARGET=256", "+export TARGET=512"),
        (
            FLAG,
            "-exec python3 -m sglang.launch_server --tp 2",
            "+exec python3 -m sglang.launch_server --tp 4",
        ),
        (GONE, "-exec python3 -m sglang.launch_server", "+exec python3 -m sglang.launch_server --tp 4"),
    ],
    ids=["knob", "flag", "flag-lost"],
)
def test_the_diff_is_that_line_and_then_nothing_is_left(script: bytes, removed: str, added: str) -> None:
    node = observation(script=script)
    plan = planned(node)
    assert plan.status is NodeState.DUE, plan.blockers
    change = plan.changes[0]
    assert (change.path, change.data) == (SCRIPT, TEXT)
    assert [line for line in change.diff if line[0] in "+-"][2:] == [removed, added]
    assert plan.restart == ()
    after = written(DESIRED, node, plan.changes, None, {})
    assert judge(DESIRED, after, see(DESIRED, after)).findings == ()
    assert not planned(after).has_work


def test_an_edit_that_is_live_costs_a_restart() -> None:
    node = observation(script=KNOB, processes=(process(TARGET=Known("256")),))
    plan = planned(node)
    assert [each.what for each in plan.restart] == ["env:TARGET"]
    after = written(DESIRED, node, plan.changes, None, {})
    assert [(f.setting.name, f.mend) for f in judge(DESIRED, after, see(DESIRED, after)).findings] == [
        ("TARGET", ("restart",))
    ]
