"""bash itself as the oracle: runs a script among stub programs that tell what they were started with.

The script gets an empty environment but for what a case says, a PATH that holds nothing but stubs and a few
harmless tools, a directory of its own that is thrown away, and a few seconds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_SERVER_NAMES = """
python3 python server vllm sglang llama-server text-generation-launcher trtllm-serve torchrun router worker
"""
_TOOL_NAMES = """
cat mkdir dirname basename date tee grep sed awk tr cut head tail wc rm touch readlink seq nproc env nohup
nice timeout setsid stdbuf taskset true false ls sort uname hostname expr mktemp id printenv bash sh
xargs uniq
"""
SERVERS = _SERVER_NAMES.split()
TOOLS = _TOOL_NAMES.split()
# Tools that would wait or that a machine may lack, and wrappers that only pass on.
PRETENDERS = {
    "sleep": "exit 0",
    "curl": "exit 0",
    "nvidia-smi": "echo 'GPU 0: stub'; echo 'GPU 1: stub'",
    "numactl": "while :; do case $1 in -[iwpPmNCc]|--interleave|--membind|--cpunodebind) shift 2;;"
    ' -*) shift;; *) exec "$@";; esac; done',
    "sudo": 'while [[ $1 == -* ]]; do shift; done; exec "$@"',
}

# The stub reads the environment it was started with from /proc; bash itself may have changed its own copy.
# It writes NUL-separated: its pid, the number of words, the words, the environment.
_STUB = """#!/bin/bash -p
mapfile -d '' -t given < /proc/$$/environ
out={out}/$EPOCHREALTIME-$$
printf '%s\\0' "$$" "$#" "${{0##*/}}" "$@" "${{given[@]}}" > "$out.tmp"
/bin/mv "$out.tmp" "$out"
"""


@dataclass(frozen=True)
class Started:
    """One start of a stub: its argv with the bare name first, its environment, whether it replaced bash."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    exec: bool


@dataclass
class Oracle:
    """A sandbox that is made once and used for many scripts."""

    root: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="knowngood-bash-")))

    def __post_init__(self) -> None:
        self.bin = self.root / "bin"
        self.out = self.root / "out"
        self.bin.mkdir()
        self.out.mkdir()
        stub = self.root / "stub"
        stub.write_text(_STUB.format(out=self.out))
        stub.chmod(0o755)
        for name in SERVERS:
            (self.bin / name).symlink_to(stub)
        for name in TOOLS:
            if real := shutil.which(name, path="/usr/bin:/bin"):
                (self.bin / name).symlink_to(real)
        for name, body in PRETENDERS.items():
            (self.bin / name).write_text(f"#!/bin/bash\n{body}\n")
            (self.bin / name).chmod(0o755)

    def close(self) -> None:
        """Throw the sandbox away."""
        shutil.rmtree(self.root, ignore_errors=True)

    def run(
        self,
        text: bytes,
        *,
        env: Mapping[str, str] | None = None,
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        seconds: float = 10,
    ) -> list[Started]:
        """All starts of stubs, in their order. `env` is added to PATH; `files` are put beside the script."""
        work = Path(tempfile.mkdtemp(dir=self.root))
        try:
            (work / "serve.sh").write_bytes(text)
            for name, data in (files or {}).items():
                (work / name).write_bytes(data)
            pid = self._bash(work, ["serve.sh", *args], {"PATH": str(self.bin), **(env or {})}, seconds)
            return self._collect(pid)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def is_valid(self, text: bytes) -> bool:
        """What `bash -n` says of a text."""
        checked = subprocess.run(["/bin/bash", "-n"], input=text, capture_output=True, env={}, check=False)
        return checked.returncode == 0 and not checked.stderr

    def _bash(self, work: Path, words: Sequence[str], env: Mapping[str, str], seconds: float) -> int:
        # All that the script starts holds the pipe's end, and closes it by ending.
        reader, writer = os.pipe()
        held = fcntl.fcntl(writer, fcntl.F_DUPFD, 200)
        process = subprocess.Popen(
            ["/bin/bash", *words],
            env={key: value.encode("utf-8", "surrogateescape") for key, value in env.items()},
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(held,),
        )
        os.close(writer)
        os.close(held)
        select.select([reader], [], [], seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        os.close(reader)
        process.wait()
        return process.pid

    def _collect(self, pid: int) -> list[Started]:
        found = []
        for path in sorted(self.out.iterdir()):
            if not path.name.endswith(".tmp"):
                own, count, *texts = path.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
                argv, environ = texts[: int(count) + 1], texts[int(count) + 1 :]
                pairs = dict(entry.partition("=")[::2] for entry in environ)
                found.append(Started(tuple(argv), pairs, int(own) == pid))
            path.unlink()
        return found
