"""Names of users and groups: from the files first, since a name service on the network may hang."""

import grp
import pwd

from knowngood.node.ground import Problem, read_kernel, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LIMIT = 1 << 20
_tables = {}  # type: dict[str, dict[int, str]]


def user_name(uid: int) -> str:
    """The user's name, or the number as text where it has none."""
    return _name(uid, "/etc/passwd", lambda: pwd.getpwuid(uid).pw_name)


def group_name(gid: int) -> str:
    """The group's name, or the number as text where it has none."""
    return _name(gid, "/etc/group", lambda: grp.getgrgid(gid).gr_name)


def _name(number: int, path: str, ask_name_service: "Callable[[], str]") -> str:
    if path not in _tables:
        _tables[path] = _read_table(path)
    table = _tables[path]
    if number not in table:
        try:
            table[number] = ask_name_service()
        except (KeyError, OSError, ValueError, OverflowError):
            table[number] = str(number)
    return table[number]


def _read_table(path: str) -> "dict[int, str]":
    """passwd(5), group(5): name:password:number:… ; of two names for a number the first counts."""
    table = {}  # type: dict[int, str]
    try:
        lines = read_kernel(path.encode(), _LIMIT).split(b"\n")
    except (OSError, Problem):
        return table
    for line in lines:
        fields = line.split(b":")
        if len(fields) > 2 and fields[2].isdigit() and not line.startswith((b"+", b"-", b"#")):
            table.setdefault(int(fields[2]), word(fields[0]))
    return table
