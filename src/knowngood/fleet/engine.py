"""The one place that loads gevent, pyinfra and paramiko, and the seams where their behaviour is replaced.

pyinfra stays what it is: its inventories, connectors, ssh options and facts. A few of its functions do what
a tool that asks 500 nodes unattended can't have, and are replaced by name, each with its reason below.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import importlib.metadata
import logging
import resource
import sys
import typing
import warnings
from collections.abc import Iterator
from typing import Any

# Sockets of one node: the connection, a jump host's, the agent's, or the three pipes of a local command.
FILES_PER_HOST = 4
_FILES_OF_OUR_OWN = 128


@functools.cache
def start() -> None:
    """Patch the standard library for gevent, load pyinfra, and put the seams in. Once per process."""
    raise_file_limit()  # before pyinfra's import, which reads it
    with _entry_points_read_once():
        from gevent import monkey

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an ssl that is loaded already; nothing here speaks TLS
            # subprocess too: gevent reaps every child of the process, so the plain one would lose exit codes.
            monkey.patch_all()
        _silence()
        with _without("invoke"):  # 0.1 s, for a `Match exec` that pyinfra runs by other means
            import pyinfra  # noqa: F401

    _replace_seams()
    gc.freeze()  # what was loaded stays: collections need not look at it again for each node


def raise_file_limit() -> int:
    """Raise the soft limit of open files to the hard one; how many nodes may then be asked at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):  # macOS and containers refuse some values
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return 1 << 20
    return max(1, (soft - _FILES_OF_OUR_OWN) // FILES_PER_HOST)


@contextlib.contextmanager
def _entry_points_read_once() -> Iterator[None]:
    """Scan the installed packages' entry points once, not 30 times (0.3 s): gevent asks for each module that
    it patches. pyinfra, which asks for each `@connector/…` of an inventory, keeps what it imports here."""
    scan = importlib.metadata.entry_points
    found = scan()

    def select(**params: Any) -> Any:
        return found.select(**params) if params else found

    importlib.metadata.entry_points = select
    try:
        yield
    finally:
        importlib.metadata.entry_points = scan


@contextlib.contextmanager
def _without(module: str) -> Iterator[None]:
    """Let nobody import this optional module meanwhile."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


def _silence() -> None:
    """No line of pyinfra's or paramiko's: they print commands, stdin and whole outputs of failed facts."""
    for name in ("pyinfra", "paramiko"):
        logger = logging.getLogger(name)
        logger.handlers = [logging.NullHandler()]
        logger.propagate = False
        logger.setLevel(logging.CRITICAL + 1)


def _replace_seams() -> None:
    from knowngood.fleet import hostkeys, jumps, streams, transport

    type_hints = functools.cache(typing.get_type_hints)
    ssh, util = "pyinfra.connectors.ssh", "pyinfra.connectors.util"
    client = "pyinfra.connectors.sshuserclient.client"
    seams: tuple[tuple[str, str, object], ...] = (
        # Theirs collects output without bound, and loses all that follows a byte that is no UTF-8.
        (ssh, "read_output_buffers", streams.read_output),
        (util, "read_output_buffers", streams.read_output),
        # Theirs takes text only, and fails where a node stops reading before it tells why.
        (ssh, "write_stdin", streams.write_input),
        (util, "write_stdin", streams.write_input),
        # Theirs asks on the terminal, in the middle of a fleet.
        (util, "getpass", streams.refuse_to_prompt),
        # Theirs asks on the terminal for the key of a jump host.
        (client, "get_missing_host_key_policy", hostkeys.policy),
        # Theirs logs in to a jump host anew for each node behind it.
        (client, "SSHClient", jumps.JumpClient),
        # Theirs drops the rest of a file at a line it can't read, is quadratic, and knows one key a type.
        (client, "get_host_keys", hostkeys.load),
        # Ours cost less, are closed when a node is given up, and let few handshakes run at a time.
        ("paramiko.client", "Transport", transport.Transport),
        (util, "Popen", transport.Popen),
        # Theirs works out the same types anew for each host and fact.
        ("pyinfra.connectors.base", "get_type_hints", type_hints),
        ("pyinfra.api.arguments", "get_type_hints", type_hints),
    )
    for name, attribute, ours in seams:
        module = importlib.import_module(name)
        if not hasattr(module, attribute):
            raise ImportError(f"this pyinfra is not supported: {name} has no {attribute}")
        setattr(module, attribute, ours)


@contextlib.contextmanager
def contexts(state: Any, inventory: Any = None, config: Any = None) -> Iterator[None]:
    """Set pyinfra's global contexts, and put them back whatever happens (its own `use` does not)."""
    from pyinfra.context import ctx_config, ctx_inventory, ctx_state

    managers: tuple[tuple[Any, Any], ...] = (
        (ctx_state, state),
        (ctx_inventory, inventory),
        (ctx_config, config),
    )
    before = [(manager, manager.get()) for manager, _ in managers]
    try:
        for manager, value in managers:
            manager.set(value)
        yield
    finally:
        for manager, value in before:
            manager.set(value)
