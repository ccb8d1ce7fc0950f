"""Overrides: one tree laid over another."""

from __future__ import annotations

from knowngood.manifest.tree import Entry, Mapping, Node, Scalar, Sequence

_ATOMS = 2
_HEALTH_KINDS = ("http", "command", "completion")


def overridden(tree: Mapping, override: Mapping) -> Mapping:
    """A manifest's tree with one override applied.

    Maps merge, lists replace, files merge by their path, values like {absent: true} are atoms, and
    {unmanaged: true} takes a setting away.
    """
    entries = dict(tree.entries)
    for key, (name, value) in override.entries.items():
        former = tree.get(key)
        if key == "files":
            entries[key] = Entry(name, _files(former, value))
        elif key == "unit":
            entries[key] = Entry(name, _merged(as_unit(former) if former else None, as_unit(value)))
        elif key == "health":
            entries[key] = Entry(name, _merged(_other_kind_gone(former, value), value))
        else:
            entries[key] = Entry(name, _merged(former, value))
    return Mapping(entries, tree.start, tree.flow)


def as_unit(node: Node) -> Node:
    """A unit's name alone as the map that it is short for."""
    if not isinstance(node, Scalar):
        return node
    return Mapping({"name": Entry(Scalar("name", True, node.start, node.start), node)}, node.start)


def _merged(former: Node | None, latter: Node, depth: int = 0) -> Node:
    """`depth` counts maps from the top key: values like {absent: true} stand at 2 (systemd, Service, Nice).

    Higher up, a map with the one key `secret` is a map of knobs, one of which is called so.
    """
    if not isinstance(latter, Mapping) or (depth >= _ATOMS and latter.tag):
        return latter
    if not isinstance(former, Mapping) or (depth >= _ATOMS and former.tag):
        former = Mapping({}, latter.start)
    entries = dict(former.entries)
    for key, (name, value) in latter.entries.items():
        if depth + 1 >= _ATOMS and isinstance(value, Mapping) and value.tag == "unmanaged":
            entries.pop(key, None)
        else:
            entries[key] = Entry(name, _merged(former.get(key), value, depth + 1))
    return Mapping(entries, former.start, former.flow)


def _files(former: Node | None, latter: Node) -> Node:
    """Files by their path, the former's order first."""
    files = {_path(file): file for file in _items(former)}
    for file in _items(latter):
        if isinstance(file, Mapping) and file.flag("unmanaged"):
            files.pop(_path(file), None)
        else:
            files[_path(file)] = _merged(files.get(_path(file)), file)
    return Sequence(tuple(files.values()), latter.start)


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else ()


def _path(file: Node) -> str:
    return (file.text("path") or "") if isinstance(file, Mapping) else ""


def _other_kind_gone(former: Node | None, latter: Node) -> Node | None:
    """Without the former's way of asking, where the latter asks in another way."""
    if not isinstance(former, Mapping) or not isinstance(latter, Mapping):
        return former
    asked = {kind for kind in _HEALTH_KINDS if kind in latter.entries}
    if not asked or asked & former.entries.keys():
        return former
    gone = (*_HEALTH_KINDS, "status", "body")
    return Mapping({k: e for k, e in former.entries.items() if k not in gone}, former.start, former.flow)
