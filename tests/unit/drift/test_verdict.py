"""The fifteen ways four layers part, each by the one rule; and what mends it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowngood.drift.verdict import mend, verdict
from knowngood.model import ABSENT, Absent, Known, Layers, Setting, Unknown, Value, Verdict

A, B, C, D = Known("a"), Known("b"), Known("c"), Known("d")
LIMIT = Setting("systemd", "Service.LimitNOFILE")

# M, D, L, R as letters that are equal where the values are: the set partitions of four.
SHAPES = {
    "aaaa": (Verdict.IN_SYNC, ()),
    "aaab": (Verdict.RESTART_PENDING, ("restart",)),
    "aaba": (Verdict.RELOAD_PENDING, ("daemon-reload",)),
    "abaa": (Verdict.EDITED_ON_DISK, ("write", "daemon-reload")),
    "abbb": (Verdict.EDITED_AND_LIVE, ("write", "daemon-reload", "restart")),
    "aabb": (Verdict.RELOAD_PENDING, ("daemon-reload", "restart")),
    "abab": (Verdict.EDITED_AND_LIVE, ("write", "daemon-reload", "restart")),
    "abba": (Verdict.EDITED_ON_DISK, ("write", "daemon-reload")),
    "aabc": (Verdict.RELOAD_PENDING, ("daemon-reload", "restart")),
    "abac": (Verdict.SPLIT, ("write", "daemon-reload", "restart")),
    "abca": (Verdict.EDITED_ON_DISK, ("write", "daemon-reload")),
    "abbc": (Verdict.SPLIT, ("write", "daemon-reload", "restart")),
    "abcb": (Verdict.EDITED_AND_LIVE, ("write", "daemon-reload", "restart")),
    "abcc": (Verdict.SPLIT, ("write", "daemon-reload", "restart")),
    "abcd": (Verdict.SPLIT, ("write", "daemon-reload", "restart")),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_four_layers(shape: str) -> None:
    values = dict(zip("abcd", (A, B, C, D), strict=True))
    layers = Layers(*(values[letter] for letter in shape))
    assert (verdict(layers), mend(LIMIT, layers, in_unit=True)) == SHAPES[shape]


def test_the_shapes_are_all_there_are() -> None:
    def canonical(values: tuple[str, ...]) -> str:
        names: dict[str, str] = {}
        return "".join(names.setdefault(value, "abcd"[len(names)]) for value in values)

    assert {canonical(p) for p in itertools.product("abcd", repeat=4)} == set(SHAPES)


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        (Layers(A, A, None, None), Verdict.IN_SYNC),  # the unit is stopped: judged by disk
        (Layers(A, B, None, None), Verdict.EDITED_ON_DISK),
        (Layers(A, B, None, Unknown("x")), Verdict.EDITED_ON_DISK),
        (Layers(A, A, None, Unknown("x")), Verdict.UNKNOWN),
        (Layers(A, Unknown("x"), None, A), Verdict.UNKNOWN),
        (Layers(A, Unknown("x"), None, B), Verdict.LIVE_DIFFERS),
        (Layers(A, Unknown("x"), None, Unknown("y")), Verdict.UNKNOWN),
        (Layers(A, Unknown("x"), None, None), Verdict.UNKNOWN),
        (Layers(A, Unknown("x"), B, None), Verdict.LIVE_DIFFERS),
        (Layers(A, A, Unknown("x"), None), Verdict.UNKNOWN),
        (Layers(A, A, Unknown("x"), A), Verdict.UNKNOWN),
        (Layers(A, B, B, None), Verdict.EDITED_AND_LIVE),  # Restart=: the manager's value is the live one
        (Layers(A, B, A, None), Verdict.EDITED_ON_DISK),
        (Layers(ABSENT, B, None, B), Verdict.EDITED_AND_LIVE),  # a forbidden knob
        (Layers(ABSENT, ABSENT, None, B), Verdict.RESTART_PENDING),
        (Layers(A, ABSENT, None, A), Verdict.EDITED_ON_DISK),
        (Layers(A, None, None, None), Verdict.UNKNOWN),  # not looked at is not clean
        (Layers(A, None, None, B), Verdict.LIVE_DIFFERS),
        # older than its file: not the disk's content, though nobody can say which
        (Layers(A, A, None, Unknown("older", not_value="a")), Verdict.RESTART_PENDING),
        (Layers(A, B, None, Unknown("older", not_value="b")), Verdict.EDITED_ON_DISK),
    ],
)
def test_missing_and_unknown_layers(layers: Layers, expected: Verdict) -> None:
    assert verdict(layers) is expected


values = st.sampled_from([A, B, ABSENT, Unknown("why"), Unknown("not b", not_value="b")])
layers = st.builds(Layers, st.sampled_from([A, B, ABSENT]), *[st.none() | values] * 3).filter(
    lambda layers: layers.disk is not None or layers.loaded is None  # the manager only knows what has a text
)


def _certain(value: Value | None) -> bool:
    return isinstance(value, Known | Absent)


@given(layers)
def test_in_sync_is_said_only_when_every_layer_was_seen_to_agree(layers: Layers) -> None:
    if verdict(layers) is Verdict.IN_SYNC:
        seen = [v for v in (layers.disk, layers.loaded, layers.running) if v is not None]
        assert seen and all(_certain(v) and v == layers.manifest for v in seen)


@given(layers)
def test_a_process_known_to_differ_is_never_left_without_a_restart(layers: Layers) -> None:
    if _certain(layers.running) and layers.running != layers.manifest:
        assert "restart" in mend(LIMIT, layers, in_unit=True)
        assert verdict(layers) is not Verdict.IN_SYNC
