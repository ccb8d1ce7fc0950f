"""A fleet of nodes: brought up, written down for inventories and ssh, and taken away without a trace."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from . import addresses, base, cgroups, leftovers, machine, mounts, registry
from .contents import CHECKOUT
from .errors import FleetError
from .node import Node, make_key

NODES_PER_POD = 2


def default_state() -> Path:
    """$KNOWNGOOD_FLEET, or .fleet in the checkout."""
    return Path(os.environ.get("KNOWNGOOD_FLEET") or CHECKOUT / ".fleet").resolve()


class Fleet:
    """The fleet of one state folder. As a context manager it is taken down at the end.

    An `owned` fleet does not outlive this process: when it was killed, the next fleet anywhere cleans up.
    """

    def __init__(
        self, state: Path | None = None, *, owned: bool = False, say: Callable[[str], None] = lambda _: None
    ) -> None:
        self.state = (state or default_state()).resolve()
        self.id = registry.fleet_id(self.state)
        self.nodes: dict[str, Node] = {}
        self._owned = owned
        self._say = say
        self._load()

    @property
    def nodes_file(self) -> Path:
        return self.state / "nodes.json"

    @property
    def known_hosts(self) -> Path:
        return self.state / "known_hosts"

    def __getitem__(self, name: str) -> Node:
        try:
            return self.nodes[name]
        except KeyError:
            known = ", ".join(self.nodes) or "none: bring a fleet up first"
            raise FleetError(f"no node is called {name} (there are: {known})") from None

    def __enter__(self) -> Fleet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()

    def up(self, count: int) -> None:
        """Boot `count` nodes and wait until each is reachable and healthy. FleetError when one is not."""
        if not 1 <= count <= addresses.MOST_NODES:
            raise FleetError(f"a fleet has 1 to {addresses.MOST_NODES} nodes, not {count}")
        machine.prepare(self._say)
        tree = base.ensure(self._say)
        with registry.fleet_locked(self.id):
            if self.nodes and cgroups.pids(self.id):
                raise FleetError(f"a fleet of {len(self.nodes)} is up in {self.state}; take it down first")
            self._clean()
            try:
                self._boot(count, tree)
            except BaseException:
                self._remove()
                raise

    def _boot(self, count: int, tree: Path) -> None:
        addresses.check_server_port()
        with registry.locked():
            block = addresses.free_block([entry.block for entry in registry.entries()])
            owner = registry.identity(os.getpid()) if self._owned else ""
            registry.Entry(self.id, str(self.state), block, owner).write()
        self.state.mkdir(parents=True, exist_ok=True)
        (self.state / "nodes").mkdir()
        mounts.ready_for_overlays(self.state / "nodes")
        make_key(self.state / "key", "knowngood-fleet")
        port = addresses.free_ssh_port()
        nodes = [self._node(number, block, tree, port) for number in range(1, count + 1)]
        for node in nodes:
            node.create()
            node.start()
        for node in nodes:
            node.wait_until_up()
            node.remember_truth()
        self.nodes = {node.name: node for node in nodes}
        self._save(tree)

    def _node(self, number: int, block: str, tree: Path, port: int) -> Node:
        pod = (number - 1) // NODES_PER_POD
        return Node(
            name=f"decode-{number:02d}",
            address=f"{block}.{number}",
            head=f"{block}.{pod * NODES_PER_POD + 1}",
            pod=f"pod-{pod + 1:02d}",
            fleet_id=self.id,
            state=self.state,
            base=tree,
            ssh_port=port,
        )

    def down(self) -> None:
        """Take away the nodes and everything they left. No error when there is no fleet."""
        with registry.fleet_locked(self.id):
            self._remove()

    def _clean(self) -> None:
        for dead in leftovers.remove_dead_fleets(mine=self.id):
            self._say(f"cleaned up after a fleet that was left in {dead.state}")

    def _remove(self) -> None:
        for entry in registry.entries():
            if entry.id == self.id:
                leftovers.remove_fleet(entry)
        for node in self.nodes.values():
            node.reap()
        self.nodes = {}

    # --- nodes.json and known_hosts ---

    def _save(self, tree: Path) -> None:
        """Write what inventories and ssh need; nodes.json last, as it says that the fleet is whole."""
        lines = []
        for node in self.nodes.values():
            place = node.address if node.ssh_port == 22 else f"[{node.address}]:{node.ssh_port}"
            kind, key, *_ = node.host_key.with_suffix(".pub").read_text().split()
            lines.append(f"{place} {kind} {key}\n")
        self.known_hosts.write_text("".join(lines))
        document = {
            "base": str(tree),
            "known_hosts": str(self.known_hosts),
            "nodes": [
                {
                    "name": node.name,
                    "address": node.address,
                    "port": node.ssh_port,
                    "user": "root",
                    "key": str(self.state / "key"),
                    "head": node.head,
                    "pod": node.pod,
                }
                for node in self.nodes.values()
            ],
        }
        half = self.nodes_file.with_suffix(".half")
        half.write_text(json.dumps(document, indent=2) + "\n")
        half.replace(self.nodes_file)

    def _load(self) -> None:
        if not self.nodes_file.exists():
            return
        document = json.loads(self.nodes_file.read_text())
        for each in document["nodes"]:
            self.nodes[each["name"]] = Node(
                name=each["name"],
                address=each["address"],
                head=each["head"],
                pod=each["pod"],
                fleet_id=self.id,
                state=self.state,
                base=Path(document["base"]),
                ssh_port=each["port"],
            )
