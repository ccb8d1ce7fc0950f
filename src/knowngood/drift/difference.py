"""Where two structured values part: long word lists and JSON-valued flags, told by path.

Short texts need no telling: both stand side by side on the screen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache

from knowngood.model import Known, Layers, Occurrences, Value

_LONG_LIST = 4  # words; a shorter list is taken in at a glance
_LONGEST_JSON = 8_000  # characters; comparing a longer one takes more time than it tells
_MOST = 5  # differences told of one value


def difference(layers: Layers) -> Iterator[str]:
    """Sentences on how the disk's and the process's value differ from the manifest's."""
    for layer, value in (("on disk", layers.disk), ("running", layers.running)):
        if value is not None and value != layers.manifest:
            yield from (f"{layer}: {line}" for line in _lines(layers.manifest, value))


@lru_cache(maxsize=1024)  # nodes drift alike, and deepdiff takes a millisecond
def _lines(want: Value, have: Value) -> list[str]:
    wanted, got = _structure(want), _structure(have)
    if wanted is None or got is None:
        return []
    # Python holds 1, 1.0 and true for equal; JSON does not.
    if json.dumps(wanted, sort_keys=True) == json.dumps(got, sort_keys=True):
        return ["the same JSON, spelled differently"]
    # deepdiff costs 140 ms to import, so only a run that has a structure to explain pays for it.
    from deepdiff import DeepDiff

    tree = DeepDiff(wanted, got, view="tree", threshold_to_diff_deeper=0)
    lines = [_line(change) for changes in tree.values() for change in changes]
    return [*sorted(lines)[:_MOST], *([f"and {len(lines) - _MOST} more"] if len(lines) > _MOST else [])]


def _structure(value: Value) -> object | None:
    """A JSON object or list that a flag or knob holds, or a long list of words; else None."""
    if not isinstance(value, Known):
        return None
    plain = value.value
    if isinstance(plain, Occurrences):
        if len(plain.words) != 1:
            return [list(words) for words in plain.words] or None
        words = plain.words[0]
        if len(words) != 1:
            return list(words) if len(words) >= _LONG_LIST else None
        plain = words[0]
    if not plain.startswith(("{", "[")) or len(plain) > _LONGEST_JSON:
        return None
    try:
        parsed: object = json.loads(plain)
    except (ValueError, RecursionError):
        return None
    return parsed


def _line(change: object) -> str:
    path = ".".join(str(step) for step in change.path(output_format="list"))  # type: ignore[attr-defined]
    before, after = change.t1, change.t2  # type: ignore[attr-defined]
    if type(before).__name__ == "NotPresent":
        return f"{path} added: {json.dumps(after)}"
    if type(after).__name__ == "NotPresent":
        return f"{path} missing: {json.dumps(before)}"
    return f"{path}: {json.dumps(before)} → {json.dumps(after)}"
