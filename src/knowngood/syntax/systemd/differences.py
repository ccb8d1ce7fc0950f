"""Where systemd's reading of an environment file parts from what `set -a; . file` gives in bash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from knowngood.model import ABSENT, Known, Reading, Unknown
from knowngood.syntax.systemd.envfile import EnvFile, read_environment_file

if TYPE_CHECKING:
    from knowngood.syntax.bash import Launch

_SOURCED = "/environment-file"
_PROGRAM = "/program"
_SCRIPT = f"set -a\n. {_SOURCED}\nexec {_PROGRAM}\n".encode()


@dataclass(frozen=True, slots=True)
class EnvDifference:
    """One variable that the two read differently. `message` is a sentence that holds no values.

    `systemd` and `bash` are the two readings; one that is Unknown says why it can't be told.
    """

    name: str
    line: int
    systemd: Reading
    bash: Reading
    message: str


def env_file_differences(data: bytes) -> list[EnvDifference]:
    """All variables that a unit with this EnvironmentFile= gets otherwise than a shell that sources it."""
    file = read_environment_file(data)
    if file.unread is not None:
        return []
    by_systemd = _by_systemd(file)
    launch = _launch(data)
    if launch is None:
        reason = Unknown("bash does not read the file to its end")
        return [_difference(name, reading, Reading(reason)) for name, reading in by_systemd.items()]
    names = dict.fromkeys([*by_systemd, *launch.env])
    pairs = ((name, by_systemd.get(name, Reading(ABSENT)), launch.env_of(name, {})) for name in names)
    parted = [_difference(*pair) for pair in pairs if pair[1].value != pair[2].value]
    return sorted(parted, key=lambda difference: difference.line)


def _by_systemd(file: EnvFile) -> dict[str, Reading]:
    found = {}
    for entry in file.entries:
        value = Unknown(entry.disputed) if entry.disputed else Known(entry.value)
        found[entry.name] = Reading(value, entry.line)
    return found


def _launch(data: bytes) -> Launch | None:
    # Reading bash is a large part of the house, and nothing else here needs it.
    from knowngood.syntax.bash import read_script

    script = read_script(_SCRIPT, path="/script", caller={}, files={_SOURCED: data}, args=())
    for launch in script.launches:
        if launch.exec and launch.argv and launch.argv[0].value == Known(_PROGRAM):
            return launch
    return None


def _difference(name: str, systemd: Reading, bash: Reading) -> EnvDifference:
    return EnvDifference(name, systemd.line or bash.line, systemd, bash, _message(name, systemd, bash))


def _message(name: str, systemd: Reading, bash: Reading) -> str:
    if systemd.value == ABSENT:
        return f"bash sets {name} here; systemd does not."
    if bash.value == ABSENT:
        return f"systemd sets {name} here; bash does not."
    if isinstance(bash.value, Unknown):
        return f"bash would work out {name} when it runs this; systemd takes the text as it stands."
    if isinstance(systemd.value, Unknown):
        return f"What systemd makes of {name} here depends on its version."
    return f"systemd and bash read different values of {name} here."
