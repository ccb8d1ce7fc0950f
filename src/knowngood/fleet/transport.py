"""Connections and local processes that belong to a visit, so that giving up on a node closes them."""

from __future__ import annotations

import math
import os
import signal
from contextlib import suppress
from typing import Any, cast

import gevent
import paramiko
from gevent import subprocess

from knowngood.fleet import visits

MAX_BANNER = 64 << 10  # bytes that a server may send before it says its version (RFC 4253, section 4.2)
_READS_A_TURN = 32


class FairSocket:
    """A socket that lets the others have their turn.

    gevent goes to the next greenlet when a socket has nothing to read. A node that never stops talking
    would have the controller for itself, and every deadline would pass unheard.
    """

    def __init__(self, sock: Any) -> None:
        self.plain = sock
        self._reads = 0
        self.allowance: float = MAX_BANNER  # bytes still to be read
        self.send = sock.send

    def recv(self, size: int) -> bytes:
        self._reads += 1
        if self._reads % _READS_A_TURN == 0:
            gevent.sleep(0)
        data: bytes = self.plain.recv(size)
        self.allowance -= len(data)
        if self.allowance < 0:
            raise paramiko.SSHException("Error reading SSH protocol banner")
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)


class Transport(paramiko.Transport):
    """paramiko's transport, for hundreds at a time under one deadline each."""

    # paramiko wakes up ten times a second to see whether it was closed; gevent wakes it when that happens.
    _active_check_timeout = 5.0

    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        self.fair = FairSocket(sock)
        super().__init__(cast(Any, self.fair), *args, **kwargs)
        if visit := visits.current():
            # The visit's clock decides, not these.
            self.banner_timeout = self.auth_timeout = visit.round.timeout * 2
            self.packetizer.start_handshake = _no_timer  # type: ignore[method-assign]
            visit.opened.append(self)

    def start_client(self, *args: Any, **kwargs: Any) -> None:
        if visit := visits.current():
            visit.begin_handshake(self.fair.plain)
        super().start_client(*args, **kwargs)

    def _check_banner(self) -> None:
        super()._check_banner()  # type: ignore[misc]
        self.fair.allowance = math.inf

    @property
    def speaks_no_ssh(self) -> bool:
        """Whether the server has said something, and nothing that begins ssh."""
        return bool(self.fair.allowance < MAX_BANNER and not self.remote_version)

    def end(self) -> None:
        """Close, also where the handshake never began (paramiko's close then leaves the socket)."""
        self.close()
        self.sock.close()


def _no_timer(timeout: float) -> None:
    pass


class Popen(subprocess.Popen):  # type: ignore[misc]
    """A command on the controller itself, in a session of its own: no terminal to prompt on."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        visit = visits.current()
        super().__init__(*args, **{"start_new_session": visit is not None, **kwargs})
        if visit:
            visit.opened.append(self)

    def end(self) -> None:
        """Kill what still runs of it, children too."""
        if self.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self.wait()
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe:
                with suppress(OSError):
                    pipe.close()
