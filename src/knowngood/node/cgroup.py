"""The unit's control group: which processes are in it, and the limits it sets.

cgroup v2 has one tree; v1 has one for each controller and one of systemd's own; hybrid has v1's, and v2's
beside them without controllers. kernel: admin-guide/cgroup-v2.rst, admin-guide/cgroup-v1/.
"""

import os

from knowngood.node.ground import Problem, raw, read_kernel

_ROOT = b"/sys/fs/cgroup"
_TREES = (b"", b"/unified", b"/systemd")
_MOST = 512  # processes, and folders below the unit's own
_LIMIT = 1 << 20
_NO_LIMIT = 1 << 62  # v1 writes "no limit" as a number near 2^63, rounded to pages


class Cgroup:
    """The folders of one unit's group. `path` is what systemd calls it (ControlGroup); "" without one."""

    def __init__(self, path: str, main_pid: int, root: bytes = _ROOT) -> None:
        self._root = root
        self._paths = [raw(path)] if path else []
        self._paths += [each for each in _paths_of(main_pid) if each not in self._paths]

    def pids(self) -> "list[int]":
        """All processes of the unit and of the groups below it; Problem where its folder is not found."""
        if not self._paths:
            return []
        for path in self._paths:
            for tree in _TREES:
                folder = self._root + tree + path
                if os.path.exists(folder + b"/cgroup.procs"):
                    return sorted(set(_pids_below(folder)))
        raise Problem("the unit's control group was not found below %s" % self._root.decode())

    def limits(self) -> "dict[str, str]":
        """MemoryMax and MemoryHigh (bytes), CPUQuota ("QUOTA PERIOD", µs) and TasksMax; "infinity" for none.

        A limit that the kernel shows nowhere for this unit is left out.
        """
        told = {}
        for name, places in _LIMITS:
            for controller, file in places:
                text = self._read(controller, file)
                if text is not None:
                    told[name] = text
                    break
        return told

    def _read(self, controller: bytes, file: bytes) -> "str | None":
        for path in self._paths:
            folder = self._root + controller + path
            try:
                if file == b"cpu.cfs_quota_us":
                    return _quota(_number(folder, file), _number(folder, b"cpu.cfs_period_us"))
                return _limit(_number(folder, file))
            except (OSError, Problem):
                continue
        return None


# Each limit's places: in v2, then in v1's tree of the controller.
_LIMITS = (
    ("MemoryMax", ((b"", b"memory.max"), (b"/memory", b"memory.limit_in_bytes"))),
    ("MemoryHigh", ((b"", b"memory.high"),)),
    ("CPUQuota", ((b"", b"cpu.max"), (b"/cpu", b"cpu.cfs_quota_us"))),
    ("TasksMax", ((b"", b"pids.max"), (b"/pids", b"pids.max"))),
)


def _paths_of(pid: int) -> "list[bytes]":
    """The groups that a process is in, by /proc/PID/cgroup: `0::/path`, `N:name=systemd:/path`, …"""
    if pid <= 0:
        return []
    try:
        lines = read_kernel(b"/proc/%d/cgroup" % pid, _LIMIT).split(b"\n")
    except (OSError, Problem):
        return []
    paths = []
    for line in lines:
        tree, _, path = line.partition(b":")[2].partition(b":")
        if tree in (b"", b"name=systemd") and path.startswith(b"/") and len(path) > 1:
            paths.append(path)
    return paths


def _pids_below(folder: bytes) -> "list[int]":
    pids = []  # type: list[int]
    waiting = [folder]
    looked = 0
    while waiting and looked < _MOST:
        here = waiting.pop()
        looked += 1
        try:
            pids += [int(pid) for pid in read_kernel(here + b"/cgroup.procs", _LIMIT).split()]
            waiting += [entry.path for entry in os.scandir(here) if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue  # the group has just gone
    return [pid for pid in pids if pid > 0]  # 0: a process outside of our pid namespace


def _number(folder: bytes, file: bytes) -> bytes:
    return read_kernel(folder + b"/" + file, 4096).strip()


def _limit(text: bytes) -> str:
    if text.isdigit() and int(text) >= _NO_LIMIT:
        return "infinity"
    return text.decode("ascii", "replace").replace("max", "infinity")


def _quota(quota: bytes, period: bytes) -> str:
    return "%s %s" % ("infinity" if quota.startswith(b"-") else quota.decode(), period.decode())
