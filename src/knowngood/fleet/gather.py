"""Asking every node of a fleet one thing at once: one connection and one command a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from knowngood.fleet.inventory import Inventory
from knowngood.model import Failure

Answer: TypeAlias = bytes | Failure


def gather(
    inventory: Inventory,
    programs: Mapping[str, bytes],
    *,
    connect_timeout: float = 10,
    timeout: float = 30,
    on_answer: Callable[[str, Answer], None],
) -> None:
    """Run each named host's program on it, with `python3 -I -S -`, and hand over what it prints.

    `on_answer(host, answer)` is called once for each host, in the order of arrival; the answer is the
    program's stdout as it came, or a Failure. No node delays another: each has `connect_timeout` seconds to
    let us in and `timeout` for the whole, the time spent in our own queue not counted. The host data
    `knowngood_python` says where a node has its Python.

    InventoryError before anything is contacted where a host's data is of a kind that pyinfra can't use.
    KeyboardInterrupt and what on_answer raises come through, after all connections are closed.
    """
    from knowngood.fleet import engine

    engine.start()
    from knowngood.fleet import asking

    asking.ask(inventory, programs, connect_timeout, timeout, on_answer)
