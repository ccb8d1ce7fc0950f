"""Receipts: which contents lay on disk when a unit started, whoever started it.

The unit's drop-in has `ExecStartPre=-+… record UNIT`. It can neither fail nor hang a start: `-` takes any
exit for success, and the process that systemd waits for leaves after 5 s, whatever its child is stuck in.
receipts/UNIT/wanted holds {"version": 1, "files": [paths]}, receipts/UNIT/ID.json what was found.
"""

import os
import select

from knowngood.node.ground import Problem, raw, word
from knowngood.node.hashes import Hashes
from knowngood.node.transaction.clock import wall_time
from knowngood.node.transaction.contents import Contents
from knowngood.node.transaction.durable import read_json, remove, sync_folder, write_json
from knowngood.node.transaction.live import Place
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.unit import is_unit_name

_SECONDS = 5.0
_KEPT = 5


def write_wanted(contents: Contents, unit: str, paths: "list[str]") -> None:
    """Say which files the unit's next receipts are of."""
    folder = contents.home.receipts_of(unit)
    if not os.path.isdir(folder):
        os.mkdir(folder, 0o700)
        sync_folder(contents.home.receipts)
    path = folder + b"/wanted"
    if (read_json(path) or {}).get("files") != paths:
        write_json(path, {"version": 1, "files": paths})


def record(home: Home, unit: str, invocation_id: str) -> None:
    """Write the receipt of the start that is under way; come back in time even where that hangs."""
    if not is_unit_name(unit) or not invocation_id.isalnum():
        return
    done, working = os.pipe()
    if os.fork() == 0:
        try:
            os.close(done)
            _write(home, unit, invocation_id)
        finally:
            os._exit(0)
    os.close(working)
    select.select([done], [], [], _SECONDS)


def _write(home: Home, unit: str, invocation_id: str) -> None:
    folder = home.receipts_of(unit)
    wanted = read_json(folder + b"/wanted")
    if wanted is None:
        return
    files = {}  # type: dict[str, object]
    path = folder + b"/" + raw(invocation_id) + b".json"
    hashes = Hashes(home.root)
    for each in sorted(wanted["files"], key=_size):
        found = _found(each, hashes)
        if found is not None:
            files[each] = found
    told = {"version": 1, "invocation_id": invocation_id, "at": wall_time(), "files": files}
    write_json(path, told)
    hashes.save()
    _drop_old(folder)


def _size(path: str) -> int:
    try:
        return os.stat(raw(path)).st_size
    except OSError:
        return 0


def _found(path: str, hashes: Hashes) -> "dict[str, object] | None":
    try:
        with Place(raw(path)) as place:
            live = place.look(hashes)
    except (OSError, Problem):
        return None
    if live is None:
        return None
    _, _, size, mtime_ns, ctime_ns, _ = live.identity
    return {"sha256": live.sha256, "size": size, "mtime_ns": mtime_ns, "ctime_ns": ctime_ns}


def _drop_old(folder: bytes) -> None:
    names = [name for name in os.listdir(folder) if name.endswith(b".json")]
    names.sort(key=lambda name: os.stat(folder + b"/" + name).st_mtime_ns)
    for name in names[:-_KEPT]:
        remove(folder + b"/" + name)


def units(home: Home) -> "list[str]":
    """All units that receipts are kept of."""
    return sorted(word(name) for name in os.listdir(home.receipts))
