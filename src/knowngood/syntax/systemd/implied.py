"""Values that other directives decide or override when systemd loads a service.

Source: systemd.exec(5), DynamicUser=; systemd.service(5), NotifyAccess=; src/core/service.c
(service_add_extras), src/core/unit.c (unit_patch_contexts).
"""

from __future__ import annotations

from collections.abc import Callable

from knowngood.model import Absent, Known, Unknown, Value

_BY_DYNAMIC_USER = frozenset(
    "User Group PrivateTmp RemoveIPC NoNewPrivileges RestrictSUIDSGID ProtectSystem ProtectHome".split()
)


def implied(name: str, own: Value, value_of: Callable[[str], Value]) -> Value:
    """The value of a [Service] directive after the others have had their say.

    `own` is what its own lines come to, `value_of` gives that of another directive.
    """
    if name in _BY_DYNAMIC_USER:
        dynamic = value_of("DynamicUser")
        if not isinstance(dynamic, Absent) and dynamic != Known("no"):
            return Unknown("DynamicUser= has a say in it")
    if name == "NotifyAccess" and (isinstance(own, Absent) or own == Known("none")):
        return _notify_access(own, value_of("Type"), value_of("WatchdogSec"))
    return own


def _notify_access(own: Value, kind: Value, watchdog: Value) -> Value:
    if kind in (Known("notify"), Known("notify-reload")):
        return Known("main")
    if isinstance(watchdog, Known) and watchdog.value not in ("0", "infinity"):
        return Known("main")
    if isinstance(watchdog, Absent) or watchdog == Known("0"):
        return own
    return Unknown("whether NotifyAccess= is main depends on WatchdogSec=")
