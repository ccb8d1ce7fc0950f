"""The screen of a plan: what is told, what is kept back, and no line too wide."""

from __future__ import annotations

from typing import Any

import pytest

from knowngood.report.cells import width
from knowngood.report.planned import render_plan

KERNEL = "/site/flash_mla.py"
NODE: dict[str, Any] = {
    "host": "decode-01",
    "manifest": "decode",
    "unit": "decode.service",
    "status": "due",
    "error": None,
    "differs": [{"what": f"file:{KERNEL}", "reason": "aaaaaaaa; on disk bbbbbbbb"}],
    "changes": [
        {
            "path": KERNEL,
            "kind": "file",
            "old": "b" * 64,
            "new": "a" * 64,
            "attributes": [{"kind": "mode", "old": "0664", "new": "0644"}],
            "stale_bytecode": False,
            "diff": [],
        },
        {
            "path": "/root/serve.sh",
            "kind": "script",
            "old": "c" * 64,
            "new": "d" * 64,
            "attributes": [],
            "stale_bytecode": False,
            "diff": ["--- /root/serve.sh", "+++ /root/serve.sh", "@@ -1 +1 @@", "-A=1", "+A=2"],
        },
    ],
    "secrets": [],
    "empties": ["/root/.triton/cache"],
    "reload": [],
    "restart": [{"what": "env:A", "reason": "the process has 1, not 2"}],
    "start": [],
    "enable": None,
    "blockers": [],
    "unproved": [],
    "health": {
        "http": "http://h/health",
        "status": 200,
        "completion": None,
        "command": None,
        "timeout": 60.0,
    },
    "state": {},
    "wants": "",
}
IN_SYNC = NODE | {
    "host": "decode-09",
    "status": "in_sync",
    "differs": [],
    "changes": [],
    "empties": [],
    "restart": [],
}


def plan(*nodes: dict[str, Any]) -> dict[str, Any]:
    manifest = {"name": "decode", "path": "state/decode.yaml", "commit": "3f9c2e1d5b", "dirty": True}
    due = [node["host"] for node in nodes if node["status"] == "due"]
    waves = [{"manifest": "decode", "kind": "canary", "hosts": due}] if due else []
    return {"manifests": [manifest], "nodes": list(nodes), "waves": waves}


def screen(*nodes: dict[str, Any], **given: Any) -> str:
    return render_plan(plan(*nodes), **({"width": 100, "color": False} | given))


def test_all_of_it() -> None:
    assert (
        screen(NODE, IN_SYNC)
        == """\
decode · 2 nodes · manifest state/decode.yaml @ 3f9c2e1 + changes

decode-01
  differs
      file flash_mla: aaaaaaaa; on disk bbbbbbbb
  write /site/flash_mla.py  bbbbbbbb → aaaaaaaa  mode 0664 → 0644
  write /root/serve.sh  cccccccc → dddddddd
      @@ -1 +1 @@
      -A=1
      +A=2
  empty /root/.triton/cache
  restart decode.service
      env A: the process has 1, not 2
  gate: http://h/health answers 200 within 60 s

wave 1 (canary): decode-01
1 due · 1 in sync
"""
    )


def test_like_nodes_are_told_once_and_apart_where_asked() -> None:
    nodes = [NODE | {"host": f"decode-{number:02d}"} for number in range(1, 6)]
    assert screen(*nodes).count("differs") == 1
    assert "decode-05  same on 5 nodes\n" in screen(*nodes)
    assert screen(*nodes, verbose=2).count("differs") == 5


def test_blocked_unreachable_and_not_proved_say_why() -> None:
    blocker = {"what": "env:A", "reason": "set under a condition", "advice": "edit it by hand"}
    text = screen(
        NODE | {"status": "blocked", "blockers": [blocker]},
        IN_SYNC | {"status": "unreachable", "error": "ssh: no answer in 10 s"},
        IN_SYNC | {"status": "incomplete", "unproved": [{"what": "env:A", "reason": "overwritten"}]},
    )
    assert "  blocked: env A: set under a condition\n      edit it by hand\n" in text
    assert "  unreachable: ssh: no answer in 10 s\n" in text
    assert "  not proved\n      env A: overwritten\n" in text
    assert text.endswith("1 blocked · 1 incomplete · 1 unreachable\n")


def test_a_long_diff_is_cut_and_whole_with_v() -> None:
    lines = ["--- a", "+++ a", *(f"+line {number}" for number in range(60))]
    node = NODE | {"changes": [NODE["changes"][1] | {"diff": lines}]}
    assert "and 20 lines more: -v" in screen(node)
    assert "line 59" in screen(node, verbose=1)


def test_what_a_node_says_cannot_steer_the_terminal() -> None:
    node = NODE | {
        "error": "\x1b[2J",
        "differs": [{"what": "env:\x1b[31mA", "reason": "\x07"}],
        "changes": [NODE["changes"][1] | {"diff": ["", "", "+\x1b]0;title\x07\udcff"]}],
    }
    text = screen(node)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\\x1b" in text
    text.encode("utf-8")


@pytest.mark.parametrize("cells", [40, 41, 60, 100])
def test_no_line_is_too_wide(cells: int) -> None:
    node = NODE | {"error": "x" * 300, "differs": [{"what": f"file:/{'y' * 120}.py", "reason": "漢" * 90}]}
    for verbose in (0, 1, 2):
        for line in screen(node, IN_SYNC, width=cells, verbose=verbose).splitlines():
            assert width(line) <= cells, line


def test_nothing_to_do() -> None:
    assert screen(IN_SYNC).endswith("\n\n1 in sync\n")
    assert screen() == "no node was asked\n"
