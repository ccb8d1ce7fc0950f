"""A saved plan is the plan, without contents; and what moved since is named."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rollout_nodes import DESIRED, KERNEL, OTHER, file_state, observation, planned

from knowngood.model import Failure
from knowngood.rollout.fingerprint import moved
from knowngood.rollout.fleet_plan import fleet_plan
from knowngood.rollout.node_plan import unseen
from knowngood.rollout.plan import NodePlan, Plan, PlannedManifest
from knowngood.rollout.policy import Hook, Policy, Share
from knowngood.rollout.saved import NotAPlan, dumps, from_json, loads, to_json

MANIFEST = PlannedManifest(
    "decode", "state/decode.yaml", "3f9c2e1", True, "c" * 64, Policy(Share(1), before_restart=Hook("drain"))
)


def fleet(*nodes: NodePlan, manifest: PlannedManifest = MANIFEST) -> Plan:
    return fleet_plan([manifest], nodes, {}, "2026-03-01T02:00:00.000Z")


def due() -> NodePlan:
    return planned(observation(kernel=file_state(KERNEL, OTHER)))


def other_host() -> NodePlan:
    return unseen(replace(DESIRED, host="decode-02"), Failure("unreachable", "ssh: no answer in 10 s"))


def test_a_plan_comes_back_as_it_was() -> None:
    plan = fleet(due(), other_host())
    assert loads(dumps(plan)) == plan
    assert dumps(plan).isascii()


def test_no_content_is_saved() -> None:
    plan = fleet(due())
    assert any(change.data for change in plan.nodes[0].changes)
    assert all(change.data is None for change in loads(dumps(plan)).nodes[0].changes)


def test_a_field_of_a_later_version_is_skipped() -> None:
    document = to_json(fleet(due()))
    document["nodes"][0]["weather"] = "fair"
    assert from_json(document) == fleet(due())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("[]", "not a plan"),
        ("{}", "not a plan"),
        ('{"schema_version": 2}', "version 2"),
        ('{"schema_version": 1}', "something is missing"),
        ('{"schema_version": 1, "manifests": [], "nodes": {}, "waves": []}', "plan.nodes"),
        ('{"schema_version": 1, "manifests": [{"name": 1}], "nodes": [], "waves": []}', "manifests[0].name"),
    ],
)
def test_what_is_no_plan_is_refused_by_its_place(text: str, reason: str) -> None:
    with pytest.raises(NotAPlan, match=reason.replace("[", r"\[")):
        loads(text)


def test_a_state_that_there_is_not() -> None:
    document = json.loads(dumps(fleet(due())))
    document["nodes"][0]["status"] = "fine"
    with pytest.raises(NotAPlan, match="status"):
        from_json(document)


def test_nothing_moved() -> None:
    assert moved(fleet(due(), other_host()), fleet(due(), other_host())) == []


def test_an_edit_since_is_named_by_node_and_path() -> None:
    fresh = planned(observation(kernel=file_state(KERNEL, "e" * 64)))
    assert moved(fleet(due()), fleet(fresh)) == [
        f"decode-01: {KERNEL}: was bbbbbbbb 0644 root:root, is eeeeeeee 0644 root:root"
    ]


def test_a_node_in_sync_that_drifted_since_is_named() -> None:
    assert f"decode-01: file:{KERNEL}: was as wanted or not there" in " ".join(
        moved(fleet(planned(observation())), fleet(due()))
    )


def test_a_process_that_changed_since_is_named_without_any_file() -> None:
    from rollout_nodes import process

    from knowngood.model import Known

    fresh = planned(observation(processes=(process(TARGET=Known("256")),)))
    (told,) = moved(fleet(planned(observation())), fleet(fresh))
    assert told == "decode-01: env:TARGET: was as wanted or not there, is restart_pending (restart)"


def test_manifests_wishes_and_hosts_that_moved() -> None:
    edited = replace(MANIFEST, content="d" * 64)
    assert moved(fleet(due()), fleet(due(), manifest=edited)) == [
        "state/decode.yaml: the manifest or a file that it names has changed"
    ]
    wanted = planned(observation(), replace(DESIRED, unit="decode.service", aliases=(("--tp", "--tp-size"),)))
    assert moved(fleet(planned(observation())), fleet(wanted)) == [
        "decode-01: what the manifest wants of it has changed"
    ]
    assert moved(fleet(due(), other_host()), fleet(due())) == [
        "decode-02: it is no longer among the nodes of decode"
    ]
    assert moved(fleet(due()), fleet(due(), other_host())) == [
        "decode-02: it is new among the nodes of decode"
    ]


def test_a_node_that_went_away_is_told_once() -> None:
    there = replace(planned(observation()), host="decode-02")
    there = replace(there, wants=other_host().wants)
    assert moved(fleet(there), fleet(other_host())) == ["decode-02: it was in_sync and is unreachable"]
