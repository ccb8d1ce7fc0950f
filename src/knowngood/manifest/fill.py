"""{host.NAME} in a manifest's text: host data of the inventory.

{host.name} is the inventory's name of the host; {host.address} its ssh_hostname, or its name where it has
none. A text {host.NAME} itself is written {{host.NAME}}.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowngood.manifest.diagnostic import Diagnostic
from knowngood.manifest.source import Source
from knowngood.manifest.tree import Entry, Mapping, Node, Scalar, Sequence, scalars
from knowngood.model import Host

_REFERENCE = re.compile(r"\{(\{?)host\.([A-Za-z_][A-Za-z0-9_]*)\}(\}?)")
_NEARLY = re.compile(r"\{\s*host\s*[.\[][^}]{0,40}\}?")


def refers(text: str) -> bool:
    """Whether host data stands in this text."""
    return "{host." in text


def malformed(source: Source, tree: Node) -> list[Diagnostic]:
    """What looks like {host.NAME} and isn't."""
    return [
        source.diagnostic(scalar.start, f"{found.group()!r} is not host data: it is written {{host.NAME}}")
        for scalar in scalars(tree)
        if "host" in scalar.text
        for found in _NEARLY.finditer(_REFERENCE.sub("", scalar.text))
    ]


def filled(source: Source, tree: Mapping, host: Host) -> tuple[Mapping, list[Diagnostic]]:
    """The tree with the host's data filled in, and what is missing of it."""
    filler = _Filler(source, host)
    return filler.mapping(tree), filler.diagnostics


class _Filler:
    def __init__(self, source: Source, host: Host) -> None:
        self.source = source
        self.host = host
        self.diagnostics: list[Diagnostic] = []

    def mapping(self, node: Mapping) -> Mapping:
        entries = {key: Entry(entry.key, self._node(entry.value)) for key, entry in node.entries.items()}
        return Mapping(entries, node.start, node.flow)

    def _node(self, node: Node) -> Node:
        if isinstance(node, Mapping):
            return self.mapping(node)
        if isinstance(node, Sequence):
            return Sequence(tuple(self._node(item) for item in node.items), node.start)
        return self._scalar(node) if refers(node.text) else node

    def _scalar(self, node: Scalar) -> Scalar:
        def value(found: re.Match[str]) -> str:
            opening, name, closing = found.groups()
            if opening and closing:
                return found.group()[1:-1]
            return opening + self._value(node, name) + closing

        return Scalar(_REFERENCE.sub(value, node.text), False, node.start, node.end)

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
        if "\0" in str(value):
            self._mistake(node, f"host {self.host.name}: its {name} holds a NUL character")
        return str(value)

    def _near(self, name: str) -> Iterator[str]:
        import difflib

        for close in difflib.get_close_matches(name, [str(key) for key in self.host.data], n=1):
            yield f"; did you mean {{host.{close}}}?"

    def _mistake(self, node: Scalar, message: str, hint: str = "") -> None:
        self.diagnostics.append(self.source.diagnostic(node.start, message, hint))
