"""Whether bash agrees with all that is read of a script, for a caller known, in part, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from bash_oracle import Oracle
from bash_verdict import contradictions

from knowngood.model import Known, Unknown, Value
from knowngood.syntax.bash import read_script

SCRIPT_MAY_END = "under set -e and -u, that a launch is never reached counts as no contradiction"
_VALUES = ["1", "x y", "", "--tp=1", "abc", "a.b/c"]
_ARGUMENTS = [[], ["--tp", "8"], ["one two", "x"], ["abc"]]


def callers(rng: Random) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Environments and arguments to start a script with: nothing at all, and something."""
    yield {}, []
    names = ("A", "B", "C", "KNOB", "TP")
    yield {name: rng.choice(_VALUES) for name in names if rng.random() < 0.5}, rng.choice(_ARGUMENTS)


def unsound(text: bytes, oracle: Oracle, env: Mapping[str, str], args: Sequence[str]) -> list[str]:
    """The contradictions between bash and the reader, over three ways to tell the reader of the caller."""
    started = oracle.run(text, env=env, args=args, seconds=3)
    caller: dict[str, Value] = {"PATH": Known(str(oracle.bin)), **{k: Known(v) for k, v in env.items()}}
    found = contradictions(read_script(text, caller=caller, args=args), started, caller)
    if b"set -e" in text or b"set -u" in text:
        # A script may end at a command whose outcome the reader can't know.
        found = [problem for problem in found if "did not start" not in problem]
    nothing_given = not env and not args
    found += contradictions(read_script(text), started, None, defaults_hold=nothing_given)
    vague = {
        name: Unknown("not told") if at % 2 else value for at, (name, value) in enumerate(caller.items())
    }
    vague_reading = contradictions(read_script(text, caller=vague), started, vague, defaults_hold=False)
    return found + [problem for problem in vague_reading if "did not start" not in problem]
