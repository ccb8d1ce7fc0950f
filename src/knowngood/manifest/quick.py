"""A quick yes to a manifest without mistakes.

Importing jsonschema takes longer than reading a whole project, and is needed only to say what is wrong. So
this module knows just enough of JSON Schema (draft 2020-12) to recognise what is right. Whatever it has no
certain yes for, jsonschema decides: a doubt costs time and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

_ANNOTATIONS = ("$schema", "$id", "$defs", "title", "description", "errorMessage")


def surely_valid(schema: Schema, value: object) -> bool:
    """Whether a value of JSON types is certainly valid; False also stands for don't know."""
    return _holds(schema, schema, value)


@cache
def ecmascript(pattern: str) -> re.Pattern[str]:
    """JSON Schema's patterns are ECMAScript's: a last $ is the very end, where Python allows a newline."""
    return re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", pattern))


def _holds(whole: Schema, part: Schema, value: object) -> bool:
    for keyword, argument in part.items():
        if keyword in _ANNOTATIONS:
            continue
        check = _CHECKS.get(keyword)
        if check is None or not check(whole, part, argument, value):
            return False
    return True


def _type(_: Schema, __: Schema, argument: Any, value: object) -> bool:
    wanted = (argument,) if isinstance(argument, str) else argument
    return _TYPES.get(type(value)) in wanted or (type(value) is int and "number" in wanted)


# JSON's integers include 1.0; here that is a doubt.
_TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


def _const(_: Schema, __: Schema, argument: Any, value: object) -> bool:
    return type(argument) is type(value) and bool(argument == value)


def _pattern(_: Schema, __: Schema, argument: Any, value: object) -> bool:
    # Numbers are text in manifests, and this is asked of their text too.
    return type(value) not in (str, int) or ecmascript(argument).search(str(value)) is not None


def _properties(whole: Schema, _: Schema, argument: Any, value: object) -> bool:
    return not isinstance(value, dict) or all(
        _holds(whole, argument[key], item) for key, item in value.items() if key in argument
    )


def _additional(whole: Schema, part: Schema, argument: Any, value: object) -> bool:
    if not isinstance(value, dict):
        return True
    others = [item for key, item in value.items() if key not in part.get("properties", {})]
    return not others if argument is False else all(_holds(whole, argument, item) for item in others)


def _property_names(whole: Schema, _: Schema, argument: Any, value: object) -> bool:
    return not isinstance(value, dict) or all(_holds(whole, argument, key) for key in value)


def _required(_: Schema, __: Schema, argument: Any, value: object) -> bool:
    return not isinstance(value, dict) or all(key in value for key in argument)


def _items(whole: Schema, _: Schema, argument: Any, value: object) -> bool:
    return not isinstance(value, list) or all(_holds(whole, argument, item) for item in value)


def _unique(_: Schema, __: Schema, argument: Any, value: object) -> bool:
    if not isinstance(value, list):
        return True
    return argument is True and all(isinstance(item, str) for item in value) and len(set(value)) == len(value)


def _not(_: Schema, __: Schema, argument: Any, value: object) -> bool:
    # Only a certain no would do under a not, and there is one for constants of another type.
    return (set(argument) == {"const"} and type(value) is not type(argument["const"])) or (
        isinstance(value, bool) and argument == {"const": not value}
    )


def _one_of(_: Schema, __: Schema, argument: Any, value: object) -> bool:
    # As under a not; alternatives that are told apart by the keys they require are certain.
    if not isinstance(value, dict) or any(set(one) != {"required"} for one in argument):
        return False
    return sum(all(key in value for key in one["required"]) for one in argument) == 1


def _reference(whole: Schema, _: Schema, argument: Any, value: object) -> bool:
    return _holds(whole, whole["$defs"][argument.removeprefix("#/$defs/")], value)


def _bound(holds: Callable[[Any, Any], bool], kinds: tuple[type, ...]) -> Callable[..., bool]:
    def check(_: Schema, __: Schema, argument: Any, value: object) -> bool:
        return type(value) not in kinds or holds(value, argument)

    return check


_NUMBERS = (int, float)
_CHECKS: Mapping[str, Callable[[Schema, Schema, Any, object], bool]] = {
    "$ref": _reference,
    "type": _type,
    "const": _const,
    "pattern": _pattern,
    "properties": _properties,
    "additionalProperties": _additional,
    "propertyNames": _property_names,
    "required": _required,
    "items": _items,
    "uniqueItems": _unique,
    "not": _not,
    "oneOf": _one_of,
    "minimum": _bound(lambda value, least: value >= least, _NUMBERS),
    "maximum": _bound(lambda value, most: value <= most, _NUMBERS),
    "exclusiveMinimum": _bound(lambda value, bound: value > bound, _NUMBERS),
    "minLength": _bound(lambda value, least: len(value) >= least, (str,)),
    "minItems": _bound(lambda value, least: len(value) >= least, (list,)),
    "minProperties": _bound(lambda value, least: len(value) >= least, (dict,)),
    "maxProperties": _bound(lambda value, most: len(value) <= most, (dict,)),
}
