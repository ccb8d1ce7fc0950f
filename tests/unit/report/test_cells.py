"""Text fitted to cells of a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowngood.report.cells import cut, pad, squeeze, squeeze_alike, width, wrap

visible = st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=30)


@pytest.mark.parametrize(
    ("text", "cells", "short"),
    [
        ("SGLANG_SM120_MMA_TARGET_CTAS", 28, "SGLANG_SM120_MMA_TARGET_CTAS"),
        ("SGLANG_SM120_MMA_TARGET_CTAS", 27, "SGLANG_…_MMA_TARGET_CTAS"),
        ("SGLANG_SM120_MMA_TARGET_CTAS", 20, "SGLANG_…_TARGET_CTAS"),
        ("SGLANG_SM120_MMA_TARGET_CTAS", 13, "SGLANG_…_CTAS"),
        ("SGLANG_SM120_MMA_TARGET_CTAS", 9, "SGLA…CTAS"),
        ("arg --disable-overlap-schedule", 26, "arg --disable-…-schedule"),
        ("systemd LimitNOFILE", 17, "systemd …itNOFILE"),
        ("漢字漢字漢字", 7, "漢…字"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_squeeze(text: str, cells: int, short: str) -> None:
    assert squeeze(text, cells) == short


@given(visible, st.integers(0, 30))
def test_nothing_is_wider_than_its_room(text: str, cells: int) -> None:
    assert width(squeeze(text, cells)) <= cells
    assert width(cut(text, cells)) <= cells
    assert width(pad(text, cells)) == max(width(text), cells)


@given(st.text("ab 漢/", max_size=60), st.integers(2, 30))
def test_wrapping_loses_nothing_but_blanks(text: str, cells: int) -> None:
    lines = wrap(text, cells)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(width(line) <= cells for line in lines)


@pytest.mark.parametrize(
    ("texts", "cells", "short", "apart"),
    [
        (["512", "256"], [8, 8], ["512", "256"], True),
        (
            ["/usr/lib/cuda-12.8/lib64/x", "/usr/lib/cuda-12.6/lib64/x"],
            [10, 10],
            ["…2.8/lib6…", "…2.6/lib6…"],
            True,
        ),
        (["a" * 30, "a" * 15 + "b" + "a" * 14], [8, 8], ["…aaaaaa…", "…aabaaa…"], True),
        (["", "x" * 20], [8, 8], ["", "xxxx…xxx"], True),
        (["x" * 20, "x" * 20], [9, 6], ["xxx…xx", "xxx…xx"], True),
    ],
)
def test_what_differs_stays_different(
    texts: list[str], cells: list[int], short: list[str], apart: bool
) -> None:
    assert squeeze_alike(texts, cells) == (short, apart)


@given(st.lists(st.text("ab", max_size=20), min_size=2, max_size=4), st.integers(1, 12))
def test_two_values_look_alike_only_where_we_say_so(texts: list[str], cells: int) -> None:
    short, told_apart = squeeze_alike(texts, [cells] * len(texts))
    assert not told_apart or len(set(short)) == len(set(texts))
