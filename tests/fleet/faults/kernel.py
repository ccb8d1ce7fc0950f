"""The kernel file: what lies on disk, and what the schedulers imported when they started."""

from __future__ import annotations

from ..contents import KERNEL
from ..edits import edit, settle
from ..node import Node

SAVED = "/tmp/flash_mla_sm120_triton.py.bak"
OURS, THEIRS = "NUM_WARPS = 4\n", "NUM_WARPS = 8\n"


def kernel_edited(node: Node) -> None:
    """The kernel has NUM_WARPS = 8 since the server started: it runs with 4, and would not tomorrow."""
    settle(node)
    edit(node, KERNEL, OURS, THEIRS)


def kernel_live(node: Node) -> None:
    """The kernel has NUM_WARPS = 8 on disk and in the schedulers."""
    # An edit of the same size in the second of the former one would run the old bytecode: kernel-stale-pyc.
    settle(node)
    edit(node, KERNEL, OURS, THEIRS)
    node.restart()


def kernel_restored_old_mtime(node: Node) -> None:
    """NUM_WARPS = 8 is in the schedulers; the file was restored with its contents and old mtime."""
    node.run(f"cp -p {KERNEL} {SAVED}")
    kernel_live(node)
    settle(node)
    node.run(f"cp -p {SAVED} {KERNEL}; rm {SAVED}")


def kernel_stale_pyc(node: Node) -> None:
    """NUM_WARPS = 8 is on disk, of the same size and with the mtime of before: a restart ran the old .pyc."""
    node.run(f"cp -p {KERNEL} {SAVED}")
    edit(node, KERNEL, OURS, THEIRS)
    node.run(f"touch -r {SAVED} {KERNEL}; rm {SAVED}")
    node.restart()


def kernel_chmod(node: Node) -> None:
    """The kernel's mode is 0664; its content and the process are as they should be."""
    settle(node)
    node.run(f"chmod 0664 {KERNEL}")


def kernel_owner(node: Node) -> None:
    """The kernel belongs to ops; its content and the process are as they should be."""
    settle(node)
    node.run(f"chown ops:ops {KERNEL}")


def kernel_missing(node: Node) -> None:
    """The kernel file is gone; the schedulers still run what they imported."""
    settle(node)
    node.run(f"rm {KERNEL}")
