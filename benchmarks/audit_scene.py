"""The audited thing: the stand-in decode server, and the questions that every tool answers about it.

Four files, a serve script with ten knobs and ten flags, a unit with a drop-in of four directives: the size
that a real decode node has. Everything is made from the lists below, so each tool asks for the same.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "tests" / "fleet" / "standin" / "sglang" / "srt"
KERNEL = ROOT / "state" / "files" / "flash_mla_sm120_triton.py"

UNIT = "sglang-dsv4-decode.service"
SERVER = "sglang.launch_server"
PYTHON = "/root/venv/bin/python3"
PACKAGE = "/root/venv/lib/python3.11/site-packages/sglang/srt"
SCRIPT = "/root/serve_dsv4_decode.sh"
DROPIN = f"/etc/systemd/system/{UNIT}.d/zz-knowngood.conf"

KNOBS = {
    "SGLANG_SM120_MMA_TARGET_CTAS": "512",
    "SGLANG_OPT_USE_MULTI_STREAM_OVERLAP": "0",
    "SGLANG_ENABLE_SPEC_V2": "1",
    "SGLANG_DSV4_FP4_EXPERTS": "1",
    "NCCL_P2P_LEVEL": "SYS",
    "NCCL_MIN_NCHANNELS": "16",
    "CUDA_DEVICE_MAX_CONNECTIONS": "8",
    "TRITON_CACHE_DIR": "/var/cache/triton",
    "OMP_NUM_THREADS": "4",
    "TOKENIZERS_PARALLELISM": "off",
}
FLAGS: dict[str, str | bool] = {
    "--model-path": "/models/dsv4",
    "--host": "0.0.0.0",  # all that the benchmark's own network has
    "--tp": "4",
    "--mem-fraction-static": "0.90",
    "--max-running-requests": "64",
    "--chunked-prefill-size": "8192",
    "--context-length": "131072",
    "--attention-backend": "flashmla",
    "--disable-overlap-schedule": True,
    "--trust-remote-code": True,
}
DIRECTIVES = {"LimitNOFILE": "16384", "Nice": "1", "Restart": "always", "UMask": "0027"}


@dataclass(frozen=True, slots=True)
class Content:
    """A file of the node. Mode as `stat` prints it."""

    path: str
    data: bytes = field(repr=False)
    mode: str = "0644"

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@functools.cache
def managed_files() -> list[Content]:
    """The kernel, and three more sources of the server. Read once: all tools ask for the same."""
    others = ("http_server.py", "scheduler.py", "server_args.py")
    return [
        Content(f"{PACKAGE}/layers/attention/{KERNEL.name}", KERNEL.read_bytes()),
        *(Content(f"{PACKAGE}/{name}", (SOURCES / name).read_bytes()) for name in others),
    ]


def serve_script() -> Content:
    """Exports, then the server in the shell's place."""
    words = [name if value is True else f"{name} {value}" for name, value in FLAGS.items()]
    lines = [
        "#!/bin/bash",
        "# Starts the decode server of this node.",
        "set -euo pipefail",
        *script_lines(),
        f"exec {PYTHON} -m {SERVER} \\",
        *(f"    {word} \\" for word in words[:-1]),
        f"    {words[-1]}",
    ]
    return Content(SCRIPT, _text(lines), "0755")


def dropin() -> Content:
    return Content(DROPIN, _text(["[Service]", *directive_lines()]))


def node_files() -> list[Content]:
    """What the node needs over a node of the tests' fleet."""
    return [*managed_files(), serve_script(), dropin()]


def script_lines() -> list[str]:
    """The knobs as the serve script says them."""
    return [f"export {line}" for line in environ_lines()]


def environ_lines() -> list[str]:
    """The knobs as the process has them."""
    return [f"{name}={value}" for name, value in KNOBS.items()]


def argv_words() -> list[str]:
    """The flags as the process has them."""
    words = [[name] if value is True else [name, str(value)] for name, value in FLAGS.items()]
    return [word for flag in words for word in flag]


def directive_lines() -> list[str]:
    """The directives as the drop-in says them, which is also how `systemctl show` prints these four."""
    return [f"{name}={value}" for name, value in DIRECTIVES.items()]


def manifest(hosts: str) -> str:
    """The same questions as a manifest of knowngood; `hosts` is a group of the inventory."""
    files = [
        f"  - path: {file.path}\n"
        f"    source: files/{Path(file.path).name}\n"
        f"    sha256: {file.sha256}\n"
        f'    mode: "{file.mode}"\n'
        "    owner: root"
        for file in managed_files()
    ]
    flags = [f"    {name}: {'true' if value is True else value}" for name, value in FLAGS.items()]
    return "\n".join(
        [
            "version: 1",
            "name: decode",
            f"hosts: [{hosts}]",
            f"unit: {{name: {UNIT}, enabled: true}}",
            f"server: {SERVER}",
            "files:",
            *files,
            "serve_script:",
            f"  path: {SCRIPT}",
            "  env:",
            *(f'    {name}: "{value}"' for name, value in KNOBS.items()),
            "  args:",
            *flags,
            "systemd:",
            "  Service:",
            *(f"    {name}: {value}" for name, value in DIRECTIVES.items()),
            "",
        ]
    )


def write_project(folder: Path, inventory: str) -> None:
    """A project of knowngood with this manifest for the hosts of the inventory's group `decode`."""
    (folder / "inventory").mkdir(parents=True)
    (folder / "state" / "files").mkdir(parents=True)
    (folder / "inventory" / "fleet.py").write_text(inventory)
    (folder / "state" / "decode.yaml").write_text(manifest("decode"))
    for content in managed_files():
        (folder / "state" / "files" / Path(content.path).name).write_bytes(content.data)


def questions() -> dict[str, object]:
    """The same questions as plain data, for the tools that are written as scripts and playbooks."""
    files = [*managed_files(), serve_script()]
    return {
        "unit": UNIT,
        "script": SCRIPT,
        "files": [{"path": file.path, "sha256": file.sha256, "mode": file.mode} for file in files],
        "script_lines": script_lines(),
        "environ_lines": environ_lines(),
        "argv_words": argv_words(),
        "directive_lines": directive_lines(),
    }


def _text(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()
