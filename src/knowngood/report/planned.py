"""The screen of `knowngood plan`: what would be done to which nodes, and why, from the plan's JSON form."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from knowngood.model import Setting
from knowngood.report.cells import cut, squeeze, width, wrap
from knowngood.report.escape import clean
from knowngood.report.flow import counted, flow
from knowngood.report.names import host_list, setting_names
from knowngood.report.paint import Span, colored, plain

NARROWEST = 40  # cells; a narrower screen gets this much
_DIFF_LINES = 40  # of one file, without -v
_LINE = 500  # characters of a text's line
_HASH_SHOWN = 8  # hex digits

_COUNTED = {
    "due": "changed",
    "blocked": "bad",
    "in_sync": "good",
    "incomplete": "doubt",
    "unreachable": "bad",
}
# What differs between like nodes without making their plans other ones.
_OWN = ("host", "state", "wants", "health")


def render_plan(plan: Mapping[str, Any], *, width: int, color: bool, verbose: int = 0) -> str:
    """The plan as text, each line at most `width` cells and ended by a newline.

    `plan` is its JSON form. `verbose`: 1 shows whole diffs and nodes in sync, 2 tells each node by itself.
    """
    screen = max(width, NARROWEST)
    paint = colored if color else plain
    return "".join(paint(line) + "\n" for line in _lines(plan, screen, verbose))


def _lines(plan: Mapping[str, Any], screen: int, verbose: int) -> Iterator[Sequence[Span]]:
    for manifest in plan["manifests"]:
        nodes = [node for node in plan["nodes"] if node["manifest"] == manifest["name"]]
        if not nodes:
            continue
        yield from flow(_header(manifest, nodes, screen), screen)
        yield []
        for group in _alike(nodes, apart=verbose > 1):
            if group[0]["status"] != "in_sync" or verbose:
                yield from _Node(group, screen, verbose).lines()
                yield []
        yield from _waves(plan, manifest, screen)
        yield from flow(_counts(nodes), screen)
    if not plan["nodes"]:
        yield [("no node was asked", "doubt")]


def _header(manifest: Mapping[str, Any], nodes: Sequence[Any], screen: int) -> list[Span]:
    at = " (not in git)"
    if manifest["commit"]:
        at = f" @ {clean(manifest['commit'])[:7]}" + (" + changes" if manifest["dirty"] else "")
    path = squeeze(clean(manifest["path"]), screen - len("  manifest ") - width(at))
    return [
        (clean(manifest["name"]), "strong"),
        (counted(len(nodes), "node"), ""),
        (f"manifest {path}{at}", ""),
    ]


def _alike(nodes: Sequence[Any], *, apart: bool) -> list[list[Any]]:
    """Nodes with the same plan together, in the order of each group's first."""
    groups: dict[str, list[Any]] = {}
    for number, node in enumerate(nodes):
        same = {name: value for name, value in node.items() if name not in _OWN}
        groups.setdefault(str(number) if apart else json.dumps(same), []).append(node)
    return list(groups.values())


class _Node:
    """Nodes with one plan, as lines."""

    def __init__(self, group: Sequence[Any], screen: int, verbose: int) -> None:
        self._node = group[0]
        self._hosts = [node["host"] for node in group]
        self._screen = screen
        self._verbose = verbose
        self._names = {} if verbose else _short_names(self._node)

    def lines(self) -> Iterator[list[Span]]:
        node = self._node
        same = f"  same on {len(self._hosts)} nodes" if len(self._hosts) > 1 else ""
        room = self._screen - len(same)
        yield [(cut(host_list(self._hosts, room), room), "strong"), (same, "quiet")]
        if node["error"]:
            yield from self._text(f"{node['status']}: {clean(node['error'])}", 2, "bad")
        for blocker in node["blockers"]:
            what = self._name(blocker["what"])
            yield from self._text(f"blocked: {what}: {clean(blocker['reason'])}", 2, "bad")
            yield from self._text(clean(blocker["advice"]), 6)
        yield from self._reasons("differs", node["differs"])
        for change in node["changes"]:
            yield from self._change(change)
        if node["secrets"]:
            yield from self._text("write secrets: " + ", ".join(map(clean, node["secrets"])), 2)
        for folder in node["empties"]:
            yield from self._text(f"empty {clean(folder)}", 2)
        if node["enable"] is not None:
            yield from self._text(f"{'enable' if node['enable'] else 'disable'} {clean(node['unit'])}", 2)
        yield from self._reasons("daemon-reload", node["reload"])
        yield from self._reasons(f"restart {clean(node['unit'])}", node["restart"])
        yield from self._reasons(f"start {clean(node['unit'])}", node["start"])
        yield from self._reasons("not proved", node["unproved"], "doubt")
        if node["restart"] or node["start"]:
            yield from self._text(_gate(node["health"]), 2)

    def _reasons(self, title: str, reasons: Sequence[Any], style: str = "") -> Iterator[list[Span]]:
        if not reasons:
            return
        yield from self._text(title, 2, style)
        for each in reasons:
            yield from self._text(f"{self._name(each['what'])}: {clean(each['reason'])}", 6)

    def _name(self, what: str) -> str:
        """A setting by its short name, where it has one; anything else as it is."""
        return self._names.get(what) or clean(what)

    def _change(self, change: Mapping[str, Any]) -> Iterator[list[Span]]:
        old, new = (_short(change[name]) for name in ("old", "new"))
        if change["old"] == change["new"]:
            verb, pair = ("drop stale bytecode of" if change["stale_bytecode"] else "set"), ""
        elif change["new"] is None:
            verb, pair = "remove", f"  {old}"
        else:
            verb, pair = "write", f"  {old} → {new}"
        attributes = [f"{each['kind']} {each['old']} → {each['new']}" for each in change["attributes"]]
        told = "".join(f"  {clean(text)}" for text in attributes)
        yield from self._text(f"{verb} {clean(change['path'])}{pair}{told}", 2)
        yield from self._diff(change)

    def _diff(self, change: Mapping[str, Any]) -> Iterator[list[Span]]:
        lines = change["diff"][2:]  # the two names are told already
        shown = lines if self._verbose else lines[:_DIFF_LINES]
        for line in shown:
            style = {"+": "good", "-": "bad", "@": "quiet"}.get(line[:1], "")
            yield [(" " * 6 + cut(clean(line, _LINE), self._screen - 6), style)]
        if len(lines) > len(shown):
            yield [
                (" " * 6 + cut(f"and {len(lines) - len(shown)} lines more: -v", self._screen - 6), "quiet")
            ]
        if change["kind"] != "file" and change["old"] != change["new"] and not lines:
            yield from self._text("it differs only where secrets stand", 6, "quiet")

    def _text(self, text: str, indent: int, style: str = "") -> Iterator[list[Span]]:
        first, *more = wrap(text, self._screen - indent - 2)
        yield [(" " * indent + first, style)]
        for line in more:
            yield [(" " * (indent + 2) + line, style)]


def _short_names(node: Mapping[str, Any]) -> dict[str, str]:
    """Address → short name, for all settings that the node's plan speaks of."""
    told = (node[part] for part in ("differs", "blockers", "reload", "restart", "start", "unproved"))
    settings = {}
    for address in sorted({each["what"] for part in told for each in part}):
        with contextlib.suppress(ValueError):  # a path, say
            settings[address] = Setting.parse(address)
    names = setting_names(settings.values())
    return {address: names[setting] for address, setting in settings.items()}


def _short(sha256: str | None) -> str:
    return "none" if sha256 is None else clean(sha256)[:_HASH_SHOWN]


def _gate(health: Mapping[str, Any] | None) -> str:
    if health is None:
        return "gate: the unit runs, and goes on running"
    if health["http"] is not None:
        what = f"{clean(health['http'])} answers {health['status']}"
    elif health["completion"] is not None:
        what = f"{clean(health['completion']['url'])} gives {health['completion']['tokens']} tokens"
    else:
        what = f"`{clean(str(health['command']))}` exits with 0"
    return f"gate: {what} within {health['timeout']:g} s"


def _waves(plan: Mapping[str, Any], manifest: Mapping[str, Any], screen: int) -> Iterator[list[Span]]:
    mine = [wave for wave in plan["waves"] if wave["manifest"] == manifest["name"]]
    for number, wave in enumerate(mine, 1):
        lead = f"wave {number}" + (" (canary)" if wave["kind"] == "canary" else "") + ": "
        yield [(lead, "quiet"), (host_list(wave["hosts"], screen - len(lead)), "")]


def _counts(nodes: Sequence[Any]) -> list[Span]:
    statuses = [node["status"] for node in nodes]
    counts = [(status, statuses.count(status), style) for status, style in _COUNTED.items()]
    return [(f"{count} {status.replace('_', ' ')}", style) for status, count, style in counts if count]
