"""Which serve script a unit starts, and which of its processes is the server: found out, for a capture."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from knowngood.model import Desired, Known, Observation, Process, Reading, Text, Unknown
from knowngood.observe.next_start import next_start
from knowngood.observe.server import SHELLS, find_server, program_name
from knowngood.syntax.bash import Launch

_SHEBANG = re.compile(rb"#![ \t]*(?:\S*/env[ \t]+(?:-S[ \t]*)?)?(\S+)")
_COMMAND = re.compile(r"(?:exec\s+)?[\"']?(/[^\s\"';&|]+)")
_PYTHON = re.compile(r"python[\d.]*")


def script_candidates(role: Desired, observation: Observation) -> tuple[str, ...]:
    """The paths in the unit's one ExecStart= that may be its serve script, the likeliest first."""
    argv = next_start(replace(role, script=None), observation).argv
    if isinstance(argv, Unknown):
        return ()
    return tuple(dict.fromkeys(_candidates([_text(word) for word in argv])))


def _candidates(words: list[str | None]) -> Iterator[str]:
    for at, word in enumerate(words):
        if word is None:
            continue
        if posixpath.basename(word) in SHELLS:
            script = _script_of_shell(words[at + 1 :])
            if script:
                yield script
        elif word.startswith("/") and (at == 0 or word.endswith((".sh", ".bash"))):
            yield word


def _script_of_shell(words: list[str | None]) -> str | None:
    """The script among a shell's words: its first operand, or what `-c` begins with."""
    for at, word in enumerate(words):
        if word is None:
            return None
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            inner = words[at + 1] if at + 1 < len(words) else None
            found = _COMMAND.match(inner or "")
            return found[1] if found else None
        if not word.startswith(("-", "+")):
            return word if word.startswith("/") else None
    return None


def is_shell_script(text: Text | None) -> bool:
    """Whether a text that the node sent is a script for a shell.

    By its first line; a text without such a line can only have been given to a shell.
    """
    if text is None or text.data is None or b"\0" in text.data:
        return False
    found = _SHEBANG.match(text.data)
    return found is None or posixpath.basename(found[1].decode("latin-1")) in SHELLS


def server_text(role: Desired, observation: Observation) -> str | Unknown | None:
    """What `server:` must say: None where it is obvious; Unknown where no text would single it out."""
    processes = observation.processes
    if isinstance(processes, Unknown) or not processes:
        return None
    found = _server(replace(role, server=None), observation)
    if isinstance(found, Process):
        return None
    texts = dict.fromkeys(text for process in processes for text in _texts_of(process))
    fitting = {
        text: one
        for text in texts
        if isinstance(one := _server(replace(role, server=text), observation), Process)
    }
    main = [text for text, process in fitting.items() if process.pid == observation.unit.main_pid]
    if main:
        return main[0]
    if len({process.pid for process in fitting.values()}) == 1:
        return next(iter(fitting))
    return found


def _server(role: Desired, observation: Observation) -> Process | Unknown:
    """The server, where processes and serve script agree on it."""
    assert isinstance(observation.processes, tuple)  # noqa: S101
    process = find_server(observation.processes, role.server, observation.unit.main_pid)
    if isinstance(process, Unknown) or role.script is None:
        return process
    launch = next_start(role, observation).launch
    if (
        isinstance(launch, Launch)
        and not isinstance(process.argv, Unknown)
        and not _agree(launch, process.argv)
    ):
        return Unknown("the script launches another program than the one that seems to serve")
    return launch if isinstance(launch, Unknown) else process


def _agree(launch: Launch, argv: tuple[str, ...]) -> bool:
    """Whether the process runs the launched program; its values may differ."""
    told = {posixpath.basename(word) for word in argv}
    named = [_text(word) for word in launch.argv[:3]]
    return any(word is not None and posixpath.basename(word) in told for word in named)


def _texts_of(process: Process) -> Iterator[str]:
    """What tells a process's command line from others: the module that Python runs, the program's name."""
    if isinstance(process.argv, Unknown) or program_name(process) in SHELLS:
        return
    own = server_words(process.argv)
    before = process.argv[: len(process.argv) - len(own)]
    if before:
        yield before[-1] if len(before) > 1 else posixpath.basename(before[0])


def server_words(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The words behind the program, and behind the module or script where it is Python that runs one."""
    return argv[_own_from(argv) :]


def own_words(argv: tuple[Reading, ...]) -> tuple[Reading, ...]:
    """server_words() for words that were read from a text."""
    return argv[_own_from(tuple(_text(word) or "" for word in argv)) :]


def _own_from(argv: tuple[str, ...]) -> int:
    if not argv or not _PYTHON.fullmatch(posixpath.basename(argv[0])):
        return min(1, len(argv))
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        if argv[at] in ("-m", "-c"):
            return min(at + 2, len(argv))
        at += 2 if argv[at] in ("-W", "-X") else 1
    return min(at + 1, len(argv))


def _text(word: Reading) -> str | None:
    return word.value.value if isinstance(word.value, Known) and isinstance(word.value.value, str) else None
