"""One process per tensor-parallel rank: it takes its title, imports the kernel, and produces the tokens."""

import multiprocessing
import os
import threading
import time

KERNEL = "sglang.srt.layers.attention.flash_mla_sm120_triton"
PR_SET_PDEATHSIG = 1  # prctl(2)
SIGKILL = 9


class Scheduler:
    """The launcher's end of one scheduler process. `loaded` is what the process says of itself."""

    def __init__(self, rank):
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._lock = threading.Lock()
        self.process = context.Process(target=run, args=(rank, theirs), name=f"TP{rank}", daemon=True)
        self.process.start()
        theirs.close()
        self.loaded = None

    def wait_until_loaded(self):
        """Raises EOFError when the process died first."""
        self.loaded = self._pipe.recv()

    def generate(self, prompt, count):
        """`count` words; the requests of a launcher take turns."""
        with self._lock:
            self._pipe.send((prompt, count))
            return self._pipe.recv()


def start(ranks):
    """The schedulers, all with their kernel loaded. Ends this process when one of them can't."""
    schedulers = [Scheduler(rank) for rank in range(ranks)]
    try:
        for scheduler in schedulers:
            scheduler.wait_until_loaded()
    except EOFError:
        raise SystemExit("stand-in: a scheduler could not start") from None
    return schedulers


def run(rank, pipe):
    """The scheduler process, from its start to its end."""
    import ctypes
    import importlib

    import setproctitle

    setproctitle.setproctitle(f"sglang::scheduler_TP{rank}")
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
    kernel = importlib.import_module(KERNEL)
    constants = {
        name: value
        for name, value in vars(kernel).items()
        if name.isupper() and isinstance(value, (int, float, str))
    }
    pipe.send({"rank": rank, "pid": os.getpid(), "kernel_file": kernel.__file__, "kernel": constants})
    while True:
        try:
            prompt, count = pipe.recv()
        except EOFError:
            return
        pipe.send(_tokens(prompt, count))


def _tokens(prompt, count):
    from sglang.srt import control

    while control.is_set("generation-hangs"):
        time.sleep(0.1)
    time.sleep(count / control.number("tokens-per-second", 1000.0))
    words = prompt.split() or ["token"]
    return [words[index % len(words)] for index in range(count)]
