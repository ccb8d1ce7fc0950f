"""Loopback addresses for a fleet: a 127.x.y.0/24 of its own, which no socket and no other fleet uses.

Nodes share the machine's network, so a node is told apart by its address alone, and no traffic leaves it.
"""

from __future__ import annotations

import random
import socket
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from .errors import FleetError

MOST_NODES = 250  # .1 to .250 of the block
SERVER_PORT = 30000
_LISTEN = "0A"  # the state's number in /proc/net/tcp (include/net/tcp_states.h)


def free_block(held: Collection[str]) -> str:
    """A block as `127.x.y` that is not in `held` (other fleets') and that no socket of the machine uses."""
    used = set(held) | {address.rpartition(".")[0] for address, _, _ in _sockets()}
    blocks = [f"127.{x}.{y}" for x in range(64, 128) for y in range(256)]
    random.shuffle(blocks)
    for block in blocks:
        if block not in used:
            return block
    raise FleetError("no block of loopback addresses is free")


def free_ssh_port() -> int:
    """22, or another port where the machine's own sshd listens on every address and so on the nodes' too."""
    ports: Iterator[int] = (port for port in (22, *range(2201, 2300)) if not _taken_everywhere(port))
    return next(ports)


def check_server_port() -> None:
    """FleetError where a program of the machine listens on the decode server's port on every address."""
    if _taken_everywhere(SERVER_PORT):
        raise FleetError(f"a program here listens on port {SERVER_PORT} of every address; the nodes need it")


def _taken_everywhere(port: int) -> bool:
    return any(state == _LISTEN and p == port and a in ("0.0.0.0", "::") for a, p, state in _sockets())


def _sockets() -> list[tuple[str, int, str]]:
    """(local address, port, state) of each TCP socket here, from /proc/net/tcp and tcp6 (proc(5))."""
    found = []
    for name in ("tcp", "tcp6"):
        path = Path("/proc/net", name)
        lines = path.read_text().splitlines()[1:] if path.exists() else []
        for line in lines:
            local, state = line.split()[1], line.split()[3]
            digits, _, port = local.partition(":")
            # Words of four bytes, each in the machine's byte order.
            packed = b"".join(
                int(digits[i : i + 8], 16).to_bytes(4, sys.byteorder) for i in range(0, len(digits), 8)
            )
            family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
            found.append((socket.inet_ntop(family, packed), int(port, 16), state))
    return found
