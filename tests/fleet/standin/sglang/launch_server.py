"""`python3 -m sglang.launch_server FLAGS`: start the schedulers, then serve HTTP in this process.

As in SGLang the launcher is the HTTP server, each tensor-parallel rank is a spawned process, and when one of
those dies the launcher goes down with it.
"""

import os
import sys
import threading
import time


def main():
    started = time.monotonic()
    from sglang.srt import control, server_args

    if control.is_set("exit-at-once"):
        sys.exit("stand-in: told to exit at once")
    args = server_args.parse()
    seconds = control.number("die-after", None)
    if seconds is not None:
        threading.Timer(seconds, _die, [f"told to die after {seconds:g} s"]).start()

    from sglang.srt import http_server, scheduler

    schedulers = scheduler.start(args.tp_size)
    threading.Thread(target=_die_with, args=[schedulers], daemon=True).start()
    if control.is_set("title-launcher"):
        import setproctitle

        setproctitle.setproctitle("sglang::launch_server")
    http_server.serve(args, schedulers, started)


def _die_with(schedulers):
    from multiprocessing import connection

    connection.wait([each.process.sentinel for each in schedulers])
    _die("a scheduler died")


def _die(reason):
    print("stand-in:", reason, file=sys.stderr, flush=True)
    os._exit(1)


if __name__ == "__main__":
    main()
