"""Running one other program with a deadline. `subprocess` would cost more than the program itself."""

import os
import select
import time

from knowngood.node.ground import Problem

_SIGKILL = 9  # the signal module would cost more than the rest of the program
_LIMIT = 2 << 20  # bytes of output
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Command:
    """A program that runs from now on, in the C locale, with nothing to read."""

    def __init__(self, argv: "list[str]", seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self._name = argv[0]
        self._output, output = os.pipe()
        self._errors, errors = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _become(argv, output, errors)
        os.close(output)
        os.close(errors)

    def output(self) -> bytes:
        """All that it prints; Problem where it fails, hangs or floods."""
        try:
            out, err = self._read()
        finally:
            status = self._reap()
        if status:
            said = err.decode("utf-8", "replace").strip().split("\n")[-1]
            raise Problem("%s: %s" % (self._name, said or "failed (status %d)" % status))
        return out

    def _read(self) -> "tuple[bytes, bytes]":
        said = {self._output: b"", self._errors: b""}
        waiting = select.poll()
        for pipe in said:
            waiting.register(pipe, select.POLLIN)
        still_open = len(said)
        while still_open:
            left = self._ends - time.monotonic()
            ready = waiting.poll(max(0, int(left * 1000)))
            if not ready and left <= 0:
                raise Problem("%s: no answer in time" % self._name)
            for pipe, _ in ready:
                chunk = os.read(pipe, 1 << 16)
                said[pipe] += chunk
                if not chunk:
                    waiting.unregister(pipe)
                    still_open -= 1
                if len(said[pipe]) > _LIMIT:
                    raise Problem("%s: says too much" % self._name)
        return said[self._output], said[self._errors]

    def _reap(self) -> int:
        """End it if it still runs; its exit status, or 128 and the signal."""
        os.close(self._output)
        os.close(self._errors)
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        patience = time.monotonic() + 0.2
        while not pid and time.monotonic() < min(patience, self._ends):
            time.sleep(0.002)
            pid, status = os.waitpid(self._pid, os.WNOHANG)
        if not pid:
            os.kill(self._pid, _SIGKILL)
            pid, status = os.waitpid(self._pid, 0)
        return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _become(argv: "list[str]", output: int, errors: int) -> None:
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (output, 1), (errors, 2)):
            os.dup2(source, target)
        environ = dict(os.environ, LC_ALL="C", SYSTEMD_COLORS="0", SYSTEMD_PAGER="", SYSTEMD_LOG_LEVEL="err")
        environ.setdefault("PATH", _PATH)
        os.execvpe(argv[0], argv, environ)
    except OSError as error:
        os.write(2, os.strerror(error.errno or 0).encode())
    finally:
        os._exit(127)
