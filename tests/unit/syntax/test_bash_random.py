"""Scripts at random out of a grammar: bash must agree with all that is read of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from bash_grammar import Grammar
from bash_oracle import Oracle
from bash_sound import callers, unsound
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    made = Oracle()
    yield made
    made.close()


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 10**9))
def test_random_scripts(seed: int, oracle: Oracle) -> None:
    rng = Random(seed)
    text = Grammar(rng).script().encode()
    for env, args in callers(rng):
        assert unsound(text, oracle, env, args) == [], (text.decode(), env, args)
