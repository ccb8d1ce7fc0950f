"""From a manifest's bytes to its tree, by libyaml's events.

Events and not PyYAML's composed nodes: they let us bound what aliases expand to, refuse a key given twice
and see the quotes of each scalar, and no nesting can exhaust a stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from knowngood.manifest.diagnostic import Diagnostic, shown_key
from knowngood.manifest.noyaml import no_yaml
from knowngood.manifest.source import Source
from knowngood.manifest.tree import Entry, Mapping, Node, Scalar, Sequence

LARGEST_FILE = 1_000_000  # bytes; real manifests have a few thousand
_MOST_NODES = 50_000  # after aliases are expanded
_DEEPEST = 40

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _RefusedError(Exception):
    """Reading ends here: what follows could not be understood."""

    def __init__(self, offset: int, message: str) -> None:
        self.offset = offset
        self.message = message


def decode(path: str, data: bytes) -> Source | Diagnostic:
    """The text of a manifest. It must be UTF-8 without a byte order mark, and not too large."""
    if len(data) > LARGEST_FILE:
        return Diagnostic(
            path, 1, 1, f"the file is larger than {LARGEST_FILE // 1_000_000} MB: no manifest is"
        )
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return Diagnostic(path, 1, 1, "the file begins with a byte order mark: save it as UTF-8 without one")
    try:
        return Source(path, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        known = Source(path, data[: error.start].decode("utf-8") + "�")
        place = known.place(len(known.text) - 1)
        message = f"the file is not UTF-8: byte 0x{data[error.start]:02x} stands here"
        return Diagnostic(path, place.line, place.column, message, known.line(place.line))


def read(source: Source) -> tuple[Mapping | None, list[Diagnostic]]:
    """The document's tree, and what is wrong with it as YAML; None where nothing can be made of it."""
    reader = _Reader(source)
    try:
        return reader.document(), reader.diagnostics
    except _RefusedError as refused:
        return None, [*reader.diagnostics, source.diagnostic(refused.offset, refused.message)]
    except yaml.YAMLError as error:
        return None, [*reader.diagnostics, no_yaml(source, error)]


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self._events: Iterator[Any] = yaml.parse(source.text, Loader=_Loader)
        self._anchors: dict[str, Node] = {}
        self._extents: dict[str, tuple[int, int]] = {}  # of each anchor: nodes, levels
        self._nodes = 0

    def document(self) -> Mapping | None:
        next(self._events)
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            self._mistake(0, "the manifest is empty: it needs version, name, hosts and unit")
            return None
        node = self._node(next(self._events), 0)
        next(self._events)
        event = next(self._events)
        if isinstance(event, yaml.DocumentStartEvent):
            self._mistake(_start(event), "a second document begins here: one file holds one manifest")
        if isinstance(node, Mapping):
            return node
        self._mistake(node.start, "a manifest is a map: version, name, hosts, unit, …")
        return None

    def _node(self, event: Any, depth: int) -> Node:
        start = _start(event)
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise _RefusedError(start, f"more than {_MOST_NODES} values once the aliases are expanded")
        if depth > _DEEPEST:
            raise _RefusedError(start, "nested too deeply")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event.anchor, start, depth)
        if event.tag not in (None, "!"):
            self._mistake(
                start, "tags like !!str have no meaning here: all values are text; use quotes where needed"
            )
        before = self._nodes
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = Scalar(event.value, event.implicit[0], start, _end(event))
        elif isinstance(event, yaml.SequenceStartEvent):
            node = Sequence(tuple(self._items(depth)), start)
        else:
            node = Mapping(self._entries(depth), start, bool(event.flow_style))
        if event.anchor:
            self._anchors[event.anchor] = node
            self._extents[event.anchor] = (self._nodes - before + 1, _levels(node))
        return node

    def _alias(self, anchor: Any, start: int, depth: int) -> Node:
        if anchor not in self._anchors:
            raise _RefusedError(
                start, "an alias without its anchor before it: text that begins with * needs quotes"
            )
        size, levels = self._extents[anchor]
        self._nodes += size
        if self._nodes > _MOST_NODES:
            raise _RefusedError(start, f"more than {_MOST_NODES} values once the aliases are expanded")
        if depth + levels > _DEEPEST:
            raise _RefusedError(start, "nested too deeply once the aliases are expanded")
        return self._anchors[anchor]

    def _items(self, depth: int) -> Iterator[Node]:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            yield self._node(event, depth + 1)

    def _entries(self, depth: int) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            value = self._node(next(self._events), depth + 1)
            if not isinstance(key, Scalar):
                self._mistake(key.start, "a key must be text")
            elif key.text == "<<" and key.plain:
                self._mistake(
                    key.start, "merge keys (<<) are not read: use overrides, or write the lines again"
                )
            elif key.text in entries:
                line = self.source.place(entries[key.text].key.start).line
                self._mistake(_start(event), f"{shown_key(key.text)} stands here twice: also in line {line}")
            else:
                entries[key.text] = Entry(key, value)
        return entries

    def _mistake(self, offset: int, message: str) -> None:
        self.diagnostics.append(self.source.diagnostic(offset, message))


def _start(event: Any) -> int:
    return int(event.start_mark.index)


def _end(event: Any) -> int:
    return int(event.end_mark.index)


def _levels(node: Node) -> int:
    if isinstance(node, Scalar):
        return 1
    children = node.items if isinstance(node, Sequence) else (entry.value for entry in node.entries.values())
    return 1 + max(map(_levels, children), default=0)
