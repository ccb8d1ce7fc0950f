"""`rollout:` and `health:` as values."""

from __future__ import annotations

from typing import Any

import pytest

from knowngood.rollout.policy import (
    Completion,
    Health,
    Hook,
    Policy,
    PolicyError,
    Share,
    health_of,
    policy_of,
)


def test_a_manifest_that_says_nothing_gets_a_canary_and_small_batches() -> None:
    assert policy_of({}) == Policy(Share(1), Share(25, percent=True), Share(0))


def test_all_that_a_manifest_can_say() -> None:
    policy = policy_of(
        {
            "canary": 2,
            "batch": "10%",
            "max_failures": "5%",
            "pause": 30,
            "together": "pod",
            "before_restart": "drain",
            "after_healthy": {"controller": "undrain"},
        }
    )
    assert policy == Policy(
        Share(2),
        Share(10, percent=True),
        Share(5, percent=True),
        30.0,
        "pod",
        Hook("drain", "node"),
        Hook("undrain", "controller"),
    )


@pytest.mark.parametrize(
    ("written", "whole", "count"),
    [(3, 40, 3), ("3", 2, 3), ("25%", 40, 10), ("25%", 3, 0), ("99%", 2, 1), ("100%", 7, 7), (0, 9, 0)],
)
def test_a_share_is_rounded_down(written: object, whole: int, count: int) -> None:
    assert Share.parse(written).of(whole) == count


@pytest.mark.parametrize("written", ["101%", "-1", "many", 1.5, True, None, ""])
def test_what_is_no_share(written: object) -> None:
    with pytest.raises(PolicyError):
        Share.parse(written)


@pytest.mark.parametrize(
    "rollout",
    [{"pause": -1}, {"pause": "1"}, {"before_restart": ""}, {"after_healthy": {"moon": "x"}}],
)
def test_what_is_no_policy(rollout: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        policy_of(rollout)


def test_health_by_http_by_command_and_by_a_completion() -> None:
    assert health_of(None) is None
    assert health_of({"http": "http://[::1]:30000/health", "timeout": 60, "interval": 1}) == Health(
        http="http://[::1]:30000/health", timeout=60.0, interval=1.0
    )
    assert health_of({"command": "true", "failures": 1}) == Health(command="true", failures=1)
    health = health_of({"completion": {"url": "http://x/v1", "body": {"n": 1}, "tokens": 8}})
    assert health == Health(completion=Completion("http://x/v1", '{"n": 1}', 8))
