"""Checking a manifest's tree against manifest.schema.json, with messages for people.

The schema is the format's single definition. Each part of it carries, as `errorMessage` (a keyword that
editors know too), what a value there must be; this module adds where it is and what stands there instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

from knowngood.manifest.diagnostic import Diagnostic, shown_key
from knowngood.manifest.quick import Schema, ecmascript, surely_valid
from knowngood.manifest.source import Source
from knowngood.manifest.tree import Mapping, Node, Scalar, Sequence, plain
from knowngood.syntax.secrets import looks_secret

SCHEMA_FILE = Path(__file__).with_name("manifest.schema.json")


def schema_text() -> str:
    """The JSON Schema of manifests, for editors to complete from."""
    return SCHEMA_FILE.read_text(encoding="utf-8")


def check(source: Source, tree: Mapping) -> list[Diagnostic]:
    """All places where the tree is not what the schema says, in the order of the source."""
    value = plain(tree)
    if surely_valid(_schema(), value):
        return []
    errors = _validator().iter_errors(value)
    found = {diagnostic: None for error in errors for diagnostic in _diagnostics(source, tree, error)}
    return sorted(found, key=lambda diagnostic: (diagnostic.line, diagnostic.column))


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def pattern(_: object, pattern: str, instance: object, __: object) -> Iterator[ValidationError]:
        # Numbers are text here as everywhere; plain() makes only those whose text is this one.
        is_text = isinstance(instance, str | int) and not isinstance(instance, bool)
        if is_text and not ecmascript(pattern).search(str(instance)):
            yield ValidationError("pattern")

    return extend(Draft202012Validator, {"pattern": pattern})(_schema())  # type: ignore[no-untyped-call]


@cache
def _schema() -> Schema:
    return cast(Schema, json.loads(schema_text()))


def _diagnostics(source: Source, tree: Mapping, error: Any) -> Iterator[Diagnostic]:
    steps = list(error.absolute_path)
    node = _at(tree, steps)
    label = _label(steps)
    keyword = error.validator
    if "propertyNames" in error.schema_path:
        yield _wrong_key(source, node, error)
    elif keyword == "additionalProperties" and isinstance(node, Mapping):
        yield from _unknown_keys(source, node, label, error)
    elif keyword == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        yield source.diagnostic(node.start, f"{label or 'the manifest'} has no {missing}")
    elif isinstance(node, Scalar) and node.word is not None:
        yield source.diagnostic(node.start, f"{label}: {_yaml_word(node, node.word, steps, error)}")
    else:
        yield source.diagnostic(
            node.start, f"{label or 'a manifest'} must be {error.schema.get('errorMessage')}"
        )


def _wrong_key(source: Source, node: Node, error: Any) -> Diagnostic:
    assert isinstance(node, Mapping)  # noqa: S101 - only maps have property names
    key = node.entries[error.instance].key
    return source.diagnostic(key.start, f"{shown_key(key.text)!r}: {error.schema.get('errorMessage')}")


def _unknown_keys(source: Source, node: Mapping, label: str, error: Any) -> Iterator[Diagnostic]:
    known = list(error.schema.get("properties", {}))
    for key, entry in node.entries.items():
        if key not in known:
            # In braces and without a colon, a secret is a key: HF_TOKEN: {hf_…}
            name = "a key" if looks_secret(label) else repr(shown_key(key))
            message = f"{name} has no meaning in {label or 'a manifest'}"
            yield source.diagnostic(entry.key.start, message, _near(key, known))


def _near(key: str, known: list[str]) -> str:
    import difflib

    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(key.lower(), by_lower, n=1, cutoff=0.6)
    return f"did you mean {by_lower[close[0]]!r}?" if close else f"known are {', '.join(known)}"


def _yaml_word(node: Scalar, word: str, steps: list[Any], error: Any) -> str:
    """Why a yes, no, true, false, null or nothing, without quotes, is refused here."""
    inside = [step for step in steps if isinstance(step, str)]
    section = inside[-2] if len(inside) > 1 else ""
    is_value = section in ("env", "Environment", "args", "Service", "Unit")
    quoted = f'"{node.text}"'
    if word == "null":
        if is_value and not node.text:
            return (
                "there is no value: write {absent: true} if it must not be set,"
                ' "" if it must be set and empty'
            )
        if is_value:
            return (
                f"{node.text} without quotes is nothing to YAML, not text: write {quoted} for the text,"
                " {absent: true} if it must not be set"
            )
        return f"there is no value; it must be {error.schema.get('errorMessage')}"
    if section == "args" and isinstance(steps[-1], str):
        return (
            "of YAML's words only `true` has a meaning for a flag (given, without a value):"
            f" write {quoted} for the text, {{absent: true}} if it must not be given"
        )
    if is_value:
        return f"{node.text} without quotes is {word} to YAML, not text: write {quoted} for the text"
    return f"{node.text} is not {error.schema.get('errorMessage')}"


def _at(node: Node, steps: list[Any]) -> Node:
    for step in steps:
        if isinstance(node, Mapping):
            node = node.entries[step].value
        elif isinstance(node, Sequence):
            node = node.items[step]
    return node


def _label(steps: list[Any]) -> str:
    """How a message calls a place: its key, or its list's key with which item, counting from 1."""
    names = [index for index, step in enumerate(steps) if isinstance(step, str)]
    if not names:
        return ""
    last = names[-1]
    items = "".join(f" (item {step + 1})" for step in steps[last + 1 :])
    return f"{steps[last]}{items}"
