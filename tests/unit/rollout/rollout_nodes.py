"""A decode node as it should be, and the ways to make it differ: text in, the plan out."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from knowngood.drift.judge import judge
from knowngood.model import (
    Desired,
    DesiredFile,
    DesiredScript,
    FileState,
    Known,
    Observation,
    Occurrences,
    Process,
    Text,
    UnitState,
    Value,
)
from knowngood.observe.see import see
from knowngood.rollout.node_plan import Ways, plan_node
from knowngood.rollout.plan import NodePlan

S = 10**9
START, NOW = 1_000 * S, 2_000 * S
UNIT = "decode.service"
SCRIPT, KERNEL, FRAGMENT = "/root/serve.sh", "/site/kernel.py", "/etc/systemd/system/decode.service"
DROPINS = f"{FRAGMENT}.d"
OURS = f"{DROPINS}/zz-knowngood.conf"
GOOD, OTHER = "a" * 64, "b" * 64
TEXT = b"#!/bin/bash\nexport TARGET=512\nexec python3 -m sglang.launch_server --tp 4\n"

DESIRED = Desired(
    manifest="decode",
    host="decode-01",
    unit=UNIT,
    enabled=True,
    server="sglang.launch_server",
    files=(DesiredFile(KERNEL, GOOD, "/project/state/files/kernel.py", mode="0644"),),
    script=DesiredScript(SCRIPT),
    env={"TARGET": Known("512")},
    args={"--tp": Known(Occurrences((("4",),)))},
    directives={"Service.LimitNOFILE": ("16384",)},
    cache_dirs=("/root/.triton/cache",),
    health={"http": "http://127.0.0.1:30000/health", "timeout": 60},
)


def file_state(path: str, sha256: str | None, **given: Any) -> FileState:
    """A regular file from before the server's start, mode 0644, root's."""
    state = FileState(path, "regular", None, sha256, 100, "0644", "root", "root", 500 * S, 500 * S)
    return replace(state, **given)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def process(tp: str = "4", **environ: Value) -> Process:
    argv = ("python3", "-m", "sglang.launch_server", "--tp", tp)
    traits = {"LimitNOFILE": "16384:16384"}
    return Process(7, 1, 0, START, "/usr/bin/python3.11", argv, {"TARGET": Known("512"), **environ}, traits)


def observation(
    *,
    script: bytes = TEXT,
    kernel: FileState | None = None,
    processes: tuple[Process, ...] | None = None,
    dropins: dict[str, bytes] | None = None,
    limit: str = "16384",
    **unit: Any,
) -> Observation:
    """What a node says; in sync with DESIRED as it is."""
    properties = {"LimitNOFILE": limit, "LimitNOFILESoft": limit}
    texts = tuple(Text(path, data) for path, data in (dropins or {}).items())
    fragment = Text(FRAGMENT, b"[Service]\nExecStart=/root/serve.sh\nLimitNOFILE=16384\n")
    state = UnitState(
        UNIT, "loaded", "active", "running", "enabled", 7, 0, False, "f00d", properties, fragment, texts
    )
    return Observation(
        host="decode-01",
        unit=replace(state, **unit),
        processes=(process(),) if processes is None else processes,
        files={
            KERNEL: kernel or file_state(KERNEL, GOOD),
            SCRIPT: file_state(SCRIPT, sha(script), mode="0755"),
        },
        script=Text(SCRIPT, script),
        nonce=b"n",
        now_ns=NOW,
    )


def planned(node: Observation, desired: Desired = DESIRED, ways: Ways | None = None) -> NodePlan:
    """The plan, by the same road that the command takes."""
    seen = see(desired, node)
    return plan_node(desired, node, seen, judge(desired, node, seen).findings, ways)
