"""What is wrong with a node, as seen without any part of knowngood, and the way back to known-good."""

from __future__ import annotations

from . import contents
from .edits import shown
from .node import Node, what_counts

EXPECTED = {
    "ActiveState": "active",
    "UnitFileState": "enabled",
    "NeedDaemonReload": "no",
    "DropInPaths": "",
    "LimitNOFILE": "16384",
}


def mend(node: Node) -> None:
    """Bring the node back to known-good, whatever was done to it.

    A fresh disk and a boot take about a second, no longer than putting each thing right would.
    """
    node.rebuild()


def wrong_with(node: Node) -> list[str]:
    """What is not as on a fresh node, in words; empty for one that is known to be good."""
    if node.pid is None:
        return ["it is off"]
    wrong = [f"{path} differs" for path in contents.differing(node.root, node.known_good())]
    unit = shown(node, *EXPECTED)
    wrong += [f"{name}={unit[name]}" for name, value in EXPECTED.items() if unit[name] != value]
    return wrong + _wrong_with_server(node) + ([] if node.speaks_ssh() else ["sshd is silent"])


def _wrong_with_server(node: Node) -> list[str]:
    truth = node.truth()
    if truth is None:
        return ["the server does not answer"]
    wrong = []
    if not node.healthy():
        wrong.append("the server is not healthy")
    if what_counts(truth) != node.remembered_truth():
        wrong.append("the server runs with something else")
    if not node.run(f"tr -d '\\0' </proc/{truth['pid']}/environ").stdout:
        wrong.append("the server's environ is zeroed")
    return wrong
