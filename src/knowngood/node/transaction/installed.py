"""What of knowngood stays on the node: this program under a lasting name, and the boot-time unit.

Installing is no setting and never restarts anything. It is done before each activation, so whatever a change
does, the next boot can end it.
"""

import os
import sys

from knowngood.node.ground import Problem, raw, word
from knowngood.node.transaction.durable import sync_folder, write_bytes
from knowngood.node.transaction.generations import Generations
from knowngood.node.transaction.journal import OPEN, Journal, numbers
from knowngood.node.transaction.places import Home

BOOT_UNIT = "knowngood-boot.service"
_UNITS = b"/etc/systemd/system"
_KEPT = 3  # programs of other versions

_TEXT = """\
# Written by knowngood. It ends a change that a power cut or a reboot left open, before the services start.
# Without the default dependencies it can come before any of them, also one that starts early.
[Unit]
Description=knowngood: end a change that the last boot left open
DefaultDependencies=no
Conflicts=shutdown.target
After=local-fs.target
RequiresMountsFor=%s
Before=shutdown.target %s

[Service]
Type=oneshot
ExecStart=-%s -I -S %s boot
TimeoutStartSec=300

[Install]
WantedBy=multi-user.target
"""


def install(home: Home, program: str, unit: "str | None", paths: "list[str]", units: bytes = _UNITS) -> bool:
    """Make the lasting name lead to `program`, and have the boot unit come before the managed units.

    It comes once the file systems of all managed files are there, of `unit` and `paths` too. Whether anything
    was written.
    """
    lasting = home.programs + b"/node.pyz"
    linked = _link(lasting, raw(program))
    names, folders = _managed(home, unit, paths)
    mounts = " ".join(map(_quoted, [word(home.root), *folders]))
    text = _TEXT % (mounts, " ".join(names), sys.executable or "/usr/bin/python3", word(lasting))
    wrote = _write_if_other(units + b"/" + raw(BOOT_UNIT), raw(text))
    enabled = _enable(units)
    if linked:
        _drop_old(home, raw(program))
    return linked or wrote or enabled


def _managed(home: Home, unit: "str | None", paths: "list[str]") -> "tuple[list[str], list[str]]":
    """All units that this node is activated with, and the folders of their files."""
    generations = Generations(home)
    sets = [generations.read(number) for number in generations.numbers()]
    names = {fields["unit"] for fields in sets} | ({unit} if unit else set())
    files = {entry["path"] for fields in sets for entry in fields["entries"]} | set(paths)
    return sorted(names), sorted({file.rpartition("/")[0] or "/" for file in files})


def _quoted(path: str) -> str:
    """A path as one word of a unit's text (systemd.syntax(7)), its % no specifier."""
    for letter, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("%", "%%")):
        path = path.replace(letter, written)
    return '"%s"' % path


def _link(lasting: bytes, program: bytes) -> bool:
    if os.path.dirname(program) != os.path.dirname(lasting):
        return False  # it runs from elsewhere, as in a test of its parts
    target = os.path.basename(program)
    if os.path.islink(lasting) and os.readlink(lasting) == target:
        return False
    temporary = lasting + b".new"
    try:
        os.unlink(temporary)
    except FileNotFoundError:
        pass
    os.symlink(target, temporary)
    os.rename(temporary, lasting)
    sync_folder(os.path.dirname(lasting))
    return True


def _write_if_other(path: bytes, data: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            if file.read() == data:
                return False
    except FileNotFoundError:
        pass
    write_bytes(path, data, 0o644)
    return True


def _enable(units: bytes) -> bool:
    wants = units + b"/multi-user.target.wants"
    link = wants + b"/" + raw(BOOT_UNIT)
    if os.path.lexists(link):
        return False
    if not os.path.isdir(wants):
        os.mkdir(wants)
        os.chmod(wants, 0o755)
    os.symlink(units + b"/" + raw(BOOT_UNIT), link)
    sync_folder(wants)
    return True


def _drop_old(home: Home, program: bytes) -> None:
    """Programs of other versions go, but for the last few and those that an open transaction runs with."""
    used = {program}
    for number in numbers(home):
        record = Journal(home, number).read()
        if record["state"] in OPEN:
            used.add(raw(record["program"]))
    names = os.listdir(home.programs)
    paths = [home.programs + b"/" + name for name in names if _is_program(name)]
    for path in sorted(paths, key=lambda path: os.stat(path).st_mtime_ns)[:-_KEPT]:
        if path not in used:
            for name in names:
                if (home.programs + b"/" + name).startswith(path):  # its bytecode too
                    os.unlink(home.programs + b"/" + name)


def _is_program(name: bytes) -> bool:
    return name.startswith(b"node-") and name.endswith(b".pyz")


def own_program() -> str:
    """The archive that this program runs from."""
    path = os.path.realpath(sys.argv[0])
    if not path.endswith(".pyz"):
        raise Problem("this program was not started from its archive")
    return path
