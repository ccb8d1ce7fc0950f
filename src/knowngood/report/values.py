"""A layer's value, for people and for programs."""

from __future__ import annotations

import re
import shlex
from typing import TypeAlias

from knowngood.model import Absent, Finding, Known, Layers, Occurrences, Plain, Unknown, Value, Verdict
from knowngood.report.escape import clean

JsonValue: TypeAlias = str | bool | list["JsonValue"] | dict[str, "JsonValue"]

LAYERS = ("manifest", "disk", "loaded", "running")
ABSENT_MARK, UNKNOWN_MARK = "—", "?"
OTHER = "other"  # nobody knows what it is, only what it is not
VALUE_LIMIT = 2000  # characters

_SHA256 = re.compile(r"[0-9a-f]{64}")
_HASH_SHOWN = 8  # hex digits
# Which layers a verdict says to differ, even where the values don't show it (two masked secrets).
_DIFFERING = {
    Verdict.RESTART_PENDING: ("running",),
    Verdict.RELOAD_PENDING: ("loaded",),
    Verdict.EDITED_ON_DISK: ("disk",),
    Verdict.EDITED_AND_LIVE: ("disk", "running"),
    Verdict.SPLIT: ("disk", "running"),
    Verdict.LIVE_DIFFERS: ("running",),
    Verdict.STOPPED: ("running",),
}


def starred(finding: Finding) -> frozenset[str]:
    """The layers that differ from the manifest, of disk, loaded and running."""
    layers = finding.layers
    told = _DIFFERING.get(finding.verdict, ())
    return frozenset(
        name
        for name in LAYERS[1:]
        if (value := layer(layers, name)) is not None
        and (name in told or _visibly_differs(value, layers.manifest))
    )


def layer(layers: Layers, name: str) -> Value | None:
    """One layer by its name."""
    value: Value | None = getattr(layers, name)
    return value


def shown(value: Value | None, kind: str, *, differs: bool = False) -> str:
    """A value as it stands in a column, clean; "" for a layer that the setting does not have.

    `kind` is the setting's: a file's content is shown by the first digits of its hash. `differs`: of an
    unknown value so much is known.
    """
    match value:
        case None:
            return ""
        case Absent():
            return ABSENT_MARK
        case Unknown():
            return OTHER if differs else UNKNOWN_MARK
        case Known(plain):
            if kind == "file" and isinstance(plain, str) and _SHA256.fullmatch(plain):
                return plain[:_HASH_SHOWN]
            return _shown_plain(plain)


def json_plain(plain: Plain) -> JsonValue:
    """A value for JSON: text as it is; a bare flag is true, several words a list, and
    `{"repeat": […]}` a flag given several times (or, with no entry, not once)."""
    if isinstance(plain, str):
        return json_text(plain)
    each = [_json_words(words) for words in plain.words]
    return each[0] if len(each) == 1 else {"repeat": each}


def json_text(text: str) -> str:
    """The text with lone surrogates written out, as I-JSON (RFC 7493, 2.1) wants none."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _json_words(words: tuple[str, ...]) -> JsonValue:
    if not words:
        return True
    return json_text(words[0]) if len(words) == 1 else [json_text(word) for word in words]


def _visibly_differs(value: Value, manifest: Value) -> bool:
    if isinstance(manifest, Unknown):
        return False
    if isinstance(value, Unknown):
        return value.not_value is not None and Known(value.not_value) == manifest
    return value != manifest


def _shown_plain(plain: Plain) -> str:
    if isinstance(plain, Occurrences):
        return ", ".join(_shown_words(words) for words in plain.words) or "(never given)"
    text = clean(plain, VALUE_LIMIT)
    mistakable = text in ("", ABSENT_MARK, UNKNOWN_MARK, OTHER) or text != text.strip() or text.endswith("*")
    return f'"{text}"' if mistakable else text


def _shown_words(words: tuple[str, ...]) -> str:
    """The words as one would write them after the flag."""
    if not words:
        return "true"
    if words == ("true",):
        return '"true"'  # the word, not the bare flag
    return " ".join(_shown_word(word) for word in words)


def _shown_word(word: str) -> str:
    text = clean(word, VALUE_LIMIT)
    mistakable = text in ("", ABSENT_MARK, UNKNOWN_MARK, OTHER) or re.search(r"[\s,*'\"]", text)
    return shlex.quote(text) if mistakable else text
