"""What a person does by hand on a node: look at a file, edit it, restart the unit."""

from __future__ import annotations

import shlex

from .contents import UNIT
from .errors import FleetError
from .node import Node, Truth
from .waits import until

# Younger than this, a process and a file's change can't be told apart by their times.
SETTLED = 2.5


def read(node: Node, path: str) -> str:
    """The file's text."""
    return node.run(f"cat {shlex.quote(path)}").stdout


def write(node: Node, path: str, text: str) -> None:
    """Write the file in place, as an editor may: same inode, same mode, new times."""
    node.run(f"mkdir -p {shlex.quote(path.rpartition('/')[0])}; cat >{shlex.quote(path)}", input=text)


def edit(node: Node, path: str, old: str, new: str) -> None:
    """Replace the one place where `old` stands. FleetError when it stands nowhere, or in several."""
    text = read(node, path)
    if text.count(old) != 1:
        raise FleetError(f"{path} on {node.name} has `{old}` {text.count(old)} times: mend the node first")
    write(node, path, text.replace(old, new))


def settle(node: Node) -> Truth:
    """Wait until the server is old enough for a change to be plainly later than its start. Its truth."""
    truth = node.wait_until_healthy()
    until(lambda: _age(node, truth["pid"]) > SETTLED, f"{node.name}'s server to be {SETTLED} s old")
    return truth


def _age(node: Node, pid: int) -> float:
    """Seconds since the process started, on the boot clock (proc(5): stat's field 22, in ticks of 10 ms)."""
    stat, uptime = node.run(f"cat /proc/{pid}/stat /proc/uptime").stdout.splitlines()
    return float(uptime.split()[0]) - int(stat.rpartition(")")[2].split()[19]) / 100


def shown(node: Node, *names: str) -> dict[str, str]:
    """Properties of the decode unit, as `systemctl show` has them."""
    text = node.run(f"systemctl show {UNIT} --property={','.join(names)}").stdout
    return dict(line.partition("=")[::2] for line in text.splitlines())
