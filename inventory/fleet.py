"""The decode nodes, as pyinfra reads them.

The nodes are those of the running test fleet (`python3 -m tests.fleet up 3`): its nodes.json is in the folder
that $KNOWNGOOD_FLEET names, or in .fleet of this checkout. Where none is up, the list at the end shows how an
inventory of real nodes is written.
"""

import json as _json
import os as _os
from pathlib import Path as _Path


def _test_fleet():
    """Host and data of each node of the running test fleet, or None where none is up."""
    folder = _Path(_os.environ.get("KNOWNGOOD_FLEET") or _Path(__file__).resolve().parent.parent / ".fleet")
    try:
        fleet = _json.loads((folder / "nodes.json").read_text())
    except FileNotFoundError:
        return None
    return [
        (
            node["name"],
            {
                "ssh_hostname": node["address"],
                "ssh_port": node["port"],
                "ssh_user": node["user"],
                "ssh_key": node["key"],
                "ssh_known_hosts_file": fleet["known_hosts"],
                "ssh_strict_host_key_checking": "yes",
                "head": node["head"],
                "pod": node["pod"],
            },
        )
        for node in fleet["nodes"]
    ]


decode = _test_fleet() or [
    ("decode-01", {"ssh_hostname": "127.0.2.11", "ssh_user": "root", "head": "127.0.2.11", "pod": "pod-01"}),
    ("decode-02", {"ssh_hostname": "127.0.2.12", "ssh_user": "root", "head": "127.0.2.11", "pod": "pod-01"}),
    ("decode-03", {"ssh_hostname": "127.0.2.13", "ssh_user": "root", "head": "127.0.2.13", "pod": "pod-02"}),
]

# A group whose name is no Python name. Its data comes from above: a host is one host, in however many groups.
globals()["decode-canary"] = [decode[0][0]]
