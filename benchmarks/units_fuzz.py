#!/usr/bin/env python3
"""Mutated units, drop-ins and environment files by the hundred thousand: nothing crashes, nothing hangs.

Every text is read, spelled, expanded and remarked on, under a deadline of its own. `--oracle N` also has
systemd-analyze read N random units, and counts where it says otherwise than we do.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CHECKOUT / "src"), str(CHECKOUT / "tests" / "unit" / "syntax")]

from systemd_case import cases  # noqa: E402
from systemd_grammar import EnvironmentFiles, Grammar  # noqa: E402
from systemd_oracle import FOLDER, WHY_NOT, ask, disagreements  # noqa: E402

from knowngood.model import Known  # noqa: E402
from knowngood.syntax.systemd import (  # noqa: E402
    CannotCarry,
    canonical,
    loaded_environment,
    loaded_value,
    parse_environment_file,
    read_unit,
    running_value,
    write_dropin,
)
from knowngood.syntax.systemd.lint import LARGEST  # noqa: E402

SECONDS = 10  # of CPU for one text; all but the large ones should need milliseconds
Task = Callable[[], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="mutated texts (%(default)s)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="to repeat a run")
    parser.add_argument(
        "--oracle", type=int, default=0, metavar="N", help="let systemd judge N units as well"
    )
    options = parser.parse_args()

    signal.signal(signal.SIGPROF, _too_slow)
    print(f"seed {options.seed}")
    slowest, started = 0.0, time.monotonic()
    large = [attempt(*each) for each in large_texts()]
    failed = sum(not good for good, _ in large)
    print(
        f"{len(large)} large texts, {failed} failed, the slowest took {max(took for _, took in large):.1f} s"
    )
    for number, (name, data, task) in enumerate(mutated_texts(options.seed, options.count), 1):
        good, took = attempt(name, data, task)
        failed += not good
        slowest = max(slowest, took)
        if number % 10_000 == 0:
            print(f"{number} texts, {failed} failed, {time.monotonic() - started:.0f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{failed} texts failed; the slowest mutated one took {slowest * 1000:.0f} ms; peak {peak} MB")
    parted = judge(options.seed, options.oracle) if options.oracle else 0
    sys.exit(1 if failed or parted else 0)


def attempt(name: str, data: bytes, task: Task) -> tuple[bool, float]:
    """Run one task under the deadline; whether it went well, and how long it took."""
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        task()
    except Exception:
        print(f"{name} failed on {data[:2000]!r}\n{traceback.format_exc(limit=-4)}")
        return False, time.process_time() - started
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return True, time.process_time() - started


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"not done after {SECONDS} s of CPU")


def mutated_texts(seed: int, count: int) -> Iterator[tuple[str, bytes, Task]]:
    """Texts of the cases and of the grammar, each spoiled in a few places."""
    source = random.Random(seed)
    grammar, env_files = Grammar(seed), EnvironmentFiles(seed)
    kept = [data for case in cases() for _, data in case.texts()]
    for number in range(count):
        kind = number % 4
        if kind == 3:
            data = env_files.text()
            for _ in range(source.randint(0, 3)):
                data = grammar.mutated(data)
            yield "environment file", data, lambda data=data: parse_environment_file(data)
            continue
        data = source.choice(kept) if kind == 0 else grammar.unit() if kind == 1 else grammar.dropin()
        for _ in range(source.randint(1, 4)):
            data = grammar.mutated(data)
        yield "unit", data, lambda data=data: whole_reading(data)


def whole_reading(data: bytes) -> None:
    """All that can be asked of a unit."""
    unit = read_unit("foo-bar@baz.service", ("/u", data), [("/d", data)])
    env = unit.environment({"/etc/one": data, "/etc/two": None}, base={"PATH": Known("/bin")})
    _ = [env[name] for name in (*env, "OTHER")], unit.lint, unit.exec_start(env), unit.exec_start()
    for directive, readings in unit.all_values().items():
        section, _, name = directive.partition(".")
        value = unit.value(section, name).value
        for text in (str(reading.value.value) for reading in readings if isinstance(reading.value, Known)):
            _all_spellings(directive, text)
        if isinstance(value, Known) and canonical(directive, str(value.value)) != value.value:
            raise AssertionError(f"{directive} is spelled twice: {value}")


def _all_spellings(directive: str, text: str) -> None:
    loaded_value(directive, dict.fromkeys((directive.partition(".")[2], "LimitNOFILESoft"), text), [text])
    running_value(directive, text, [text])
    loaded_environment({"Environment": text})
    with contextlib.suppress(CannotCarry):
        write_dropin({directive: [text]}, {"A": text})


def large_texts() -> Iterator[tuple[str, bytes, Task]]:
    """Much of what might cost more than it weighs: as much as is read at all, and ten megabytes."""
    pieces = [
        b"Environment=A=1\n",
        b"a b c \\\n",
        b"\\",
        b'"',
        b"$X ${X} ",
        b"%i%n%%",
        b"[Service]\n",
        b"=",
        b"\n",
    ]
    pieces += [b"\xff", b"LimitNOFILE=1:2\n", b"# comment \\\n", b"A=1\n", b"A='", b"\t"]
    for size in (LARGEST - 100, 10 << 20):
        for piece in pieces:
            data = b"[Service]\nExecStart=/bin/true\nEnvironment=" + piece * (size // len(piece))
            yield "large", data, lambda data=data: large_reading(data)


def large_reading(data: bytes) -> None:
    unit = read_unit("u.service", ("/u", data), [])
    _ = unit.lint, unit.exec_start(), unit.all_values()
    parse_environment_file(data)


def judge(seed: int, count: int) -> int:
    """How many of so many random units systemd reads otherwise; each is printed."""
    if WHY_NOT:
        sys.exit(WHY_NOT)
    parted = 0
    for start in range(0, count, 200):
        grammar = Grammar(seed + start)
        units = {}
        for number in range(start, min(start + 200, count)):
            name = f"u{number}-x@i-j.service" if number % 3 == 0 else f"u{number}-x.service"
            texts = [grammar.unit(), *(grammar.dropin() for _ in range(number % 3))]
            own = f"{FOLDER}/{name}"
            units[name] = [(f"{own}.d/{i}.conf" if i else own, text) for i, text in enumerate(texts)]
        with tempfile.TemporaryDirectory(prefix="kg-units-") as root:
            verdict = ask(Path(root), units)
        for name, files in units.items():
            of_unit = {path: lines for path, lines in verdict.complaints.items() if f"/{name}" in path}
            found = disagreements(read_unit(name, files[0], files[1:]), verdict.loaded.get(name), of_unit)
            if found:
                parted += 1
                print(files, *found, sep="\n  ")
    print(f"{count} random units before systemd: {parted} read otherwise")
    return parted


if __name__ == "__main__":
    main()
