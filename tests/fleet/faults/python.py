"""The node's python3 is missing, or is not what it seems. The decode server has its own and goes on."""

from __future__ import annotations

from ..edits import write
from ..node import Node

PYTHON = "/usr/bin/python3"


def _replace(node: Node, script: str) -> None:
    node.run(f"rm {PYTHON}")  # a link, and writing would go to where it leads
    write(node, PYTHON, script)
    node.run(f"chmod 0755 {PYTHON}")


def python_missing(node: Node) -> None:
    """There is no python3."""
    node.run(f"rm {PYTHON}")


def python_broken(node: Node) -> None:
    """python3 fails at once, as with a library that is gone."""
    message = "python3: error while loading shared libraries: libz.so.1: cannot open shared object file"
    _replace(node, f"#!/bin/sh\necho '{message}' >&2\nexit 127\n")


def python_floods(node: Node) -> None:
    """python3 prints without end."""
    _replace(node, "#!/bin/sh\nexec yes '{\"nodes\": [1, 2, 3]}'\n")


def python_hangs(node: Node) -> None:
    """python3 never says anything and never ends."""
    _replace(node, "#!/bin/sh\nexec sleep infinity\n")


def python_talks_nonsense(node: Node) -> None:
    """python3 prints some binary noise and exits with 0."""
    _replace(node, "#!/bin/sh\nhead -c 3000 /bin/bash\nexit 0\n")
