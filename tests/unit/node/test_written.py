"""The answer's JSON and its frame: what the node writes, the controller's own parsers read."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from knowngood.node.written import encode, frame
from knowngood.observe.answer_frame import unframe

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None)) | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner, max_size=5),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_is_read(value: object) -> None:
    text = encode(value)
    assert text.isascii()
    assert json.loads(text) == value
    assert unframe(b"noise" + frame("run", text) + b"noise", "run") == value


@given(st.text(min_size=1), st.integers(0, 100))
def test_long_answers_are_packed(text: str, times: int) -> None:
    value = [text] * times * 50
    framed = frame("run", encode(value))
    assert unframe(framed, "run") == value
    assert framed.isascii()
