"""One systemd unit: what the manager says of it, and the few things that a transaction asks for."""

from knowngood.node.command import Command
from knowngood.node.ground import Problem, word
from knowngood.node.manager import read_properties

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SECONDS = 30.0
_SHOWN = "LoadState,ActiveState,SubState,Result,UnitFileState,InvocationID,MainPID,NRestarts,NeedDaemonReload"
_TEXTS = ("/etc/systemd/", "/run/systemd/", "/usr/lib/systemd/", "/usr/local/lib/systemd/", "/lib/systemd/")
_RUNS = ("active", "activating", "reloading", "deactivating")
ENABLED, DISABLED = ("enabled", "enabled-runtime"), ("disabled",)


def is_unit_text(path: str) -> bool:
    """Whether systemd reads the file, so that a change of it calls for a daemon-reload."""
    return path.startswith(_TEXTS)


def is_unit_name(name: "object") -> bool:
    """systemd.unit(5): what a name may hold."""
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= 255
        or "." not in name
        or name.startswith((".", "-"))
    ):
        return False
    return all(letter.isalnum() or letter in ":-_.\\@" for letter in name) and ord(max(name)) < 128


class Unit:
    """A unit by its name. Problem, with what systemctl said, where something fails."""

    def __init__(self, name: str) -> None:
        self.name = name

    def show(self) -> "dict[str, Any]":
        """What systemd says of it: texts, two numbers (main_pid, restarts), and whether its text is stale."""
        told = read_properties(
            word(_systemctl("show", "--no-pager", "--property=" + _SHOWN, "--", self.name))
        )
        return {
            "load": told.get("LoadState", ""),
            "active": told.get("ActiveState", ""),
            "sub": told.get("SubState", ""),
            "result": told.get("Result", ""),
            "enabled": told.get("UnitFileState", ""),
            "invocation_id": told.get("InvocationID", ""),
            "main_pid": int(told.get("MainPID") or 0),
            "restarts": int(told.get("NRestarts") or 0),
            "stale": told.get("NeedDaemonReload") == "yes",
        }

    def control_group(self) -> str:
        """The path of its control group; "" without one."""
        told = _systemctl("show", "--no-pager", "--property=ControlGroup", "--value", "--", self.name)
        return word(told).strip()

    def set_enabled(self, enabled: bool) -> None:
        """Enable or disable it for the next boots; systemctl reloads the manager with it."""
        _systemctl("enable" if enabled else "disable", "--quiet", "--", self.name)

    def reset_failed(self) -> None:
        """Forget earlier failures, or the start limit may forbid the start; no unit, nothing to forget."""
        try:
            _systemctl("reset-failed", "--", self.name)
        except Problem:
            pass

    def restart(self, seconds: float) -> None:
        """Restart it and wait until systemd calls it started."""
        self._start("restart", seconds)

    def start(self, seconds: float) -> None:
        """Start it and wait until systemd calls it started."""
        self._start("start", seconds)

    def _start(self, verb: str, seconds: float) -> None:
        try:
            _systemctl(verb, "--", self.name, seconds=seconds)
        except Problem:
            shown = self.show()
            raise Problem("%s did not start: %s (%s)" % (self.name, shown["active"], shown["result"]))

    def stop(self, seconds: float) -> None:
        """Stop it and wait until it is."""
        _systemctl("stop", "--", self.name, seconds=seconds)

    def queue(self, verb: str) -> None:
        """Ask for a restart, start or stop, and wait for nothing: for the time of booting."""
        _systemctl("--no-block", verb, "--", self.name)


def runs(shown: "dict[str, Any]") -> bool:
    """Whether the unit runs, or systemd is at work to make it run."""
    return shown["active"] in _RUNS


def daemon_reload() -> None:
    """Let the manager read all unit files anew."""
    _systemctl("daemon-reload", seconds=90.0)


def is_active(*units: str) -> bool:
    """Whether one of these units is active, or on the way to it or from it."""
    shown = Command(["systemctl", "show", "--no-pager", "--property=ActiveState", "--", *units], _SECONDS)
    return any(line.partition(b"=")[2] in _BUSY for line in shown.output().split(b"\n"))


_BUSY = (b"active", b"activating", b"reloading", b"deactivating")


def stop_units(*units: str) -> None:
    """Stop units that may be there."""
    try:
        _systemctl("stop", "--", *units)
    except Problem:
        pass


def _systemctl(*words: str, seconds: float = _SECONDS) -> bytes:
    return Command(["systemctl", *words], seconds).output()
