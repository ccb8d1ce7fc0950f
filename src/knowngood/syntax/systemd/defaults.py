"""What a directive is where nothing sets it, as far as that is certain on every node.

Source: systemd.service(5), systemd.exec(5), systemd.kill(5), systemd.unit(5). Defaults that system.conf can
change (timeouts, limits, TasksMax) are none here, nor those that other directives decide (Type, Group).
"""

from __future__ import annotations

from knowngood.syntax.systemd.directives import SAME_AS

_DEFAULTS = {
    "Service": {
        "Restart": "no",
        "RemainAfterExit": "no",
        "GuessMainPID": "yes",
        "KillMode": "control-group",
        "KillSignal": "SIGTERM",
        "FinalKillSignal": "SIGKILL",
        "WatchdogSignal": "SIGABRT",
        "SendSIGKILL": "yes",
        "SendSIGHUP": "no",
        "UMask": "0022",
        "User": "root",
        "WorkingDirectory": "/",
        "Nice": "0",
        "WatchdogSec": "0",
        "RuntimeMaxSec": "infinity",
        "MemoryMax": "infinity",
        "MemoryHigh": "infinity",
        "CPUQuota": "infinity",
        "NoNewPrivileges": "no",
        "PrivateTmp": "no",
        "PrivateDevices": "no",
        "PrivateNetwork": "no",
        "ProtectSystem": "no",
        "ProtectHome": "no",
        "DynamicUser": "no",
        "RootDirectoryStartOnly": "no",
        "NonBlocking": "no",
        "IgnoreSIGPIPE": "yes",
        "StandardInput": "null",
        "FileDescriptorStoreMax": "0",
    },
    "Unit": {
        "StopWhenUnneeded": "no",
        "RefuseManualStart": "no",
        "RefuseManualStop": "no",
        "AllowIsolate": "no",
        "DefaultDependencies": "yes",
        "IgnoreOnIsolate": "no",
        "FailureAction": "none",
        "SuccessAction": "none",
        "StartLimitAction": "none",
    },
}


def default_of(directive: str) -> str | None:
    """The canonical default of `Section.Directive`; None where it is not certain."""
    section, _, name = SAME_AS.get(directive, directive).partition(".")
    return _DEFAULTS.get(section, {}).get(name)
