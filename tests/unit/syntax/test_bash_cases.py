"""Every case of tests/cases/serve_script, read and compared with what bash does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bash_case import Case, all_cases
from bash_oracle import Oracle, Started
from bash_verdict import contradictions, unresolved

from knowngood.model import Known, Unknown, Value
from knowngood.syntax.bash import read_script


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    made = Oracle()
    (made.root / "files").mkdir()
    yield made
    made.close()


def load(path: Path, oracle: Oracle) -> Case:
    case = Case.load(path, oracle.root / "files")
    for name, data in case.files.items():
        Path(name).write_bytes(data)
    return case


def run(case: Case, oracle: Oracle) -> list[Started]:
    started = oracle.run(case.text, env=case.caller, args=case.args, seconds=case.seconds)
    assert started, "the case starts nothing, so it proves nothing"
    return started


def test_there_are_cases_enough() -> None:
    assert len(all_cases()) >= 80


@pytest.mark.parametrize("path", all_cases(), ids=lambda path: path.stem)
def test_bash_agrees(path: Path, oracle: Oracle) -> None:
    """With all known of the caller: nothing is wrong, and nothing open but what the case allows."""
    case = load(path, oracle)
    caller: dict[str, Value] = {name: Known(value) for name, value in case.caller.items()}
    caller["PATH"] = Known(str(oracle.bin))
    script = read_script(case.text, caller=caller, args=case.args, files=case.files)
    assert contradictions(script, run(case, oracle), caller) == []
    assert {what.split(" ")[0] for what in unresolved(script, caller)[0]} == case.unknown


@pytest.mark.parametrize("path", all_cases(), ids=lambda path: path.stem)
def test_bash_agrees_when_the_caller_is_not_known(path: Path, oracle: Oracle) -> None:
    """What is said without knowing the caller holds for this one; defaults hold when it gives nothing."""
    case = load(path, oracle)
    nothing_given = not case.args and not case.caller
    script = read_script(case.text, files=case.files)
    assert contradictions(script, run(case, oracle), None, defaults_hold=nothing_given) == []


@pytest.mark.parametrize("path", all_cases(), ids=lambda path: path.stem)
def test_bash_agrees_when_values_of_the_caller_are_not_known(path: Path, oracle: Oracle) -> None:
    case = load(path, oracle)
    caller: dict[str, Value] = {name: Unknown("not told") for name in case.caller}
    script = read_script(case.text, caller={**caller, "PATH": Unknown("not told")}, files=case.files)
    assert contradictions(script, run(case, oracle), None, defaults_hold=False) == []
