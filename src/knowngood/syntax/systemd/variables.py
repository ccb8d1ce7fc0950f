"""A service's environment as a mapping: known, absent or unknown, whatever name is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from knowngood.model import ABSENT, Reading, Unknown

# What systemd sets by itself, or may; the values are not in the unit's texts.
_BY_SYSTEMD = frozenset(
    """USER LOGNAME HOME SHELL TERM INVOCATION_ID XDG_RUNTIME_DIR RUNTIME_DIRECTORY STATE_DIRECTORY
    CACHE_DIRECTORY LOGS_DIRECTORY CONFIGURATION_DIRECTORY CREDENTIALS_DIRECTORY MAINPID MANAGERPID
    LISTEN_FDS LISTEN_PID LISTEN_FDNAMES NOTIFY_SOCKET WATCHDOG_PID WATCHDOG_USEC SYSTEMD_EXEC_PID
    JOURNAL_STREAM LOG_NAMESPACE SERVICE_RESULT EXIT_CODE EXIT_STATUS MONITOR_SERVICE_RESULT
    MONITOR_EXIT_CODE MONITOR_EXIT_STATUS MONITOR_INVOCATION_ID MONITOR_UNIT PIDFILE REMOTE_ADDR
    REMOTE_PORT TRIGGER_UNIT TRIGGER_PATH TRIGGER_TIMER_REALTIME_USEC TRIGGER_TIMER_MONOTONIC_USEC
    MEMORY_PRESSURE_WATCH MEMORY_PRESSURE_WRITE SYSTEMD_NSS_DYNAMIC_BYPASS FDSTORE""".split()
)


class Environment(Mapping[str, Reading]):
    """Names and their readings.

    Iterating gives the names that the unit's texts and the manager's environment set. Any name may be asked
    for: one that is not among them is Absent, or Unknown where something is open; then it counts as contained
    (`in`), so that a plain look-up never takes it for absent. `open` is why names that are not listed may be
    set all the same; None where they can't be.
    """

    def __init__(self, readings: dict[str, Reading], unset: set[str], open_: str | None) -> None:
        self._readings = readings
        self._unset = unset
        self.open = open_

    def __iter__(self) -> Iterator[str]:
        return iter(self._readings)

    def __len__(self) -> int:
        return len(self._readings)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and not isinstance(self[name].value, type(ABSENT))

    def __getitem__(self, name: str) -> Reading:
        if name in self._readings:
            return self._readings[name]
        if name in self._unset:
            return Reading(ABSENT)
        if name in _BY_SYSTEMD:
            return Reading(Unknown("set by systemd itself, if at all"))
        return Reading(ABSENT if self.open is None else Unknown(self.open))
