"""What a reading hands out: launches with their words and environment, and remarks for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from knowngood.model import ABSENT, Absent, Known, Reading, Unknown, Value
from knowngood.syntax.argv import Partial

# Names that bash gives to every command by itself.
GIVEN_BY_BASH = frozenset(["PWD", "OLDPWD", "SHLVL", "_"])


class CannotEdit(Exception):
    """The place of an edit can't be decided; `reason` says why and what to do; `line` from 1, or 0."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True, slots=True)
class Lint:
    """A remark on a line (counted from 1). `code` is a short stable word."""

    line: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Launch:
    """One program that the script starts, wrappers (numactl, env, timeout, …) seen through.

    `argv` are the program's own words, argv[0] the program. A word that may be several or none is a
    `Partial` (see knowngood.syntax.argv). `exec`: the program takes the place of the script's own process.
    `conditional`: reached only under a condition that depends on what is not known.

    `env` has every name that the script gives, changes or removes for this launch. `unexported` has the names
    that it assigns without exporting: they arrive only where the caller gives the name too. Any other name
    comes from the caller, unless `inherits` is False (`env -i`, a container), or `env_open` says why it can't
    be known. `start` is the offset in the script of the command that launches it, None in a sourced file.
    """

    argv: tuple[Reading, ...]
    exec: bool
    line: int
    background: bool
    conditional: bool
    env: Mapping[str, Reading] = field(repr=False)
    env_open: str | None = None
    unexported: Mapping[str, Reading] = field(default_factory=dict, repr=False)
    inherits: bool = True
    path: str = ""
    start: int | None = None
    top: int | None = None  # the same of the outermost command, which may be a function's call
    wrappers: tuple[str, ...] = ()
    # of each word of argv: where in the script it is written, when it is written there as it is
    spans: tuple[tuple[int, int] | None, ...] = field(default=(), repr=False)

    def env_of(self, name: str, caller: Mapping[str, Value] | None) -> Reading:
        """What a name is for this program. `caller` is the script's own environment, None if unknown."""
        if name in self.env:
            return self.env[name]
        given = _given(name, caller)
        if name in self.unexported:
            own = self.unexported[name]
            if isinstance(given, Known):
                return own
            if isinstance(given, Absent):
                return Reading(ABSENT, own.line, own.path)
            if caller is None and self.env_open is None:
                return Reading(ABSENT, own.line, own.path, default=True)
            return Reading(Unknown(f"{name} is assigned without export"), own.line, own.path)
        if self.env_open is not None:
            return Reading(Unknown(self.env_open), self.line, self.path)
        if not self.inherits:
            return Reading(ABSENT, self.line, self.path)
        if name in GIVEN_BY_BASH or name.startswith("BASH_FUNC_"):
            return Reading(Unknown(f"bash sets {name} by itself"), self.line, self.path)
        return Reading(given)

    @property
    def joined(self) -> str:
        """The known text of argv, for people and for finding the server in it."""
        return " ".join(shown_word(word) for word in self.argv)


def shown_word(word: Reading) -> str:
    """A word's text; the known beginning and `…` where it is not known."""
    if isinstance(word.value, Known):
        return str(word.value.value)
    return (word.start if isinstance(word, Partial) else "") + "…"


def _given(name: str, caller: Mapping[str, Value] | None) -> Value:
    if caller is None:
        return Unknown("it comes from the script's caller")
    return caller.get(name, ABSENT)


@dataclass(frozen=True, slots=True)
class Script:
    """A script that was read. `broken` are lines with syntax errors. `unread`, with its line, is why the
    reading stopped before the script's end; launches may be missing then."""

    launches: tuple[Launch, ...]
    lint: tuple[Lint, ...] = ()
    broken: tuple[int, ...] = ()
    unread: tuple[str, int] | None = None


# Programs that serve models, by what stands in their words.
_SERVERS = (
    "sglang.launch_server",
    "sglang serve",
    "vllm serve",
    "vllm.entrypoints",
    "llama-server",
    "llama_server",
    "llama.cpp/server",
    "text-generation-launcher",
    "trtllm-serve",
    "tritonserver",
    "lmdeploy serve",
    "ollama serve",
    "mlc_llm serve",
    "launch_server",
    "api_server",
    "tabbyapi",
    "aphrodite",
    "infinity_emb",
    "koboldcpp",
    "ktransformers",
    "text-embeddings-router",
    "dynamo.",
    "lightllm.server",
)


def pick_launch(script: Script, server: str | None) -> Launch | Unknown:
    """The launch that serves: the one whose words hold the text `server`; without it the obvious one.

    Obvious is the only launch; else the only one of a known model server; else the only one that is not
    conditional. Unknown, with the reason, when several would do or the script could not be read to its end.
    """
    if script.unread is not None and not any(
        launch.exec and not launch.conditional for launch in script.launches
    ):
        reason, line = script.unread
        return Unknown(f"the script could not be read beyond line {line}: {reason}")
    launches = list(script.launches)
    if server is not None:
        launches = [launch for launch in launches if server in launch.joined]
        if not launches:
            return Unknown(f"no launch in the script has {server!r} in its words")
    elif not launches:
        return Unknown("the script launches nothing that could be a server")
    if server is None and len(launches) > 1:
        launches = _narrowed(launches)
    if len(launches) == 1 or all(_alike(launches[0], launch) for launch in launches):
        return launches[0]
    where = ", ".join(str(launch.line) for launch in launches)
    return Unknown(f"several launches could be the server (lines {where})")


def _narrowed(launches: list[Launch]) -> list[Launch]:
    serving = [launch for launch in launches if any(text in launch.joined for text in _SERVERS)]
    candidates = serving or launches
    certain = [launch for launch in candidates if not launch.conditional]
    return certain if len(certain) == 1 else candidates


def _alike(one: Launch, other: Launch) -> bool:
    return (one.argv, one.env, one.exec, one.env_open) == (other.argv, other.env, other.exec, other.env_open)
