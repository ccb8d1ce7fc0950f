"""A node may send anything: whatever becomes of a true answer, reading it never raises nor takes long."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from knowngood.model import ABSENT, Desired, DesiredFile, DesiredScript, Failure, Known, Observation, Secret
from knowngood.node.written import frame
from knowngood.observe.answer import read_answer
from knowngood.observe.ask import run_of

NONCE = b"nonce of the recorded answers"
CLEAN = json.loads((Path(__file__).parents[2] / "cases" / "answers" / "clean.json").read_text())
ROLE = Desired(
    manifest="dsv4-decode",
    host="node",
    unit=CLEAN["role"]["unit"],
    files=tuple(DesiredFile(path, "0" * 64, "") for path in CLEAN["role"]["files"]),
    script=DesiredScript(CLEAN["role"]["script"]),
    env={
        "SGLANG_SM120_MMA_TARGET_CTAS": Known("512"),
        "NCCL_DEBUG": ABSENT,
        "HF_TOKEN": Secret("HF_TOKEN", "x"),
    },
)

DELETE = "delete"
ODD = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1 << 63,
        1 << 70,
        0.5,
        "",
        "x",
        "\ud800",
        "\udcff",
        "\0",
        "é€",
        [],
        {},
        [[]],
        [{}],
        {"error": "no"},
    ]
    + [{"value": value} for value in (None, 1, "x", [], {}, [1], [{}], {"x": 1})]
)


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every value in a tree of JSON."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for key, each in inner for place in places(each, (*way, key)))]


PLACES = [way for way in places(CLEAN["answer"]) if way]


def change(tree: Any, way: tuple[Any, ...], value: object) -> None:
    """Put a value, or DELETE, at the end of a way; a way that an earlier change cut off is let be."""
    try:
        for key in way[:-1]:
            tree = tree[key]
        if value == DELETE:
            del tree[way[-1]]
        else:
            tree[way[-1]] = value
    except (LookupError, TypeError):
        return


def read(raw: bytes) -> dict[str, Observation] | Failure:
    began = time.process_time()
    answer = read_answer("node", raw, [ROLE], NONCE)
    assert time.process_time() - began < 1
    if isinstance(answer, Failure):
        assert answer.kind == "incomplete"
        assert answer.reason.isprintable()
        assert len(answer.reason) < 500
    else:
        repr(answer)
    return answer


@given(st.lists(st.tuples(st.sampled_from(PLACES), ODD), min_size=1, max_size=3))
def test_any_part_may_be_anything(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    answer = json.loads(json.dumps(CLEAN["answer"]))
    for way, value in changes:
        change(answer, way, value)
    read(frame(run_of(NONCE), json.dumps(answer)))


WHOLE = frame(run_of(NONCE), json.dumps(CLEAN["answer"]))


@given(st.integers(0, len(WHOLE) - 1), st.binary(max_size=4), st.integers(0, 8))
def test_any_byte_may_be_any(at: int, piece: bytes, gone: int) -> None:
    read(WHOLE[:at] + piece + WHOLE[at + gone :])


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_anything_may_stand_around_it(before: bytes, behind: bytes) -> None:
    assert isinstance(read(before + WHOLE + behind), dict)


@given(st.text(max_size=50))
def test_text_instead_of_bytes_is_read_too(noise: str) -> None:
    answer = read_answer("node", noise + WHOLE.decode("ascii"), [ROLE], NONCE)
    assert isinstance(answer, dict)
