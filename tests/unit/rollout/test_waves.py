"""Canary and batches, for any fleet and policy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowngood.rollout.policy import Policy, Share
from knowngood.rollout.waves import waves

HOSTS = [f"decode-{number:02d}" for number in range(1, 11)]
PODS = {host: f"pod-{number // 2}" for number, host in enumerate(HOSTS)}


def shape(due: list[str], canary: object, batch: object, pods: dict[str, str] | None = None) -> list[int]:
    policy = Policy(Share.parse(canary), Share.parse(batch))
    return [len(wave.hosts) for wave in waves("m", due, policy, pods)]


@pytest.mark.parametrize(
    ("due", "canary", "batch", "pods", "sizes"),
    [
        (10, 1, "25%", None, [1, 2, 2, 2, 2, 1]),
        (10, 2, 4, None, [2, 4, 4]),
        (10, 0, 5, None, [5, 5]),
        (10, 1, "100%", None, [1, 9]),
        (3, 1, "10%", None, [1, 1, 1]),  # 10 % of 3 is none, and a batch has one at least
        (3, "10%", 5, None, [1, 2]),
        (3, 0, 0, None, [1, 1, 1]),
        (1, 5, 1, None, [1]),
        (0, 1, 1, None, []),
        (10, 1, 3, PODS, [2, 2, 2, 2, 2]),
        (10, 3, 4, PODS, [4, 4, 2]),
        (10, 1, 1, PODS, [2, 2, 2, 2, 2]),
    ],
)
def test_sizes(
    due: int, canary: object, batch: object, pods: dict[str, str] | None, sizes: list[int]
) -> None:
    assert shape(HOSTS[:due], canary, batch, pods) == sizes


def test_the_canary_is_first_in_inventory_order_with_its_whole_instance() -> None:
    pods = {"decode-01": "a", "decode-02": "b", "decode-05": "a"}
    first, *others = waves("m", HOSTS[:5], Policy(batch=Share(2)), pods)
    assert (first.kind, first.hosts) == ("canary", ("decode-01", "decode-05"))
    assert [wave.hosts for wave in others] == [("decode-02", "decode-03"), ("decode-04",)]


shares = st.one_of(st.integers(0, 12).map(Share), st.integers(0, 100).map(lambda n: Share(n, percent=True)))


@given(
    count=st.integers(0, 10),
    canary=shares,
    batch=shares,
    pods=st.dictionaries(st.sampled_from(HOSTS), st.sampled_from("abc")),
)
def test_every_due_node_once_and_no_instance_torn(
    count: int, canary: Share, batch: Share, pods: dict[str, str]
) -> None:
    due = HOSTS[:count]
    found = waves("m", due, Policy(canary, batch), pods)
    assert sorted(host for wave in found for host in wave.hosts) == due
    for host in due:
        (wave,) = [wave for wave in found if host in wave.hosts]
        assert {other for other in due if host in pods and pods.get(other) == pods[host]} <= set(wave.hosts)
    largest = max([1, *(sum(1 for host in due if pods.get(host) == pod) for pod in "abc")])
    for wave in found:
        allowed = canary.of(count) if wave.kind == "canary" else batch.of(count)
        assert 1 <= len(wave.hosts) <= max(allowed, 1) - 1 + largest
