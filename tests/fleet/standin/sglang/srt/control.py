"""How to make the stand-in misbehave: a file /run/standin/NAME, or a knob STANDIN_NAME in its environment.

exit-at-once      exit with an error before anything else
die-after         exit with an error after that many seconds
never-healthy     start, and answer 503 on /health for ever
healthy-after     answer 503 on /health for that many seconds
generation-hangs  answer /health, and never a request for tokens
tokens-per-second the speed of generation (default 1000)
title-launcher    the launcher calls setproctitle too, not the schedulers alone
"""

import os
from pathlib import Path

FOLDER = Path("/run/standin")


def text(name):
    """What the control holds, or None where it is not set."""
    try:
        return (FOLDER / name).read_text().strip()
    except FileNotFoundError:
        return os.environ.get("STANDIN_" + name.upper().replace("-", "_"))


def is_set(name):
    return text(name) not in (None, "0")


def number(name, default):
    given = text(name)
    return float(given) if given else default
