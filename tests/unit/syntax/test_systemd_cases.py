"""Each case of tests/cases/units, and systemd's own word on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from systemd_case import Case, agrees, cases
from systemd_oracle import WHY_NOT, ask, disagreements

from knowngood.model import Known, Unknown

every_case = pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases()])


@every_case
def test_values_are_what_the_case_says(case: Case) -> None:
    unit = case.read()
    assert (unit.refused is not None) == case.data.get("refused", False), unit.refused
    for directive, wanted in case.data.get("values", {}).items():
        section, _, name = directive.partition(".")
        assert agrees(unit.value(section, name), wanted), (directive, unit.value(section, name))
    for directive, wanted in case.data.get("lines", {}).items():
        section, _, name = directive.partition(".")
        assert [reading.value for reading in unit.lines(section, name)] == [Known(text) for text in wanted]


@every_case
def test_environment_is_what_the_case_says(case: Case) -> None:
    env = case.read().environment(case.files(), base=case.base())
    assert {
        name: env[name]
        for name, wanted in case.data.get("environment", {}).items()
        if not agrees(env[name], wanted)
    } == {}


@every_case
def test_commands_are_what_the_case_says(case: Case) -> None:
    unit = case.read()
    env = unit.environment(case.files(), base=case.base())
    argv = [
        [None if isinstance(word.value, Unknown) else word.value.value for word in command.argv]  # type: ignore[union-attr]
        for command in unit.exec_start(env)
    ]
    assert argv == case.data.get("argv", argv)


@every_case
def test_remarks_are_what_the_case_says(case: Case) -> None:
    told = sorted(f"{lint.line} {lint.code}" for lint in case.read().lint)
    assert told == sorted(case.data.get("lint", told))


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_systemd_says_the_same(tmp_path: Path) -> None:
    judged = {case.name: case for case in cases() if case.data.get("oracle", True)}
    wrong = {}
    for name, case in judged.items():
        verdict = ask(tmp_path / name, {case.unit_name: case.texts()})
        found = disagreements(case.read(), verdict.loaded.get(case.unit_name), verdict.complaints)
        if found:
            wrong[name] = found
    assert wrong == {}
    assert len(judged) > 60
