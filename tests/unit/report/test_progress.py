"""Progress tells on stderr how far a run is, and never gets in its way."""

from __future__ import annotations

import io

import pytest

from knowngood.report.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_without_a_terminal_there_is_a_start_and_an_end() -> None:
    stream = io.StringIO()
    with Progress(stream=stream) as progress:
        progress.start(3)
        for host in ("a", "b", "c"):
            progress.answered(host, host != "c")
        progress.done()
    assert stream.getvalue() == "asking 3 nodes\n2 of 3 nodes answered in 0.0 s\n"


def test_a_terminal_has_one_line_that_counts_and_goes() -> None:
    stream = Terminal()
    with Progress(stream=stream, columns=60) as progress:
        progress.start(2, ["a", "b"])
        progress.answered("a", True)
        progress.answered("b", False)
        progress.done()
    frames = stream.getvalue().split("\r")
    assert frames[1] == "0 of 2 nodes\x1b[K"
    assert frames[-2:] == ["2 of 2 nodes · 1 failed\x1b[K", "\x1b[K"]
    assert "\n" not in stream.getvalue()


def test_the_last_ones_out_are_named() -> None:
    progress = Progress(stream=Terminal(), columns=60)
    progress.start(5, [f"n-{number}" for number in range(4)] + ["bad\x1b[2J"])
    assert progress.line() == "0 of 5 nodes"
    progress.answered("n-0", True)
    assert progress.line() == "1 of 5 nodes"
    progress.answered("n-1", True)
    assert progress.line() == "2 of 5 nodes · waiting for n-2, n-3, bad\\x1b[2J"


def test_a_narrow_terminal_never_wraps_the_line() -> None:
    stream = Terminal()
    with Progress(stream=stream, columns=20) as progress:
        progress.start(2, ["a-long-name-of-a-node", "b"])
        progress.answered("b", False)
        progress.answered("a-long-name-of-a-node", False)
    frames = [frame.removesuffix("\x1b[K") for frame in stream.getvalue().split("\r")]
    assert max(map(len, frames)) == 19


def test_the_line_is_wiped_when_a_run_breaks_off() -> None:
    stream = Terminal()
    with pytest.raises(KeyboardInterrupt), Progress(stream=stream, columns=60) as progress:
        progress.start(2)
        raise KeyboardInterrupt
    assert stream.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_quiet_says_nothing(stream: io.StringIO) -> None:
    with Progress(quiet=True, stream=stream) as progress:
        progress.start(1, ["a"])
        progress.answered("a", True)
        progress.done()
    assert stream.getvalue() == ""


def test_a_stderr_that_is_gone_ends_no_run() -> None:
    with Progress(stream=Gone()) as progress:
        progress.start(1)
        progress.answered("a", True)
        progress.done()
    assert progress.line() == "1 of 1 node"
