"""systemd: the unit, a drop-in by hand that sorts last, and a manager that was or was not told."""

from __future__ import annotations

from ..contents import DROPINS, FRAGMENT, UNIT
from ..edits import write
from ..node import Node

BY_HAND = f"{DROPINS}/zzz-by-hand.conf"


def dropin_nofile(node: Node) -> None:
    """A drop-in says LimitNOFILE=4096; neither systemd nor the process knows."""
    write(node, BY_HAND, "[Service]\nLimitNOFILE=4096\n")


def dropin_nofile_reloaded(node: Node) -> None:
    """A drop-in says LimitNOFILE=4096, and systemd was told; the process has 16384."""
    dropin_nofile(node)
    node.run("systemctl daemon-reload")


def dropin_nofile_restarted(node: Node) -> None:
    """A drop-in says LimitNOFILE=4096, and so do systemd and the process."""
    dropin_nofile_reloaded(node)
    node.restart()


def dropin_mended_not_reloaded(node: Node) -> None:
    """systemd was told of LimitNOFILE=4096, and not that the drop-in is gone; the process has 16384."""
    dropin_nofile_reloaded(node)
    node.run(f"rm -r {DROPINS}")


def environment_in_dropin(node: Node) -> None:
    """A drop-in sets SGLANG_OPT_USE_MULTI_STREAM_OVERLAP=1; the script's export wins over it."""
    write(node, BY_HAND, "[Service]\nEnvironment=SGLANG_OPT_USE_MULTI_STREAM_OVERLAP=1\n")
    node.run("systemctl daemon-reload")
    node.restart()


def unit_stopped(node: Node) -> None:
    """The unit is stopped."""
    node.run(f"systemctl stop {UNIT}")


def unit_disabled(node: Node) -> None:
    """The unit runs, and would not start at boot."""
    node.run(f"systemctl disable --quiet {UNIT}")


def unit_masked(node: Node) -> None:
    """The unit is stopped, and masked: its fragment is a link to /dev/null."""
    node.run(f"systemctl stop {UNIT}; ln -sf /dev/null {FRAGMENT}; systemctl daemon-reload")


def unit_missing(node: Node) -> None:
    """There is no such unit: stopped, its files removed, systemd told."""
    node.run(f"systemctl disable --quiet --now {UNIT}; rm {FRAGMENT}; systemctl daemon-reload")
