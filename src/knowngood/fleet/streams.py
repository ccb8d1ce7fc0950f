"""What goes into a node's command and comes out of it: as bytes, bounded, and never by a prompt.

These stand in pyinfra's place (see engine) and keep its signatures. Other commands than our
question are read and written by pyinfra's own.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NoReturn

import gevent
from pyinfra.connectors import util
from pyinfra.connectors.util import CommandOutput, OutputLine

from knowngood.fleet import visits

MAX_OUTPUT = 8 << 20  # bytes of one stream; a node that says more is cut off
_CHUNK = 64 << 10
_ENCODING = "latin-1"  # a letter for each byte, so that pyinfra's lines can carry any

_pyinfras_read_output = util.read_output_buffers
_pyinfras_write_stdin: Any = util.write_stdin


class OutputLimitError(Exception):
    """A node's command said more than MAX_OUTPUT."""


class PasswordNeededError(Exception):
    """sudo wants a password that the inventory does not give."""


def as_bytes(line: str) -> bytes:
    """A line of a CommandOutput of ours, as the bytes that the node sent."""
    return line.encode(_ENCODING)


def read_output(
    stdout_buffer: Any, stderr_buffer: Any, timeout: Any, print_output: bool, print_prefix: str
) -> CommandOutput:
    """All that the command says, each stream as one OutputLine that holds its bytes (see as_bytes).

    OutputLimitError at the limit: the rest stays unread, and whoever catches it must close the connection.
    """
    visit = visits.current()
    if visit is None or not visit.asking:
        return _pyinfras_read_output(stdout_buffer, stderr_buffer, timeout, print_output, print_prefix)
    visit.channel = getattr(stdout_buffer, "channel", None)
    readers = {
        "stdout": gevent.spawn(_read, stdout_buffer, "recv", visit),
        "stderr": gevent.spawn(_read, stderr_buffer, "recv_stderr", visit),
    }
    try:
        for reader in gevent.iwait(list(readers.values())):
            if isinstance(reader.value, Exception):
                raise reader.value
    finally:
        gevent.killall(list(readers.values()), block=False)
    return CommandOutput([OutputLine(name, reader.value) for name, reader in readers.items()])


def _read(stream: Any, method: str, visit: visits.Visit) -> str | Exception:
    """The whole stream; or what went wrong, returned, as gevent prints what a greenlet raises."""
    channel = getattr(stream, "channel", None)
    receive = getattr(channel, method) if channel else stream.read1
    chunks: list[bytes] = []
    size = 0
    try:
        while chunk := receive(_CHUNK):
            chunks.append(chunk)
            size += len(chunk)
            visit.received += len(chunk)
            if size > MAX_OUTPUT:
                return OutputLimitError()
    except Exception as error:
        return error
    return b"".join(chunks).decode(_ENCODING)


def write_input(stdin: Any, buffer: Any) -> None:
    """Write all of it, and close. A node that stops reading early says why in its output."""
    if not isinstance(stdin, bytes):
        _pyinfras_write_stdin(stdin, buffer)
        return
    channel = getattr(buffer, "channel", None)
    with suppress(OSError):
        (channel.sendall if channel else buffer.write)(stdin)
    with suppress(OSError):
        buffer.close()


def refuse_to_prompt(prompt: str = "", stream: Any = None) -> NoReturn:
    """Stands for getpass."""
    raise PasswordNeededError
