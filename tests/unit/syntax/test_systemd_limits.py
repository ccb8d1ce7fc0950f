"""What is too large to be a unit is not read, and nothing of it is taken for known."""

from __future__ import annotations

import pytest

from knowngood.model import ABSENT, Known, Unknown
from knowngood.syntax.systemd import env_file_differences, read_unit
from knowngood.syntax.systemd.lint import LARGEST, MOST_REMARKS

FRAGMENT = b"[Service]\nExecStart=/bin/true\nNice=1\n"
HUGE = b"# a comment\n" * (LARGEST // 12 + 1)


@pytest.mark.parametrize("texts", [(FRAGMENT + HUGE, b""), (FRAGMENT, b"[Service]\n" + HUGE)])
def test_a_huge_text_leaves_everything_open(texts: tuple[bytes, bytes]) -> None:
    unit = read_unit("u.service", ("/u", texts[0]), [("/d", texts[1])])
    nice = unit.value("Service", "Nice").value
    assert isinstance(nice, Unknown)
    assert "larger" in nice.reason
    assert [lint.code for lint in unit.lint] == ["too-large"]
    assert unit.exec_start() == ()
    assert isinstance(unit.environment({}, base={"PATH": Known("/bin")})["A"].value, Unknown)


def test_a_huge_environment_file_leaves_everything_open() -> None:
    unit = read_unit("u.service", ("/u", FRAGMENT + b"EnvironmentFile=-/e\nEnvironment=A=1\n"), [])
    env = unit.environment({"/e": HUGE}, base={"PATH": Known("/bin")})
    assert isinstance(env["A"].value, Unknown)
    assert isinstance(env["OTHER"].value, Unknown)
    assert env_file_differences(HUGE) == []


def test_remarks_come_to_an_end() -> None:
    unit = read_unit("u.service", ("/u", FRAGMENT + b"Typo=1\n" * (MOST_REMARKS + 500)), [])
    assert len(unit.lint) == MOST_REMARKS


def test_a_unit_without_a_fragment_is_its_dropins() -> None:
    unit = read_unit("u.service", None, [("/d", b"[Service]\nNice=3\n")])
    assert unit.refused is None
    assert unit.value("Service", "Nice").value == Known("3")
    assert unit.value("Service", "User").value == ABSENT


def test_an_empty_fragment_is_masked() -> None:
    unit = read_unit("u.service", ("/u", b""), [("/d", b"[Service]\nNice=3\n")])
    nice = unit.value("Service", "Nice").value
    assert isinstance(nice, Unknown)
    assert "masked" in nice.reason
