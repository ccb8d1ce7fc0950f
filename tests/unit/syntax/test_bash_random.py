"""Scripts at random out of a grammar: bash must agree with all that is read of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from bash_grammar import Grammar
from bash_oracle import Oracle
from bash_verdict import contradictions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowngood.model import Known, Value
from knowngood.syntax.bash import read_script

NOTHING_EXITS = "did not start"


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    made = Oracle()
    yield made
    made.close()


def sound(text: bytes, oracle: Oracle, env: dict[str, str], args: list[str]) -> list[str]:
    """The contradictions, read with the caller known and unknown."""
    started = oracle.run(text, env=env, args=args, seconds=3)
    caller: dict[str, Value] = {"PATH": Known(str(oracle.bin)), **{k: Known(v) for k, v in env.items()}}
    found = contradictions(read_script(text, caller=caller, args=args), started, caller)
    # Under -e and -u a script may end at a command whose outcome is not known.
    if b"set -e" in text or b"set -u" in text:
        found = [problem for problem in found if NOTHING_EXITS not in problem]
    given_nothing = not env and not args
    return found + contradictions(read_script(text), started, None, defaults_hold=given_nothing)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 10**9))
def test_random_scripts(seed: int, oracle: Oracle) -> None:
    rng = Random(seed)
    text = Grammar(rng).script().encode()
    assert sound(text, oracle, {}, []) == [], text.decode()
    values = ["1", "x y", "", "--tp", "abc", "a.b/c"]
    env = {name: rng.choice(values) for name in ("A", "B", "C", "KNOB", "TP", "I") if rng.random() < 0.5}
    args = rng.choice([["--tp", "8"], ["one two", "x"], ["abc"]])
    assert sound(text, oracle, env, args) == [], (text.decode(), env, args)
