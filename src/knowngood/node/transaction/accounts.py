"""Users and groups as numbers: from the files first, since a name service on the network may hang."""

import grp
import pwd

from knowngood.node.ground import Problem, raw, read_file

_LIMIT = 16 << 20


def user_number(name: "str | int | None") -> "int | None":
    """The uid of a name or number; None for None. Problem where nobody is called so."""
    return _number(name, b"/etc/passwd", "user", lambda text: pwd.getpwnam(text).pw_uid)


def group_number(name: "str | int | None") -> "int | None":
    """The gid of a name or number; None for None. Problem where no group is called so."""
    return _number(name, b"/etc/group", "group", lambda text: grp.getgrnam(text).gr_gid)


def _number(name: "str | int | None", table: bytes, kind: str, ask: "Callable[[str], int]") -> "int | None":
    if name is None or isinstance(name, int):
        return name
    found = _in_table(name, table)
    if found is not None:
        return found
    if name.isdigit():
        return int(name)
    try:
        return ask(name)
    except (KeyError, OSError, ValueError):
        raise Problem("no %s is called %s on this node" % (kind, name))


def _in_table(name: str, table: bytes) -> "int | None":
    """passwd(5), group(5): name:password:number:…"""
    try:
        lines = read_file(table, _LIMIT).split(b"\n")
    except (OSError, Problem):
        return None
    for line in lines:
        fields = line.split(b":")
        if len(fields) > 2 and fields[0] == raw(name) and fields[2].isdigit():
            return int(fields[2])
    return None


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
