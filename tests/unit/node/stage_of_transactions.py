"""A stage for transactions in a folder: real files, the real code, and a systemctl with its state in files.

What "the process" has loaded is a copy of the live files, made whenever that systemctl starts the unit.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from knowngood.node.transaction.generations import Current, Generations
from knowngood.node.transaction.journal import Journal
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.prepare import prepare
from knowngood.node.transaction.request import Wanted
from knowngood.node.transaction.store import Store

UNIT = "decode.service"
MANIFEST = "decode"

SYSTEMCTL = r"""#!/bin/sh
echo "systemctl $*" >>"$STAGE/calls"
start() {
    [ -e "$STAGE/refuse-start" ] && { echo "Job failed" >&2; echo failed >"$STAGE/active"; exit 1; }
    n=$(cat "$STAGE/starts"); n=$((n + 1)); echo $n >"$STAGE/starts"; echo active >"$STAGE/active"
    rm -rf "$STAGE/loaded"; cp -a "$STAGE/live" "$STAGE/loaded"
}
for word; do case $word in show|restart|start|stop|enable|disable) verb=$word; break;; esac; done
case "$verb" in
show)
    case "$*" in
    *decode.service*)
        printf 'LoadState=loaded\nActiveState=%s\nSubState=x\nResult=success\nUnitFileState=%s\n' \
            "$(cat "$STAGE/active")" "$(cat "$STAGE/enabled")"
        printf 'InvocationID=%032d\nMainPID=1\nNRestarts=0\nNeedDaemonReload=no\n' "$(cat "$STAGE/starts")" ;;
    *) echo ActiveState=inactive ;;
    esac ;;
restart|start) case "$*" in *decode.service*) start ;; esac ;;
stop) case "$*" in *decode.service*) echo inactive >"$STAGE/active" ;; esac ;;
enable) echo enabled >"$STAGE/enabled" ;;
disable) echo disabled >"$STAGE/enabled" ;;
esac
exit 0
"""

SYSTEMD_RUN = """#!/bin/sh
echo "systemd-run $*" >>"$STAGE/calls"
"""

# Everything by which the program changes the disk, or has something else change it.
OPERATIONS = (
    *("rename", "link", "unlink", "mkdir", "rmdir", "symlink", "fsync", "fork"),
    *("utime", "fchmod", "fchown", "setxattr", "removexattr", "posix_fallocate", "write"),
)


class Stage:
    """One node's worth of files below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.live = folder / "live"
        self.home = Home(os.fsencode(folder / "state"))
        self.home.make()
        self.live.mkdir()
        binaries = folder / "bin"
        binaries.mkdir()
        for name, text in (
            ("systemctl", SYSTEMCTL),
            ("systemd-run", '#!/bin/sh\necho "systemd-run $*" >>"$STAGE/calls"\n'),
        ):
            (binaries / name).write_text(text)
            (binaries / name).chmod(0o755)
        for name, text in (("active", "active"), ("enabled", "enabled"), ("starts", "1"), ("calls", "")):
            (folder / name).write_text(text + "\n" if text else "")

    @property
    def environ(self) -> dict[str, str]:
        return {"STAGE": str(self.folder), "PATH": f"{self.folder / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin"}

    def path(self, name: str) -> str:
        return str(self.live / name)

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            place = self.live / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    def started_with_these(self) -> None:
        """The unit runs with what is live now."""
        shutil.rmtree(self.folder / "loaded", ignore_errors=True)
        shutil.copytree(self.live, self.folder / "loaded", symlinks=True)

    def kept(self, text: str) -> str:
        """A text in the store; its hash."""
        data = text.encode()
        sha256 = hashlib.sha256(data).hexdigest()
        (self.folder / "state/store/incoming" / "upload").write_bytes(data)
        Store(self.home).keep("upload", sha256)
        return sha256

    def wanted(self, files: dict[str, str | None], **more: Any) -> Wanted:
        entries = [
            {"path": self.path(name), "sha256": None if text is None else self.kept(text)}
            for name, text in files.items()
        ]
        overrides = more.pop("entries", {})
        for entry in entries:
            entry.update(overrides.get(Path(str(entry["path"])).name, {}))
        asked = {"manifest": MANIFEST, "unit": UNIT, "commit": "c0ffee", "content": "c1", "entries": entries}
        return Wanted(self.home, asked | more)

    def prepared(
        self, files: dict[str, str | None], *, options: dict[str, Any] | None = None, **more: Any
    ) -> Journal:
        given = {"restart": True, "start": False, "reload": False, "window_s": 60.0, "restores": None}
        given |= {"program": "/nowhere/node-0.pyz"} | (options or {})
        return prepare(self.home, self.wanted(files, **more), given)

    def seen(self, folder: str = "live") -> dict[str, str]:
        """All files below a folder by name: content, mode."""
        root = self.folder / folder
        return {
            str(path.relative_to(root)): path.read_text()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    def calls(self, word: str) -> list[str]:
        return [line for line in (self.folder / "calls").read_text().splitlines() if word in line]

    def generation(self, number: int) -> dict[str, Any]:
        return Generations(self.home).read(number)

    def role(self) -> dict[str, Any]:
        return Current(self.home).role(MANIFEST)


def run_until(at: int, work: Callable[[], None], environ: dict[str, str]) -> int:
    """Run `work` in a child that is gone before its operation number `at`; how many there were.

    0 for `at` lets it end. The child leaves as SIGKILL would have it: nothing is cleaned up.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.environ.update(environ)
        count = [0]
        _count_operations(count, at, writing)
        try:
            work()
        except BaseException as error:  # the child must never come back into the test run
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            _report(writing, count[0])
            os._exit(0)
    os.close(writing)
    said = os.read(reading, 100)
    os.close(reading)
    os.waitpid(pid, 0)
    return int(said)


def _report(writing: int, count: int) -> None:
    _WRITE(writing, str(count).encode())


_WRITE = os.write


def _count_operations(count: list[int], at: int, writing: int) -> None:
    me = os.getpid()

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if os.getpid() == me:
                count[0] += 1
                if count[0] == at:
                    _report(writing, at)
                    os._exit(137)
            return real(*args, **kwargs)

        return call

    for name in OPERATIONS:
        setattr(os, name, counted(getattr(os, name)))
