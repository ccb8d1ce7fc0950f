"""Jump hosts, each reached once a round and shared by all nodes behind it.

pyinfra logs in to the jump host anew for each node. Its sshd drops such a crowd at random (MaxStartups in
sshd_config(5): from the eleventh login under way), and good nodes would be reported as out of reach.
"""

from __future__ import annotations

from typing import Any

from pyinfra.connectors.sshuserclient.client import SSHClient

from knowngood.fleet import visits
from knowngood.fleet.reasons import JumpError


class JumpClient(SSHClient):
    """Stands for pyinfra's client where that connects to the hosts of a ProxyJump."""

    _transport: Any

    def connect(self, hostname: str, **options: Any) -> None:  # type: ignore[override]
        visit = visits.current()
        try:
            # Beyond the first hop the connection is a channel of the hop in front, made for one node.
            if visit is None or options.get("sock") is not None:
                super().connect(hostname, **options)  # type: ignore[no-untyped-call]
            else:
                self._share(visit, hostname, options)
        except Exception as error:
            raise JumpError(hostname) from error

    def _share(self, visit: visits.Visit, hostname: str, options: dict[str, Any]) -> None:
        key = f"{hostname} {sorted(options.items(), key=repr)!r}"
        jump = visit.round.jump(key)
        with jump.lock:
            if jump.transport is None or not jump.transport.is_active():
                super().connect(hostname, **options)  # type: ignore[no-untyped-call]
                jump.transport = self.get_transport()
                visit.opened.remove(jump.transport)
                visit.round.opened.append(jump.transport)
        self._transport = jump.transport
