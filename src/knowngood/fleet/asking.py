"""The round of questions behind `gather`: a greenlet a host, one queue of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import gevent
from gevent.queue import Queue
from pyinfra.api.config import Config
from pyinfra.api.exceptions import PyinfraError
from pyinfra.api.state import State
from pyinfra.connectors.ssh import SSHConnector

from knowngood.fleet import engine, hostkeys
from knowngood.fleet.conversation import Conversation
from knowngood.fleet.gather import Answer
from knowngood.fleet.inventory import Inventory, InventoryError
from knowngood.fleet.visits import Round, Visit


def ask(
    inventory: Inventory,
    programs: Mapping[str, bytes],
    connect_timeout: float,
    timeout: float,
    on_answer: Callable[[str, Answer], None],
) -> None:
    """See `gather.gather`."""
    hostkeys.forget()
    state = _state(inventory, programs, connect_timeout)
    # Small, so that answers wait on their nodes' greenlets and not as a heap of texts.
    answers: Queue = Queue(maxsize=8)

    def visit(name: str) -> None:
        try:
            with Visit(round_) as visit:
                answer: object = Conversation(state, name, visit, connect_timeout, timeout).answer(
                    programs[name]
                )
        except Exception as error:  # a fault of ours; nobody would answer
            answer = error
        answers.put((name, answer))

    with engine.contexts(state, inventory.pyinfra, state.config), _quiet_hub(), Round(timeout) as round_:
        opening = gevent.spawn(lambda: [state.pool.spawn(visit, name) for name in programs])
        try:
            for _ in programs:
                name, answer = answers.get()
                if isinstance(answer, Exception):
                    raise answer
                on_answer(name, answer)
        finally:
            opening.kill()
            state.pool.kill()


@contextmanager
def _quiet_hub() -> Iterator[None]:
    """gevent prints what ends a greenlet or interrupts it; here all of that reaches the caller anyway."""
    hub = gevent.get_hub()
    stream, hub.exception_stream = hub.exception_stream, None
    try:
        yield
    finally:
        hub.exception_stream = stream


def _state(inventory: Inventory, programs: Mapping[str, bytes], connect_timeout: float) -> State:
    if unknown := programs.keys() - inventory.pyinfra.hosts:
        raise InventoryError(f"{inventory.source}: no host is called {', '.join(sorted(unknown))}")
    at_once = min(max(len(programs), 1), engine.raise_file_limit())
    config = inventory.config.copy() if inventory.config else Config()  # type: ignore[no-untyped-call]
    config.PARALLEL = at_once
    config.CONNECT_TIMEOUT = int(connect_timeout) + 5  # the visit's clock is to ring first
    try:
        state = State(inventory.pyinfra, config)
    except PyinfraError as error:
        raise InventoryError(f"{inventory.source}: {error}") from error
    for host in inventory.pyinfra:
        _prefer_ssh_config(host)
    return state


def _prefer_ssh_config(host: Any) -> None:
    # pyinfra's default would win over the StrictHostKeyChecking of ~/.ssh/config.
    connector: Any = host.connector
    if isinstance(connector, SSHConnector) and not host.data.get("ssh_strict_host_key_checking"):
        connector.data["ssh_strict_host_key_checking"] = None  # type: ignore[typeddict-item]
