"""One visit to one node: its deadline, and all that it opened and must close again."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import gevent
from gevent import socket
from gevent.local import local
from gevent.lock import BoundedSemaphore

# Handshakes that run at a time. They are what costs a controller CPU: begun all at once they would all end
# late, and a node would be blamed for the controller's queue. Waiting for one's turn stops one's clock.
HANDSHAKES_AT_A_TIME = 48
# A server speaks first (RFC 4253, section 4.2 lets both): until it does, a node takes no one's turn.
_WAIT_FOR_BANNER = 3.0

_current = local()


class OutOfTime(BaseException):
    """The deadline of a visit has passed. No Exception, so that no library takes it for its own."""


class Clock:
    """A deadline that can be stopped and go on. It raises OutOfTime in the greenlet that started it."""

    def __init__(self) -> None:
        self._left = 0.0
        self._since = 0.0
        self._timeout: gevent.Timeout | None = None

    def start(self, seconds: float) -> None:
        """Give the greenlet that much time from now on, whatever it had left before."""
        self.stop()
        self._left = seconds
        self.go_on()

    def stop(self) -> None:
        if self._timeout:
            self._timeout.close()
            self._timeout = None
            self._left -= time.monotonic() - self._since

    def go_on(self) -> None:
        self._since = time.monotonic()
        self._timeout = gevent.Timeout.start_new(max(self._left, 0.0), OutOfTime)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._left - (time.monotonic() - self._since if self._timeout else 0.0)


class Jump:
    """The connection to a jump host, once there is one; whoever makes it holds the lock."""

    def __init__(self) -> None:
        self.lock = BoundedSemaphore()
        self.transport: Any = None


class Round:
    """What the visits of one round share. Use as a context: what is open is closed at the end."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.turns = BoundedSemaphore(HANDSHAKES_AT_A_TIME)
        self.opened: list[Any] = []
        self._jumps: dict[str, Jump] = {}

    def jump(self, key: str) -> Jump:
        return self._jumps.setdefault(key, Jump())

    def __enter__(self) -> Round:
        return self

    def __exit__(self, *exception: object) -> None:
        _end(self.opened)
        self._jumps.clear()


class Visit:
    """What one greenlet does with one node. Use as a context: what it opened is closed at the end."""

    def __init__(self, round_: Round) -> None:
        self.round = round_
        self.clock = Clock()
        self.asking = False  # the command that runs is our question, and none of a connector's own
        self.received = 0  # bytes of its output
        self.channel: Any = None  # of its ssh connection, where it has one
        self.opened: list[Any] = []  # transports and local processes
        self._has_turn = False

    def __enter__(self) -> Visit:
        _current.visit = self
        return self

    def __exit__(self, *exception: object) -> None:
        self.clock.stop()
        self.end_handshake()
        _current.visit = None
        _end(self.opened)
        self.channel = None

    def begin_handshake(self, connection: Any) -> None:
        """Wait for the node's first word, then for a turn."""
        if self._has_turn:  # for the jump host in front
            return
        if isinstance(connection, socket.socket):
            with suppress(OSError):
                socket.wait_read(connection.fileno(), timeout=_WAIT_FOR_BANNER)
        self._has_turn = self.round.turns.acquire(blocking=False)
        if not self._has_turn:
            self.clock.stop()
            # Whoever hangs within a handshake gives its turn back at its own deadline.
            self._has_turn = self.round.turns.acquire(timeout=self.round.timeout)
            self.clock.go_on()

    def end_handshake(self) -> None:
        if self._has_turn:
            self.round.turns.release()
            self._has_turn = False

    @property
    def connected(self) -> bool:
        """Whether the ssh connection stands, where the command went through one."""
        return self.channel is None or bool(self.channel.get_transport().is_active())

    @property
    def exit_code(self) -> int | None:
        """Of the last command; None where the connection broke before it told."""
        if self.channel is not None:
            code: int = self.channel.exit_status
            return code if code >= 0 else None
        codes = [thing.returncode for thing in self.opened if hasattr(thing, "returncode")]
        return codes[-1] if codes else None


def _end(things: list[Any]) -> None:
    for thing in reversed(things):
        with suppress(Exception):
            thing.end()
    things.clear()


def current() -> Visit | None:
    """The visit of the running greenlet, if there is one."""
    return getattr(_current, "visit", None)
