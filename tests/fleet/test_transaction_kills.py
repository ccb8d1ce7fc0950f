"""A real node is cut off in the middle of a transaction, its process or its power, and ends with one set.

Each cut comes before one of the program's operations on the disk, by number; then also at random times. A few
of each by default; KNOWNGOOD_SOAK=200 tries so many. A killed nspawn keeps the page cache, so writes that a
power cut would lose are not lost here: test_transaction_program.py asserts the order of fsync and rename.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .contents import DROPINS, KERNEL, SCRIPT, UNIT
from .fleet import Fleet
from .mend import mend
from .node import Node
from .transactions import Program, kernel_with, read, script_with
from .waits import until

SOAK = int(os.environ.get("KNOWNGOOD_SOAK") or 0)
TRIES = SOAK or 4
KNOB = "SGLANG_SM120_MMA_TARGET_CTAS"
DROPIN = f"{DROPINS}/zz-knowngood.conf"
PATHS = (SCRIPT, KERNEL, DROPIN)

# Goes into the archive for these tests alone: production has no such hook.
CUTS = '''
"""Cut this process off before one of its operations: {"at": number, "how": "kill" or "hang"} in PLAN."""
import json, os, signal, sys

PLAN, COUNT, HANGS = "/run/cut/plan", "/run/cut/count", "/run/cut/hangs"
NAMES = "rename link unlink mkdir rmdir fsync fork utime fchmod fchown setxattr posix_fallocate".split()


def arm():
    try:
        with open(PLAN) as file:
            plan = json.load(file)
    except FileNotFoundError:
        return
    if plan["command"] not in sys.argv:
        return
    os.unlink(PLAN)
    count, me = [0], os.getpid()

    def counted(real):
        def call(*args, **kwargs):
            if os.getpid() == me:
                count[0] += 1
                if count[0] == plan["at"]:
                    cut(plan["how"])
            return real(*args, **kwargs)
        return call

    for name in NAMES:
        setattr(os, name, counted(getattr(os, name)))
    import atexit
    atexit.register(lambda: open(COUNT, "w").write(str(count[0])))


def cut(how):
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    open(HANGS, "w").close()
    while True:
        signal.pause()
'''
MAIN = """
import sys
import cuts
cuts.arm()
from knowngood.node.transaction.main import main
from knowngood.node.transaction.places import Home
sys.exit(main(sys.argv[1:], Home()))
"""


class Cut:
    """A node with the program that can be cut off, and both sets."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.program = Program(node, {"cuts.py": CUTS, "__main__.py": MAIN})
        self.old = {path: read(node, path) for path in PATHS}
        self.new = {
            SCRIPT: script_with(node, **{KNOB: "256"}),
            KERNEL: kernel_with(node, "new"),
            DROPIN: b"[Service]\nLimitNOFILE=15000\n",
        }
        self.program.lock()
        self.set = self.program.set_of(dict(self.new))

    def plan(self, at: int, how: str, command: str = "run") -> None:
        text = json.dumps({"at": at, "how": how, "command": command})
        self.node.run("mkdir -p /run/cut; rm -f /run/cut/*; cat >/run/cut/plan", input=text)

    def activate(self, **more: object) -> int:
        given = {"restart": True, "confirm_within_s": 300, "again": True} | more
        answer = self.program.call("activate", set=self.set, **given)
        assert "generation" in answer, answer
        return int(answer["generation"])

    def count(self) -> int:
        """How many operations an uncut activation has; it is undone again."""
        self.plan(0, "kill")
        self.activate(follow_s=60)
        count = until(lambda: self._file("count"), "the count", 20)
        assert self.program.call("restore", follow_s=60)["state"] == "restored"
        return int(count)

    def hangs(self) -> bool:
        return self._file("hangs") is not None

    def _file(self, name: str) -> str | None:
        place = Path(f"/proc/{self.node.pid}/root/run/cut/{name}")
        return place.read_text() if place.exists() else None

    def seen(self) -> str:
        """Which set is live: files and process. A mix fails the test."""
        files = {path: read(self.node, path) for path in PATHS}
        truth = self.node.wait_until_healthy(60)
        limit = self.node.run(f"systemctl show -P LimitNOFILE {UNIT}").stdout.strip()
        process = truth["knobs"][KNOB], limit
        assert files in (self.old, self.new), "a mix of files"
        if files == self.new:
            assert process == ("256", "15000")
            return "new"
        assert process == ("512", "16384")
        return "old"

    def settle(self) -> str:
        """End what is open, as the next operator would; which set is live then."""
        pending = self.program.call("lock", take_over=True, holder={}, purpose="next", lease_s=60)["pending"]
        if pending is not None:
            told = self.program.call("wait", generation=pending["generation"], timeout_s=60)
            if told["state"] == "active":
                assert self.program.call("confirm", generation=pending["generation"])["ok"]
            elif told["state"] not in ("restored", "failed", "confirmed"):
                assert told["interrupted"], told
                told = self.program.call("restore", refuse=False, follow_s=60)
                assert told["state"] in ("restored", "failed"), told
        return self.seen()

    def back_to_old(self) -> None:
        if self.seen() == "new":
            answer = self.program.call("restore", restart=True, follow_s=60, refuse=False)
            assert answer["ok"], answer
            assert self.program.call("confirm", generation=answer["generation"])["ok"]
            assert self.seen() == "old"


@pytest.fixture(scope="module")
def cut(fleet: Fleet) -> Iterator[Cut]:
    node = fleet["decode-03"]
    yield Cut(node)
    mend(node)


def chosen(count: int) -> list[int]:
    """Operations to be cut before: evenly spread, the first and the last among them."""
    return sorted({1 + round(each * (count - 1) / max(1, TRIES - 1)) for each in range(TRIES)})


def test_the_transaction_killed_at_its_steps_goes_on_by_itself(cut: Cut) -> None:
    for at in chosen(cut.count()):
        cut.plan(at, "kill")
        number = cut.activate(follow_s=60)
        assert cut.program.state(number) == "active", at
        assert cut.program.call("confirm", generation=number)["ok"]
        assert cut.seen() == "new"
        cut.back_to_old()


def test_the_node_killed_at_steps_boots_with_one_set(cut: Cut) -> None:
    for at in chosen(cut.count()):
        cut.plan(at, "hang")
        number = cut.activate(follow_s=0)
        until(cut.hangs, f"the cut before operation {at}", 30)
        cut.node.stop()
        cut.node.start()
        cut.node.wait_until_up()
        state = cut.program.state(number)
        assert state in ("failed", "restored", "active"), (at, state)
        assert cut.seen() == ("new" if state == "active" else "old"), at
        cut.settle()
        cut.back_to_old()


def test_the_node_killed_at_random_times_boots_with_one_set(cut: Cut) -> None:
    dice = random.Random(7)
    for _ in range(TRIES):
        cut.activate(follow_s=0)
        time.sleep(dice.uniform(0, 1.5))
        cut.node.stop()
        cut.node.start()
        cut.node.wait_until_up()
        cut.settle()
        cut.back_to_old()


def test_undoing_killed_at_its_steps_is_ended_by_the_switch_or_the_next(cut: Cut) -> None:
    for at in chosen(cut.count()):
        number = cut.activate(follow_s=60)
        cut.plan(at, "kill")
        told = cut.program.call("restore", refuse=False, follow_s=60)
        assert (told["state"], told["generation"]) == ("restored", number), (at, told)
        assert cut.seen() == "old"
