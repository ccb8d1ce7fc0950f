"""ssh: nodes that can't be asked, or answer without end or sense."""

from __future__ import annotations

from ..contents import AUTHORIZED_KEYS, HOST_KEY
from ..edits import write
from ..node import Node
from ..waits import until


def sshd_dead(node: Node) -> None:
    """sshd is stopped: connections are refused."""
    node.run("systemctl stop ssh.service")


def sshd_hung(node: Node) -> None:
    """sshd is frozen: connections are accepted, and nobody ever speaks."""
    node.run("systemctl kill --kill-whom=main --signal=STOP ssh.service")
    until(lambda: not node.speaks_ssh(), f"{node.name}'s sshd to fall silent")


def key_refused(node: Node) -> None:
    """Our key was taken out of root's authorized_keys."""
    node.run(f"echo '# none' >{AUTHORIZED_KEYS}")


def host_key_changed(node: Node) -> None:
    """The node has another host key than the one that was written down."""
    node.run(f"rm {HOST_KEY}*; ssh-keygen -q -t ed25519 -N '' -f {HOST_KEY}; systemctl restart ssh.service")
    until(node.speaks_ssh, f"{node.name}'s sshd to be back")


def shell_hung(node: Node) -> None:
    """Logins succeed, and root's .bashrc never ends (a dead network home, say)."""
    write(node, "/root/.bashrc", "sleep infinity\n")


def shell_floods(node: Node) -> None:
    """Root's .bashrc prints without end before any command runs."""
    write(node, "/root/.bashrc", "yes 'welcome to this node, please read the following notice'\n")


def shell_greets(node: Node) -> None:
    """Root's .bashrc prints a greeting before each command, not all of it UTF-8: rude, and harmless."""
    write(node, "/root/.bashrc", r"printf 'Gr\374\337 Gott, this is a decode node\n{\n'" + "\n")


def node_off(node: Node) -> None:
    """The node lost its power."""
    node.stop()
