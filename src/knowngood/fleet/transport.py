"""Connections and local processes that belong to a visit, so that giving up on a node closes them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import Any

import paramiko
from gevent import subprocess

from knowngood.fleet import visits


class Transport(paramiko.Transport):
    """paramiko's transport, for hundreds at a time under one deadline each."""

    # paramiko wakes up ten times a second to see whether it was closed; gevent wakes it when that happens.
    _active_check_timeout = 5.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if visit := visits.current():
            # The visit's clock decides, not these.
            self.banner_timeout = self.auth_timeout = visit.timeout * 2
            self.packetizer.start_handshake = _no_timer  # type: ignore[method-assign]
            visit.opened.append(self)

    def start_client(self, *args: Any, **kwargs: Any) -> None:
        if visit := visits.current():
            visit.begin_handshake(self.sock)
        super().start_client(*args, **kwargs)

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
