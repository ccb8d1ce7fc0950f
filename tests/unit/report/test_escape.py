"""Text from anywhere is one line of visible characters, and short."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowngood.report.escape import clean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, 100 %", "plain text, 100 %"),
        ("漢字 naïve 🚀", "漢字 naïve 🚀"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nb\tc\rd", r"a\nb\tc\rd"),
        ("\x00\x07\x7f\x9b", r"\x00\x07\x7f\x9b"),
        ("\u202egpj.exe", r"\u202egpj.exe"),
        ("\u2066x\u2069", r"\u2066x\u2069"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("e\u0301", r"e\u0301"),
        ("\u00a0", r"\xa0"),
        ("\u2028", r"\u2028"),
        ("\u3164\u2800", r"\u3164\u2800"),
        ("\udc80", r"\udc80"),
        ("\U000e0041", r"\U000e0041"),
        ("", ""),
    ],
)
def test_hidden_characters_are_written_out(text: str, shown: str) -> None:
    assert clean(text) == shown


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("abcdefghij", 10, "abcdefghij"),
        ("abcdefghijk", 10, "abcde…hijk"),
        ("\x1b" * 4, 10, r"\x1b…\x1b"),  # never half an escape
        ("abc", 1, "…"),
        ("a" * 10**7, 5, "aa…aa"),
    ],
)
def test_long_text_loses_its_middle(text: str, limit: int, shown: str) -> None:
    assert clean(text, limit) == shown


@given(
    st.text() | st.text(st.characters(categories=["Cc", "Cf", "Cs", "Mn", "Zs", "Zl", "Zp"])),
    st.integers(1, 50),
)
def test_whatever_comes_is_visible_and_bounded(text: str, limit: int) -> None:
    shown = clean(text, limit)
    assert len(shown) <= limit
    assert shown.isprintable()
    assert not any(unicodedata.category(letter) in ("Mn", "Me") for letter in shown)
    shown.encode("utf-8")
