"""What the next start of the unit would load, as far as the texts on the node's disk say.

The unit's fragment and drop-ins are merged as systemd would; where the manifest names a serve script, it is
read with the environment that the unit gives it. Nothing is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowngood.model import ABSENT, Desired, Known, Observation, Reading, Text, Unknown, Value
from knowngood.syntax.bash import Launch, pick_launch, read_script
from knowngood.syntax.systemd import Unit, read_unit

# What systemd itself puts into a service's environment, or may; systemd.exec(5), "Environment variables in
# spawned processes". Their values are not in the unit's texts.
FROM_SYSTEMD = frozenset(
    "PATH LANG LC_ALL LC_CTYPE LC_MESSAGES LANGUAGE TZ USER LOGNAME HOME SHELL TERM INVOCATION_ID "
    "XDG_RUNTIME_DIR RUNTIME_DIRECTORY STATE_DIRECTORY CACHE_DIRECTORY LOGS_DIRECTORY CONFIGURATION_DIRECTORY "
    "CREDENTIALS_DIRECTORY MAINPID MANAGERPID LISTEN_FDS LISTEN_PID LISTEN_FDNAMES NOTIFY_SOCKET WATCHDOG_PID "
    "WATCHDOG_USEC SYSTEMD_EXEC_PID JOURNAL_STREAM LOG_NAMESPACE SERVICE_RESULT EXIT_CODE EXIT_STATUS "
    "MONITOR_SERVICE_RESULT PIDFILE REMOTE_ADDR REMOTE_PORT TRIGGER_UNIT TRIGGER_PATH MEMORY_PRESSURE_WATCH "
    "MEMORY_PRESSURE_WRITE".split()
)


@dataclass(frozen=True, slots=True)
class NextStart:
    """`unit` is None where its fragment could not be read; `launch` is None without a serve script."""

    unit: Unit | None
    why_no_unit: str
    unit_env: Mapping[str, Reading]
    launch: Launch | Unknown | None
    argv: tuple[Reading, ...] | Unknown  # the server's words

    def env(self, name: str) -> Reading:
        """What the server would find under this name in its environment."""
        given = self._from_unit(name)
        if self.launch is None:
            return given
        if isinstance(self.launch, Unknown):
            return Reading(self.launch)
        return self.launch.env_of(name, {name: given.value})

    def _from_unit(self, name: str) -> Reading:
        if self.unit is None:
            return Reading(Unknown(self.why_no_unit))
        if name in self.unit_env:
            return self.unit_env[name]
        return Reading(Unknown("set by systemd itself") if name in FROM_SYSTEMD else ABSENT)


def next_start(desired: Desired, observation: Observation) -> NextStart:
    """Read the unit's texts and the serve script of one observation."""
    unit, why = _unit(observation)
    env = {} if unit is None else _unit_environment(unit, observation)
    if desired.script is None:
        return NextStart(unit, why, env, None, _words_of_unit(unit, why))
    launch = _launch(desired, observation, unit, env)
    argv = launch if isinstance(launch, Unknown) else launch.argv
    return NextStart(unit, why, env, launch, argv)


def _unit(observation: Observation) -> tuple[Unit | None, str]:
    state = observation.unit
    texts = [text for text in (state.fragment, *state.dropins) if text is not None]
    unreadable = [text for text in texts if text.data is None]
    if unreadable:
        return None, f"{unreadable[0].path} can't be read: {unreadable[0].error}"
    if state.fragment is None:
        return None, "the unit's file was not found on disk"
    fragment, *dropins = ((text.path, text.data or b"") for text in texts)
    return read_unit(state.name, fragment, dropins), ""


def _unit_environment(unit: Unit, observation: Observation) -> Mapping[str, Reading]:
    files = {text.path: text.data for text in observation.unit.environment_files}
    manager: dict[str, Value] = {k: Known(v) for k, v in observation.manager_environment.items()}
    return unit.environment(files, base=manager)


def _words_of_unit(unit: Unit | None, why: str) -> tuple[Reading, ...] | Unknown:
    if unit is None:
        return Unknown(why)
    commands = unit.exec_start()
    if len(commands) != 1:
        return Unknown(f"the unit has {len(commands)} ExecStart= commands")
    return commands[0].argv


def _launch(
    desired: Desired, observation: Observation, unit: Unit | None, env: Mapping[str, Reading]
) -> Launch | Unknown:
    text = observation.script
    if text is None or text.data is None:
        return Unknown(_why_no_text(text))
    script = read_script(
        text.data,
        path=text.path,
        caller=None if unit is None else _caller(env),
        files=_texts(observation.sourced),
        args=_script_args(text.path, unit),
    )
    return pick_launch(script, desired.server)


def _why_no_text(text: Text | None) -> str:
    if text is None:
        return "the serve script was not looked at"
    return f"{text.path} can't be read: {text.error}"


def _caller(env: Mapping[str, Reading]) -> dict[str, Value]:
    """The whole environment that the unit gives: what is not in it is not set."""
    systemd: dict[str, Value] = {name: Unknown("set by systemd itself") for name in FROM_SYSTEMD}
    return systemd | {name: reading.value for name, reading in env.items()}


def _texts(sourced: Mapping[str, Text]) -> dict[str, bytes]:
    return {path: text.data for path, text in sourced.items() if text.data is not None}


def _script_args(path: str, unit: Unit | None) -> Sequence[str] | None:
    """The script's $1, $2, … where the unit names them after the script's path; None: not known."""
    if unit is None:
        return None
    for command in unit.exec_start():
        words = [
            reading.value.value if isinstance(reading.value, Known) else None for reading in command.argv
        ]
        if path in words:
            after = words[words.index(path) + 1 :]
            return None if None in after else tuple(str(word) for word in after)
    return None
