"""What the next start of the unit would load, as far as the texts on the node's disk say.

The unit's fragment and drop-ins are merged as systemd would; where the manifest names a serve script, it is
read with the environment that the unit gives it. Nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

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


@dataclass(frozen=True, slots=True)
class _UnitTexts:
    """All that the unit's part depends on. The nodes of a fleet mostly share it, so it is read once."""

    name: str
    fragment: Text | None
    dropins: tuple[Text, ...]
    environment_files: tuple[Text, ...]
    manager: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _ScriptTexts:
    """What the script's part depends on beside the unit's."""

    script: Text | None
    sourced: tuple[tuple[str, Text], ...]
    declared: frozenset[str]
    manager_open: bool
    server: str | None


def next_start(desired: Desired, observation: Observation) -> NextStart:
    """Read the unit's texts and the serve script of one observation."""
    state = observation.unit
    manager = tuple(sorted(observation.manager_environment.items()))
    unit = _UnitTexts(state.name, state.fragment, state.dropins, state.environment_files, manager)
    if desired.script is None:
        return _without_script(unit)
    script = _ScriptTexts(
        observation.script,
        tuple(sorted(observation.sourced.items())),
        frozenset({*desired.env, *desired.unit_env}),
        observation.manager_open,
        desired.server,
    )
    return _with_script(unit, script)


@lru_cache(maxsize=256)
def _without_script(texts: _UnitTexts) -> NextStart:
    unit, why = _unit(texts)
    env = Environment({}, set(), why) if unit is None else _unit_environment(unit, texts)
    return NextStart(unit, why, env, None, _words_of_unit(unit, env, why))


@lru_cache(maxsize=256)
def _with_script(texts: _UnitTexts, script: _ScriptTexts) -> NextStart:
    start = _without_script(texts)
    launch = _launch(script, start)
    return replace(start, launch=launch, argv=launch if isinstance(launch, Unknown) else launch.argv)


def _unit(texts: _UnitTexts) -> tuple[Unit | None, str]:
    files = [text for text in (texts.fragment, *texts.dropins) if text is not None]
    unreadable = [text for text in files if text.data is None]
    if unreadable:
        return None, f"{unreadable[0].path} can't be read: {unreadable[0].error}"
    if texts.fragment is None:
        return None, "the unit's file was not found on disk"
    fragment, *dropins = ((text.path, text.data or b"") for text in files)
    return read_unit(texts.name, fragment, dropins), ""


def _unit_environment(unit: Unit, texts: _UnitTexts) -> Environment:
    files = {text.path: text.data for text in texts.environment_files}
    usual: dict[str, Value] = {name: Unknown("set by systemd itself") for name in ("PATH", "LANG")}
    return unit.environment(files, base=usual | {name: Known(text) for name, text in texts.manager})


def _words_of_unit(unit: Unit | None, env: Environment, why: str) -> tuple[Reading, ...] | Unknown:
    if unit is None:
        return Unknown(why)
    commands = unit.exec_start(env)
    if len(commands) != 1:
        return Unknown(f"the unit has {len(commands)} ExecStart= commands")
    return commands[0].argv


def _launch(texts: _ScriptTexts, start: NextStart) -> Launch | Unknown:
    text = texts.script
    if text is None or text.data is None:
        return Unknown(_why_no_text(text))
    if start.unit is not None and not _starts(start.unit, text.path):
        return Unknown(f"the unit does not start {text.path}")
    script = read_script(
        text.data,
        path=text.path,
        caller=None if start.unit is None else _Given(start.unit_env, texts),
        files={path: sourced.data for path, sourced in texts.sourced if sourced.data is not None},
        args=_script_args(text.path, start.unit),
    )
    return pick_launch(script, texts.server)


def _starts(unit: Unit, path: str) -> bool:
    """Whether a command of the unit names the script, as a word or inside of one; so if a word is unknown."""
    words = [reading.value for command in unit.exec_start() for reading in command.argv]
    return not words or any(not isinstance(word, Known) or path in str(word.value) for word in words)


def _why_no_text(text: Text | None) -> str:
    if text is None:
        return "the serve script was not looked at"
    return f"{text.path} can't be read: {text.error}"


class _Given(Mapping[str, Value]):
    """The environment that the unit gives, by name: known, absent or unknown, whatever name is asked for.

    Of the manager's own environment only declared names were told. Where it has more of them (`is_open`), a
    name that nobody declared may be among them.
    """

    def __init__(self, env: Environment, texts: _ScriptTexts) -> None:
        self._env = env
        self._declared = texts.declared
        self._open = texts.manager_open

    def __getitem__(self, name: str) -> Value:
        value = self._env[name].value
        if self._open and name not in self._declared and isinstance(value, Absent):
            return Unknown("the environment of systemd's manager may set it")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._env)

    def __len__(self) -> int:
        return len(self._env)


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
