"""What the next start of the unit would load, as far as the texts on the node's disk say.

The unit's fragment and drop-ins are merged as systemd would; where the manifest names a serve script, it is
read with the environment that the unit gives it. Nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from knowngood.model import Absent, Desired, Known, Observation, Reading, Text, Unknown, Value
from knowngood.syntax.bash import Launch, pick_launch, read_script
from knowngood.syntax.systemd import Environment, Unit, read_unit


@dataclass(frozen=True, slots=True)
class NextStart:
    """`unit` is None where its fragment could not be read; `launch` is None without a serve script."""

    unit: Unit | None
    why_no_unit: str
    unit_env: Environment
    launch: Launch | Unknown | None
    argv: tuple[Reading, ...] | Unknown  # the server's words

    def env(self, name: str) -> Reading:
        """What the server would find under this name in its environment."""
        given = self.unit_env[name]
        if self.launch is None:
            return given
        if isinstance(self.launch, Unknown):
            return Reading(self.launch)
        return self.launch.env_of(name, {name: given.value})


def next_start(desired: Desired, observation: Observation) -> NextStart:
    """Read the unit's texts and the serve script of one observation."""
    unit, why = _unit(observation)
    env = Environment({}, set(), why) if unit is None else _unit_environment(unit, observation)
    if desired.script is None:
        return NextStart(unit, why, env, None, _words_of_unit(unit, env, why))
    launch = _launch(desired, observation, unit, env)
    return NextStart(unit, why, env, launch, launch if isinstance(launch, Unknown) else launch.argv)


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


def _unit_environment(unit: Unit, observation: Observation) -> Environment:
    files = {text.path: text.data for text in observation.unit.environment_files}
    usual: dict[str, Value] = {name: Unknown("set by systemd itself") for name in ("PATH", "LANG")}
    manager = {name: Known(text) for name, text in observation.manager_environment.items()}
    return unit.environment(files, base=usual | manager)


def _words_of_unit(unit: Unit | None, env: Environment, why: str) -> tuple[Reading, ...] | Unknown:
    if unit is None:
        return Unknown(why)
    commands = unit.exec_start(env)
    if len(commands) != 1:
        return Unknown(f"the unit has {len(commands)} ExecStart= commands")
    return commands[0].argv


def _launch(
    desired: Desired, observation: Observation, unit: Unit | None, env: Environment
) -> Launch | Unknown:
    text = observation.script
    if text is None or text.data is None:
        return Unknown(_why_no_text(text))
    script = read_script(
        text.data,
        path=text.path,
        caller=None if unit is None else _Given(env, desired, observation.manager_open),
        files=_texts(observation.sourced),
        args=_script_args(text.path, unit),
    )
    return pick_launch(script, desired.server)


def _why_no_text(text: Text | None) -> str:
    if text is None:
        return "the serve script was not looked at"
    return f"{text.path} can't be read: {text.error}"


class _Given(Mapping[str, Value]):
    """The environment that the unit gives, by name: known, absent or unknown, whatever name is asked for.

    Of the manager's own environment only declared names were told. Where it has more of them (`is_open`), a
    name that nobody declared may be among them.
    """

    def __init__(self, env: Environment, desired: Desired, is_open: bool) -> None:
        self._env = env
        self._declared = {*desired.env, *desired.unit_env}
        self._open = is_open

    def __getitem__(self, name: str) -> Value:
        value = self._env[name].value
        if self._open and name not in self._declared and isinstance(value, Absent):
            return Unknown("the environment of systemd's manager may set it")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._env)

    def __len__(self) -> int:
        return len(self._env)


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
