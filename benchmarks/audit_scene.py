"""The audited thing: one decode unit, and the questions that every tool answers about it.

Four kernel files, a serve script with ten knobs and ten flags, a unit with a drop-in of four directives: the
size that a real decode node has. Everything is made from the lists below, so each tool asks for the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

UNIT = "sglang-dsv4-decode.service"
SCRIPT = "/srv/decode/serve_dsv4_decode.sh"
SERVER = "/srv/decode/decode_server.py"
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
    "TOKENIZERS_PARALLELISM": "false",
}
FLAGS: dict[str, str | bool] = {
    "--model-path": "/models/dsv4",
    "--tp": "4",
    "--mem-fraction-static": "0.90",
    "--max-running-requests": "64",
    "--chunked-prefill-size": "8192",
    "--context-length": "131072",
    "--attention-backend": "flashmla",
    "--kv-cache-dtype": "fp8_e4m3",
    "--disable-overlap-schedule": True,
    "--trust-remote-code": True,
}
DIRECTIVES = {"LimitNOFILE": "16384", "Nice": "1", "Restart": "always", "UMask": "0027"}
KERNELS = [f"/srv/decode/kernels/flash_mla_sm120_{part}.py" for part in ("triton", "sparse", "combine", "rope")]


@dataclass(frozen=True, slots=True)
class Content:
    """A file of the node. Mode as `stat` prints it."""

    path: str
    data: bytes = field(repr=False)
    mode: str = "0644"

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def managed_files() -> list[Content]:
    """The four kernel files of 40 KB each."""
    return [Content(path, _kernel(path)) for path in KERNELS]


def serve_script() -> Content:
    """Exports, then the server in the shell's place."""
    words = [name if value is True else f"{name} {value}" for name, value in FLAGS.items()]
    lines = [
        "#!/bin/bash",
        "# Starts the decode server of this node.",
        "set -euo pipefail",
        *script_lines(),
        f"exec python3 {SERVER} \\",
        *(f"    {word} \\" for word in words[:-1]),
        f"    {words[-1]}",
    ]
    return Content(SCRIPT, _text(lines), "0755")


def dropin() -> Content:
    return Content(DROPIN, _text(["[Service]", *directive_lines()]))


def node_files() -> list[Content]:
    """Everything the node needs, managed or not."""
    unit = [
        "[Unit]",
        "Description=A decode server to audit",
        "[Service]",
        f"ExecStart={SCRIPT}",
        "[Install]",
        "WantedBy=multi-user.target",
    ]
    return [
        *managed_files(),
        serve_script(),
        dropin(),
        Content(f"/etc/systemd/system/{UNIT}", _text(unit)),
        Content(SERVER, (Path(__file__).parent / "rivals" / "decode_server.py").read_bytes()),
    ]


def script_lines() -> list[str]:
    """The knobs as the serve script says them."""
    return [f"export {line}" for line in environ_lines()]


def environ_lines() -> list[str]:
    """The knobs as the process has them."""
    return [f"{name}={value}" for name, value in KNOBS.items()]


def argv_words() -> list[str]:
    """The flags as the process has them."""
    return [word for name, value in FLAGS.items() for word in ([name] if value is True else [name, str(value)])]


def directive_lines() -> list[str]:
    """The directives as the drop-in says them, which is also how `systemctl show` prints these four."""
    return [f"{name}={value}" for name, value in DIRECTIVES.items()]


def manifest(hosts: str) -> str:
    """The same questions as a manifest of knowngood, its sources under files/; `hosts` is an inventory group."""
    files = [
        f'  - {{path: {file.path}, source: files/{Path(file.path).name}, sha256: {file.sha256}, mode: "{file.mode}", owner: root}}'
        for file in managed_files()
    ]
    flags = [f"    {name}: {'true' if value is True else value}" for name, value in FLAGS.items()]
    return "\n".join(
        [
            "version: 1",
            "name: decode",
            f"hosts: [{hosts}]",
            f"unit: {{name: {UNIT}, enabled: true}}",
            f"server: {Path(SERVER).name}",
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


def questions() -> dict[str, object]:
    """The same questions as plain data, for the tools that are written as scripts and playbooks."""
    return {
        "unit": UNIT,
        "script": SCRIPT,
        "files": [{"path": f.path, "sha256": f.sha256, "mode": f.mode} for f in [*managed_files(), serve_script()]],
        "script_lines": script_lines(),
        "environ_lines": environ_lines(),
        "argv_words": argv_words(),
        "directive_lines": directive_lines(),
    }


def _kernel(path: str) -> bytes:
    name = Path(path).stem
    lines = [f'"""{name}: a stand-in for a patched kernel."""', *(f"TILE_{n} = {n * 7919 % 1024}" for n in range(2200))]
    return _text(lines)


def _text(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()
