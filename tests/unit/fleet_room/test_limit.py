"""Hosts chosen by name, group and glob."""

from __future__ import annotations

import pytest

from knowngood.fleet.limit import NoMatchError, choose
from knowngood.model import Host

HOSTS = (
    Host("decode-02", ("decode", "pod_a")),
    Host("decode-01", ("decode", "pod_b")),
    Host("@local", ("@local",)),
    Host("[fe80::1]", ("prefill",)),
    Host("@docker/a,b", ("@docker",)),
)


def chosen(*patterns: str) -> list[str]:
    return [host.name for host in choose(HOSTS, patterns)]


def test_no_pattern_chooses_all() -> None:
    assert choose(HOSTS, ()) == HOSTS


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["decode-01"], ["decode-01"]),
        (["decode"], ["decode-02", "decode-01"]),
        (["all"], [host.name for host in HOSTS]),
        (["decode-*"], ["decode-02", "decode-01"]),
        (["decode-0[2-9]"], ["decode-02"]),
        (["pod_?"], ["decode-02", "decode-01"]),
        (["decode-01, pod_a"], ["decode-02", "decode-01"]),
        (["decode-01", "prefill"], ["decode-01", "[fe80::1]"]),
        (["[fe80::1]"], ["[fe80::1]"]),
        (["@local"], ["@local"]),
        (["@docker/a,b"], ["@docker/a,b"]),
        (["*"], [host.name for host in HOSTS]),
    ],
)
def test_patterns_choose_in_the_inventorys_order(patterns: list[str], names: list[str]) -> None:
    assert chosen(*patterns) == names


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("decode-03", "no host and no group is called 'decode-03'; did you mean decode-0"),
        ("decod", "no host and no group is called 'decod'; did you mean decode?"),
        ("zzz*", "no host and no group is called 'zzz*'"),
        ("decode-01,", "an empty pattern chooses no host"),
        ("", "an empty pattern chooses no host"),
        ("Decode", "no host and no group is called 'Decode'; did you mean decode?"),
    ],
)
def test_a_pattern_that_chooses_nothing_is_an_error(pattern: str, told: str) -> None:
    with pytest.raises(NoMatchError) as error:
        choose(HOSTS, ["decode", pattern])
    assert str(error.value).startswith(told)
