"""{host.NAME} in a manifest's text: host data of the inventory.

{host.name} is the inventory's name of the host; {host.address} its ssh_hostname, or its name where it has
none. Text that looks so and isn't meant stands in double braces: {{host.NAME}} is the text {host.NAME}.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from knowngood.manifest.diagnostic import Diagnostic
from knowngood.manifest.source import Source
from knowngood.manifest.tree import Entry, Mapping, Node, Scalar, Sequence, scalars
from knowngood.model import Host

_LIKE = r"\{\s*host\s*[.\[][^{}]*\}"
_LOOKS_LIKE = re.compile(_LIKE)
_TOKEN = re.compile(rf"\{{(?P<literal>{_LIKE})\}}|\{{host\.(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}}")


References: TypeAlias = frozenset[int]  # nodes by id()


def refers(text: str) -> bool:
    """Whether host data stands in this text."""
    return any(found["name"] for found in _TOKEN.finditer(text))


def escaped(text: str) -> str:
    """The text as a manifest must say it, so that nothing in it is taken for host data."""
    return _LOOKS_LIKE.sub(lambda found: "{" + found.group() + "}", text)


def malformed(source: Source, tree: Node) -> list[Diagnostic]:
    """What looks like {host.NAME} and isn't."""
    return [
        source.diagnostic(scalar.start, f"{found.group()} is not host data, which is written {{host.NAME}}")
        for scalar in scalars(tree)
        if "host" in scalar.text
        for found in _LOOKS_LIKE.finditer(_TOKEN.sub("", scalar.text))
    ]


def references(tree: Node) -> References:
    """Which nodes of a tree hold host data, in themselves or below."""
    found: set[int] = set()
    _collect(tree, found)
    return frozenset(found)


def _collect(node: Node, found: set[int]) -> bool:
    if isinstance(node, Scalar):
        holds = _TOKEN.search(node.text) is not None
    else:
        below = node.items if isinstance(node, Sequence) else [entry.value for entry in node.entries.values()]
        # Not any(): every one must be looked at.
        holds = sum(_collect(child, found) for child in below) > 0
    if holds:
        found.add(id(node))
    return holds


def filled(
    source: Source, tree: Mapping, host: Host, references: References
) -> tuple[Mapping, list[Diagnostic]]:
    """The tree with the host's data filled in, and what is missing of it.

    `references` are those of this very tree; nodes without any are kept as they are, the tree itself too.
    """
    filler = _Filler(source, host, references)
    return filler.mapping(tree), filler.diagnostics


class _Filler:
    def __init__(self, source: Source, host: Host, references: References) -> None:
        self.source = source
        self.host = host
        self.references = references
        self.diagnostics: list[Diagnostic] = []

    def mapping(self, node: Mapping) -> Mapping:
        if id(node) not in self.references:
            return node
        entries = {
            key: Entry(entry.key, self._node(entry.value)) if id(entry.value) in self.references else entry
            for key, entry in node.entries.items()
        }
        return Mapping(entries, node.start, node.flow)

    def _node(self, node: Node) -> Node:
        if isinstance(node, Mapping):
            return self.mapping(node)
        if isinstance(node, Sequence):
            return Sequence(tuple(self._node(item) for item in node.items), node.start)
        return self._scalar(node)

    def _scalar(self, node: Scalar) -> Scalar:
        def value(found: re.Match[str]) -> str:
            return found["literal"] or self._value(node, found["name"])

        text, count = _TOKEN.subn(value, node.text)
        return Scalar(text, False, node.start, node.end) if count else node

    def _value(self, node: Scalar, name: str) -> str:
        if name == "name":
            return self.host.name
        if name == "address":
            return str(self.host.data.get("ssh_hostname") or self.host.name)
        if name not in self.host.data:
            hint = "host data comes from the inventory" + "".join(self._near(name))
            self._mistake(
                node, f"host {self.host.name} has no {name}, which {{host.{name}}} stands for", hint
            )
            return ""
        value = self.host.data[name]
        # bool is an int to Python, and "True" is hardly what was meant.
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            kind = type(value).__name__
            self._mistake(node, f"host {self.host.name}: its {name} is neither text nor a number but {kind}")
            return ""
        if any(ord(character) < 0x20 for character in str(value)):
            self._mistake(node, f"host {self.host.name}: its {name} holds a line break or control character")
        return str(value)

    def _near(self, name: str) -> Iterator[str]:
        import difflib

        for close in difflib.get_close_matches(name, [str(key) for key in self.host.data], n=1):
            yield f"; did you mean {{host.{close}}}?"

    def _mistake(self, node: Scalar, message: str, hint: str = "") -> None:
        self.diagnostics.append(self.source.diagnostic(node.start, message, hint))
