#!/usr/bin/env python3
"""Mutated serve scripts by the hundred thousand: nothing crashes, nothing hangs, nothing eats memory.

Every text is read, and now and then edited. `--oracle N` also has bash run N random scripts out of the tests'
grammar, each with and without a caller's environment, and counts where bash does otherwise than we say.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CHECKOUT / "src"), str(CHECKOUT / "tests" / "unit" / "syntax")]

from bash_case import all_cases  # noqa: E402
from bash_grammar import Grammar  # noqa: E402
from bash_oracle import Oracle  # noqa: E402
from bash_sound import SCRIPT_MAY_END, callers, unsound  # noqa: E402

from knowngood.model import Known, Occurrences  # noqa: E402
from knowngood.syntax.argv import parse_args  # noqa: E402
from knowngood.syntax.bash import CannotEdit, read_script, set_flag, set_knob  # noqa: E402

SECONDS = 10  # for one text; the slowest should need a tenth of it
LARGE = 10 << 20  # bytes of the large texts
PIECES = [
    b"$(", b"`", b"${", b"}", b"((", b"))", b'"', b"'", b"\\", b"\n", b"<<EOF\n", b"EOF\n", b"if ", b"then ",
    b"fi\n", b"while :; do ", b"done\n", b"case x in ", b"esac\n", b"{", b"|", b"&", b";", b"[[ ", b" ]]",
    b"$((1/0))", b"\0", b"\r\n", b"\xff", b"*", b"$X", b"${X:-", b"export ", b"f() { f; }; f\n", b"unset ",
    b"X=$X$X\n", b"for i in {1..99}; do ", b"${!X}", b"$'\\x", b"{1..999}", b"eval ", b"# ", b"A=(", b"exec ",
]  # fmt: skip


class TooSlow(Exception):
    """A text took longer than it may."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="mutated texts (%(default)s)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="to repeat a run")
    parser.add_argument("--oracle", type=int, default=0, metavar="N", help="let bash judge N random scripts")
    options = parser.parse_args()

    signal.signal(signal.SIGALRM, _too_slow)
    print(f"seed {options.seed}")
    failed, slowest, started = 0, 0.0, time.monotonic()
    for name, text in large_texts():
        good, took = attempt(name, text, lambda text=text: read_script(text))
        print(f"{name}: {took:.2f} s", flush=True)
        failed += not good
    for number, (name, text) in enumerate(mutated_texts(options.seed, options.count), 1):
        good, took = attempt(name, text, task_for(number, text))
        failed, slowest = failed + (not good), max(slowest, took)
        if number % 10_000 == 0:
            print(f"{number} texts, {failed} failed, slowest {slowest:.2f} s, {peak_mb()} MB", flush=True)
    print(f"{options.count} texts in {time.monotonic() - started:.0f} s: {failed} failed, "
          f"slowest {slowest:.2f} s, peak {peak_mb()} MB")  # fmt: skip
    failed += judged_by_bash(options.seed, options.oracle)
    sys.exit(bool(failed))


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _too_slow(*_: object) -> None:
    raise TooSlow


def attempt(name: str, text: bytes, task: Callable[[], object]) -> tuple[bool, float]:
    """(whether all went well, seconds)"""
    began = time.monotonic()
    signal.alarm(SECONDS)
    try:
        task()
        good = True
    except (Exception, TooSlow):
        good = False
        print(f"FAILED {name}:\n{traceback.format_exc()}\n{text[:1000]!r}\n")
    finally:
        signal.alarm(0)
    return good, time.monotonic() - began


def task_for(number: int, text: bytes) -> Callable[[], object]:
    """Every text is read; one in ten is edited as well, and what comes out is read."""

    def edit() -> None:
        for editing in (
            lambda: set_knob(text, "A", "new value"),
            lambda: set_knob(text, "KNOB", None),
            lambda: set_flag(text, ["--tp"], Occurrences((("8",),))),
        ):
            try:
                read_script(editing())
            except CannotEdit:
                continue

    def read() -> None:
        for launch in read_script(text, caller={}, args=()).launches:
            parse_args(launch.argv[1:])
        read_script(text, caller={"A": Known("x")})

    return edit if number % 10 == 0 else read


def mutated_texts(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Cases and random scripts, with pieces cut out, put in, swapped and doubled."""
    rng = random.Random(seed)
    cases = [path.read_bytes() for path in all_cases()]
    for number in range(count):
        text = bytearray(rng.choice(cases) if rng.random() < 0.7 else Grammar(rng).script().encode())
        for _ in range(rng.randint(1, 6)):
            mutate(rng, text, cases)
        yield f"mutation {number} of seed {seed}", bytes(text)


def mutate(rng: random.Random, text: bytearray, cases: list[bytes]) -> None:
    at = rng.randrange(len(text) + 1)
    end = min(len(text), at + rng.randint(1, 30))
    match rng.randrange(6):
        case 0:
            del text[at:end]
        case 1 | 2:
            text[at:at] = rng.choice(PIECES)
        case 3:
            text[at:at] = text[at:end] * rng.randint(1, 4)
        case 4:
            other = rng.choice(cases)
            start = rng.randrange(len(other) + 1)
            text[at:end] = other[start : start + 60]
        case 5:
            if at < len(text):
                text[at] = rng.randrange(256)


def large_texts() -> Iterator[tuple[str, bytes]]:
    yield "10 MB of assignments", b"A=1\n" * (LARGE // 4)
    yield "200 kB of assignments", b"A=1\n" * 50_000
    yield "200 kB in one word", b"A=" + b"x" * 200_000
    yield "200 kB in quotes", b"A='" + b"x\n" * 100_000 + b'\'\nserver "$A"\n'
    yield "200 kB of words", b"server " + b"--x 1 " * 30_000 + b"\n"
    yield "200 kB of comments", b"# nothing\n" * 20_000 + b"server\n"
    yield "deep nesting", b"$(" * 100_000
    yield "deep braces", b"echo " + b"{a," * 5000 + b"}" * 5000
    yield "deep parentheses", b"A=$((" + b"(" * 50_000
    yield "doubling", b"X=ab\n" + b"X=$X$X$X$X\n" * 1000 + b"server $X\n"
    yield "loops in loops", b"for a in {1..60}; do " * 8 + b"server $a\n" + b"done\n" * 8
    yield "an endless loop", b"N=0\nwhile true; do N=$((N+1)); A=$A.; done\nserver\n"
    yield "many branches", b"if [ -e /x ]; then A=$A.b; else A=c$A; fi\n" * 4000 + b"server $A\n"
    yield "many flags", b"A=()\n" + b"if [ -e /x ]; then A+=(--x); fi\n" * 2000 + b'server "${A[@]}"\n'
    yield "a function that calls itself", b"f() { f; f; }\nf\nserver\n"
    yield "functions that call each other", b"f() { g a; g b; }\ng() { f a; f b; }\nf\nserver\n"
    yield "heavy patterns", b"X=" + b"a" * 5000 + b"\nY=${X//*a*a*a*b/x}\nZ=${X##*a*a*a*b}\nserver $Y\n"
    yield "a regular expression that explodes", b"X=" + b"a" * 200 + b"\n[[ $X =~ (a+)+b ]]\nserver\n"
    yield "many launches", b"server $A &\n" * 15_000


def judged_by_bash(seed: int, count: int) -> int:
    """How many of the random scripts bash understands otherwise."""
    oracle = Oracle()
    wrong = 0
    try:
        for number in range(count):
            rng = random.Random(f"{seed} {number}")
            text = Grammar(rng).script().encode()
            for env, args in callers(rng):
                problems = unsound(text, oracle, env, args)
                if problems:
                    wrong += 1
                    print(f"WRONG script {number}, {env}, {args}: {problems[:3]}\n{text.decode()}")
            if number % 500 == 499:
                print(f"{number + 1} scripts judged by bash, {wrong} wrong", flush=True)
    finally:
        oracle.close()
    if count:
        print(f"{count} scripts judged by bash: {wrong} wrong ({SCRIPT_MAY_END})")
    return wrong


if __name__ == "__main__":
    main()
