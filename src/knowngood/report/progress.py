"""How far a run is, on stderr: one line that counts on a terminal, start and end elsewhere, else nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from types import TracebackType
from typing import TextIO

from knowngood.report.escape import clean

REDRAW_S = 0.1
FEW = 3  # nodes still out that are named


class Progress:
    """Tells of nodes that answer. A context manager: whatever happens, the terminal's line is left clean."""

    def __init__(
        self, *, quiet: bool = False, stream: TextIO | None = None, columns: int | None = None
    ) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._quiet = quiet
        self._live = not quiet and self._stream.isatty()
        self._columns = columns
        self._total = self._answered = self._failed = 0
        self._awaited: dict[str, None] = {}
        self._started = self._drawn_at = 0.0
        self._drawn = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wipe()

    def start(self, total: int, hosts: Iterable[str] = ()) -> None:
        """`total` nodes are asked; with their names, those that keep us waiting can be named."""
        self._total, self._answered, self._failed = total, 0, 0
        self._awaited = dict.fromkeys(hosts)
        self._started = time.monotonic()
        if self._live:
            self._draw()
        else:
            self._say(f"asking {_nodes(total)}")

    def answered(self, host: str, ok: bool) -> None:
        """This node is through: it answered, or (not `ok`) it will not."""
        self._answered += 1
        self._failed += not ok
        self._awaited.pop(host, None)
        if self._live and (time.monotonic() - self._drawn_at >= REDRAW_S or self._answered >= self._total):
            self._draw()

    def done(self) -> None:
        """All nodes are through."""
        if self._live:
            self._wipe()
            return
        took = time.monotonic() - self._started
        self._say(f"{self._answered - self._failed} of {_nodes(self._total)} answered in {took:.1f} s")

    def line(self) -> str:
        """The line as it stands now."""
        text = f"{self._answered} of {_nodes(self._total)}"
        if self._failed:
            text += f" · {self._failed} failed"
        if self._answered and 0 < len(self._awaited) <= FEW:
            text += " · waiting for " + ", ".join(clean(host, 40) for host in self._awaited)
        return text

    def _draw(self) -> None:
        from knowngood.report.cells import cut

        self._write("\r" + cut(self.line(), self._width() - 1) + "\x1b[K")
        self._drawn, self._drawn_at = True, time.monotonic()

    def _wipe(self) -> None:
        if self._drawn:
            self._write("\r\x1b[K")
            self._drawn = False

    def _width(self) -> int:
        if self._columns is not None:
            return self._columns
        import shutil

        return shutil.get_terminal_size((80, 24)).columns

    def _say(self, text: str) -> None:
        if not self._quiet:
            self._write(text + "\n")

    def _write(self, text: str) -> None:
        # A counter nobody can read must not end a run that others wait for.
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._quiet, self._live, self._drawn = True, False, False


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count} nodes"
