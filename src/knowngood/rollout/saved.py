"""A plan as JSON, for `plan --out FILE` and for programs: stable, ASCII, and without contents or secrets.

Fields are only ever added; a reader of version 1 skips those that it does not know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from knowngood.rollout.plan import Plan

VERSION = 1
_IN_MEMORY = ("data", "secret_texts", "source")


class NotAPlan(ValueError):
    """The text is no plan that this version reads; the message says why."""


def to_json(plan: Plan) -> dict[str, Any]:
    """The plan as JSON types. Its texts are masked already; lone surrogates are written out (I-JSON)."""
    return {"schema_version": VERSION, "exit_code": int(plan.exit_code), **_plain(asdict(plan))}


def dumps(plan: Plan) -> str:
    """The plan as indented JSON text with a newline at its end."""
    return json.dumps(to_json(plan), indent=2) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_text(key): _plain(each) for key, each in value.items() if key not in _IN_MEMORY}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def loads(text: str | bytes) -> Plan:
    """A saved plan; NotAPlan where the text is none."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotAPlan(f"not JSON: {error}") from error
    return from_json(document)


def from_json(document: object) -> Plan:
    """A plan from JSON types; NotAPlan where they are none."""
    if not isinstance(document, Mapping) or "schema_version" not in document:
        raise NotAPlan("not a plan of knowngood")
    if document["schema_version"] != VERSION:
        raise NotAPlan(f"a plan of version {document['schema_version']!r}; this program reads {VERSION}")
    plan = _made(Plan, document, "plan")
    assert isinstance(plan, Plan)  # noqa: S101
    return plan


def _made(kind: Any, value: Any, where: str) -> Any:
    """The value as the type says, by the dataclasses' own fields."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _made_dataclass(kind, value, where)
    if origin in (Union, UnionType):
        (only,) = [each for each in arguments if each is not NoneType]
        return None if value is None else _made(only, value, where)
    if origin is Literal:
        return _checked(value in arguments, value, where)
    if origin is tuple:
        _checked(isinstance(value, list), value, where)
        if arguments[-1:] == (Ellipsis,):
            return tuple(_made(arguments[0], each, f"{where}[{n}]") for n, each in enumerate(value))
        _checked(len(value) == len(arguments), value, where)
        return tuple(_made(each, got, where) for each, got in zip(arguments, value, strict=True))
    if origin is not None:  # a mapping of text to text
        _checked(isinstance(value, Mapping), value, where)
        return {_made(str, key, where): _made(str, each, f"{where}.{key}") for key, each in value.items()}
    if isinstance(kind, type) and issubclass(kind, str) and kind is not str:
        _checked(value in [member.value for member in kind], value, where)  # type: ignore[attr-defined]
        return kind(value)
    if kind is float:
        return float(_checked(isinstance(value, int | float) and not isinstance(value, bool), value, where))
    right = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    return _checked(right, value, where)


def _made_dataclass(kind: Any, value: Any, where: str) -> Any:
    _checked(isinstance(value, Mapping), value, where)
    hints = get_type_hints(kind)
    known = [each.name for each in fields(kind) if each.name in value and each.name not in _IN_MEMORY]
    try:
        return kind(**{name: _made(hints[name], value[name], f"{where}.{name}") for name in known})
    except TypeError as error:
        raise NotAPlan(f"{where}: something is missing") from error


def _checked(right: bool, value: Any, where: str) -> Any:
    if not right:
        raise NotAPlan(f"{where}: not what a plan holds there")
    return value
