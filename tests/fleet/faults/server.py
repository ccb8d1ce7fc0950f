"""The decode server misbehaves."""

from __future__ import annotations

from ..contents import KERNEL, SCRIPT, UNIT
from ..edits import edit, shown, write
from ..node import Node
from ..waits import until


def _restart_with(node: Node, control: str, value: str = "") -> None:
    write(node, f"/run/standin/{control}", value)
    node.run(f"systemctl restart {UNIT}")


def _wait_for_loop(node: Node) -> None:
    until(lambda: int(shown(node, "NRestarts")["NRestarts"]) > 0, f"{node.name}'s unit to be restarted")


def server_exits(node: Node) -> None:
    """The server exits at once, and systemd starts it again and again."""
    _restart_with(node, "exit-at-once")
    _wait_for_loop(node)


def server_dies_later(node: Node) -> None:
    """The server becomes healthy, and dies 5 s after each start."""
    _restart_with(node, "die-after", "5")
    node.wait_until_healthy()


def server_never_healthy(node: Node) -> None:
    """The server runs, and /health is 503."""
    _restart_with(node, "never-healthy")
    until(lambda: node.truth() is not None, f"{node.name}'s server to answer")


def generation_hangs(node: Node) -> None:
    """/health is 200, and no request for tokens is ever answered."""
    write(node, "/run/standin/generation-hangs", "")


def unknown_flag(node: Node) -> None:
    """The script passes a flag that the server no longer knows, and was restarted: it exits with 2."""
    edit(node, SCRIPT, "--tp 4", "--tp 4 --enable-flashinfer-mla")
    node.run(f"systemctl restart {UNIT}")
    _wait_for_loop(node)


def kernel_raises(node: Node) -> None:
    """The kernel no longer compiles, and the unit was restarted: the schedulers die."""
    edit(node, KERNEL, "NUM_STAGES = 2\n", "NUM_STAGES = = 2\n")
    node.run(f"systemctl restart {UNIT}")
    _wait_for_loop(node)


def orphan_keeps_port(node: Node) -> None:
    """An old server outside the unit holds the port and answers /health; the unit's own dies on it."""
    node.run(f"systemctl stop {UNIT}; systemd-run --quiet --unit=fault-orphan bash {SCRIPT}")
    node.wait_until_healthy()
    node.run(f"systemctl start {UNIT}")
    _wait_for_loop(node)
