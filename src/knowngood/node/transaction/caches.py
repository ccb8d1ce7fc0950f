"""Emptying a cache folder, with the care that removing whole trees as root calls for.

Refused before anything is changed: short paths, folders of the system, what holds a file that we manage, a
symlink, a mount point. While removing: no symlink is followed, no other file system entered.
"""

import errno
import os
import stat

from knowngood.node.ground import Problem, word

_SYSTEM = (
    *(
        b"/bin",
        b"/boot",
        b"/dev",
        b"/etc",
        b"/lib",
        b"/lib32",
        b"/lib64",
        b"/proc",
        b"/run/systemd",
        b"/sbin",
        b"/sys",
    ),
    *(b"/usr", b"/var/lib/dpkg", b"/var/lib/knowngood", b"/var/lib/rpm", b"/var/lib/systemd", b"/var/log"),
)
_SHALLOW = (b"/var/lib", b"/var/cache", b"/var/spool", b"/var/tmp", b"/usr/local", b"/run/user", b"/run/lock")
_DEEPEST = 100


def check_cache(path: bytes, managed: "list[bytes]") -> None:
    """Problem where a folder is not to be emptied; a missing one is fine. `managed`: the files of the set."""
    if not path.startswith(b"/") or b"\0" in path or b".." in path.split(b"/"):
        raise Problem("cache_dirs: %s is no plain absolute path" % word(path))
    plain = os.path.normpath(path)
    if os.path.islink(plain):
        raise Problem("cache_dirs: %s is a symlink" % word(plain))
    for each in {plain, os.path.realpath(plain)}:
        _check_place(each, managed)
    if os.path.lexists(plain):
        if not os.path.isdir(plain):
            raise Problem("cache_dirs: %s is no directory" % word(plain))
        if _is_mount(plain):
            raise Problem("cache_dirs: %s is a mount point" % word(plain))


def _check_place(path: bytes, managed: "list[bytes]") -> None:
    if path.count(b"/") < 2 or path in _SHALLOW or (path.startswith(b"/home/") and path.count(b"/") < 3):
        raise Problem("cache_dirs: %s is too short a path to be emptied" % word(path))
    for system in _SYSTEM:
        if path == system or path.startswith(system + b"/"):
            raise Problem("cache_dirs: %s belongs to the system" % word(path))
    for file in managed:
        if file.startswith(path + b"/") or os.path.realpath(file).startswith(path + b"/"):
            raise Problem("cache_dirs: %s holds the managed file %s" % (word(path), word(file)))


def _is_mount(path: bytes) -> bool:
    """By device, and by the mount table: a bind mount of the same file system shows only there (proc(5))."""
    if os.path.ismount(path):
        return True
    real = os.path.realpath(path)
    with open("/proc/self/mountinfo", "rb") as table:
        return any(_unescaped(line.split()[4]) == real for line in table)


def _unescaped(field: bytes) -> bytes:
    for code, letter in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
        field = field.replace(code, letter)
    return field


def empty(path: bytes) -> int:
    """Remove all that is in a folder, which stays itself; how many entries went."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        return _empty(handle, os.fstat(handle).st_dev, 0)
    finally:
        os.close(handle)


def _empty(folder: int, device: int, depth: int) -> int:
    if depth > _DEEPEST:
        raise Problem("cache_dirs: nested too deep")
    gone = 0
    for name in os.listdir(folder):
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(found.st_mode):
                os.unlink(name, dir_fd=folder)
            elif found.st_dev == device:
                gone += _remove_folder(folder, name, device, depth)
            else:
                continue
            gone += 1
        except FileNotFoundError:
            continue
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.ENOTEMPTY):
                raise
    return gone


def _remove_folder(parent: int, name: str, device: int, depth: int) -> int:
    """A bind mount may be of the same device: what is in it must not be touched either."""
    handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        if os.fstat(handle).st_dev != device or _is_mount(os.readlink(b"/proc/self/fd/%d" % handle)):
            return 0
        gone = _empty(handle, device, depth + 1)
    finally:
        os.close(handle)
    os.rmdir(name, dir_fd=parent)
    return gone
