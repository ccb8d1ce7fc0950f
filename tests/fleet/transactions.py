"""Talking to the node's program as a controller does: put it on a node, stage contents, call its commands."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import subprocess
from typing import Any

from knowngood.node.transaction.lock import start_ticks
from knowngood.observe.answer_frame import unframe
from knowngood.observe.node_program import FOLDER, node_program, pack, sources

from .contents import KERNEL, SCRIPT, UNIT
from .node import Node

Answer = dict[str, Any]
UNIT_NAME = UNIT


class Program:
    """The program on one node. `more` replaces files of the archive: that is how tests inject faults."""

    def __init__(self, node: Node, more: dict[str, str] | None = None) -> None:
        self.node = node
        archive = node_program()[0] if more is None else pack(sources() | more)
        self.path = f"{FOLDER}/bin/node-{hashlib.sha256(archive).hexdigest()[:12]}.pyz"
        self.token = secrets.token_hex(16)
        self._put(self.path, archive)

    def _put(self, path: str, data: bytes) -> None:
        folder = path.rpartition("/")[0]
        script = f"umask 077; mkdir -p {folder} && base64 -d >{path}.part && mv {path}.part {path}"
        self.node.run(script, input=base64.b64encode(data).decode())

    def call(self, command: str, timeout: float = 60, **request: Any) -> Answer:
        """One command's answer."""
        run = secrets.token_hex(8)
        asked = json.dumps({"token": self.token, "run": run} | request)
        done = self.node.run(
            f"python3 -I -S {self.path} {command}", input=asked, timeout=timeout, check=False
        )
        assert done.stdout, done.stderr
        answer = unframe(done.stdout.encode(), run)
        assert isinstance(answer, dict)
        return answer

    def lock(self, lease_s: float = 600, **request: Any) -> Answer:
        holder = {"user": "tester", "host": "here", "boot_id": "elsewhere", "pid": os.getpid()}
        holder["start_ticks"] = start_ticks(os.getpid())
        return self.call("lock", holder=holder, purpose="a test", lease_s=lease_s, **request)

    def stage(self, *contents: bytes) -> list[str]:
        """Upload contents into the store; their hashes."""
        hashes = []
        for data in contents:
            sha256 = hashlib.sha256(data).hexdigest()
            self.call("status")
            self._put(f"{FOLDER}/store/incoming/{sha256}", data)
            answer = self.call("keep", incoming=sha256, sha256=sha256)
            assert answer["ok"], answer
            hashes.append(sha256)
        return hashes

    def set_of(self, files: dict[str, bytes | None], **more: Any) -> Answer:
        """A set with these contents, staged."""
        entries = []
        for path, data in files.items():
            sha256 = None if data is None else self.stage(data)[0]
            entries.append({"path": path, "sha256": sha256})
        content = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()
        return (
            {"manifest": "dsv4-decode", "unit": UNIT, "commit": "c0ffee", "content": content}
            | {"entries": entries}
            | more
        )

    def activate(self, files: dict[str, bytes | None], *, restart: bool = True, **request: Any) -> Answer:
        """Activate these contents and follow until it is active or closed."""
        more = request.pop("more", {})
        given: Answer = {"restart": restart, "confirm_within_s": 60, "follow_s": 40} | request
        return self.call("activate", set=self.set_of(files, **more), **given)

    def state(self, generation: int) -> str:
        return str(self.call("wait", generation=generation, timeout_s=0)["state"])


def _on(node: Node, script: str, asked: str, timeout: float) -> subprocess.CompletedProcess[str]:
    """Run it, asking for the node again where a unit's cgroup went while the node was being found."""
    for _ in range(5):
        try:
            return node.run(script, input=asked, timeout=timeout, check=False)
        except FileNotFoundError:
            continue
    return node.run(script, input=asked, timeout=timeout, check=False)


def read(node: Node, path: str) -> bytes | None:
    """A file's content on the node; None where it is missing."""
    done = node.run(f"base64 <'{path}'", check=False)
    return base64.b64decode(done.stdout) if done.returncode == 0 else None


def script_with(node: Node, **knobs: str) -> bytes:
    """The node's serve script with knobs set to other values."""
    text = (read(node, SCRIPT) or b"").decode()
    lines = []
    for line in text.splitlines(keepends=True):
        name = line.removeprefix("export ").partition("=")[0].strip()
        lines.append(f"export {name}={knobs[name]}\n" if name in knobs else line)
    assert all(f"export {name}={value}\n" in lines for name, value in knobs.items())
    return "".join(lines).encode()


def kernel_with(node: Node, constant: str) -> bytes:
    """The node's kernel file with a comment that makes it another content."""
    return (read(node, KERNEL) or b"") + f"\n# {constant}\n".encode()
