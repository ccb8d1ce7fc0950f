"""The schema itself: valid, complete for editors, and read alike by jsonschema and by the quick check."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from knowngood.manifest import schema_text
from knowngood.manifest.quick import surely_valid
from knowngood.manifest.read import decode, read
from knowngood.manifest.schema import _validator
from knowngood.manifest.source import Source
from knowngood.manifest.tree import plain

SCHEMA = json.loads(schema_text())
GOOD = sorted((Path(__file__).parents[2] / "cases" / "manifests" / "good").glob("*.yaml"))


def parts(schema: object, path: str = "#") -> Iterator[tuple[str, dict[str, object]]]:
    if isinstance(schema, dict):
        yield path, schema
        for key, value in schema.items():
            if key in ("properties", "$defs"):
                for name, part in value.items():
                    yield from parts(part, f"{path}/{key}/{name}")
            elif key in ("items", "additionalProperties", "propertyNames"):
                yield from parts(value, f"{path}/{key}")


PARTS = list(parts(SCHEMA))


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["$id"] == "urn:knowngood:manifest:1"


@pytest.mark.parametrize(("path", "part"), PARTS[1:], ids=[path for path, _ in PARTS[1:]])
def test_every_part_says_what_it_must_be(path: str, part: dict[str, object]) -> None:
    assert part.get("errorMessage") or "$ref" in part or path == "#/$defs/override", path


@pytest.mark.parametrize(("path", "part"), PARTS[1:], ids=[path for path, _ in PARTS[1:]])
def test_every_key_has_a_title_that_editors_show(path: str, part: dict[str, object]) -> None:
    if path.split("/")[-2] == "properties" and not path.startswith("#/$defs/override/"):
        target = SCHEMA["$defs"][str(part["$ref"]).removeprefix("#/$defs/")] if "$ref" in part else {}
        assert part.get("title") or target.get("title"), path


def test_maps_are_strict() -> None:
    for path, part in PARTS:
        if part.get("type") == "object" or "properties" in part:
            assert "additionalProperties" in part, path


def value_of(case: Path) -> object:
    source = decode(case.name, case.read_bytes())
    assert isinstance(source, Source)
    tree, _ = read(source)
    assert tree is not None
    return plain(tree)


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.stem)
def test_good_manifests_need_no_second_look(case: Path) -> None:
    value = value_of(case)
    assert _validator().is_valid(value)
    assert surely_valid(SCHEMA, value)


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 1000),
    st.sampled_from([0.5, 1.0, -0.1]),
    st.sampled_from(
        ["", "x", "a b", "a\n", "\0", "/a", "/a/../b", "env:X", "-x", "25%", "0644", "a.service", "http://x/"]
    ),
)
KEYS = sorted({name for _, part in PARTS for name in part.get("properties", {})} | {"A", "--tp", "2", "Nice"})
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)


def spots(value: object) -> list[tuple[dict[str, object] | list[object], str | int]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, item in items:
        found += [(value, key), *spots(item)]
    return found


@settings(max_examples=500, deadline=None)
@given(case=st.sampled_from(GOOD), data=st.data())
def test_a_quick_yes_is_never_wrong(case: Path, data: st.DataObject) -> None:
    value = value_of(case)
    for _ in range(data.draw(st.integers(1, 3))):
        there = spots(value)
        if there:
            container, key = data.draw(st.sampled_from(there))
            container[key] = data.draw(VALUES)  # type: ignore[index]
        if isinstance(value, dict) and data.draw(st.booleans()):
            value[data.draw(st.sampled_from(KEYS))] = data.draw(VALUES)
    if surely_valid(SCHEMA, value):
        assert _validator().is_valid(value)
