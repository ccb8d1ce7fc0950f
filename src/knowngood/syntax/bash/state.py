"""What a shell knows at one point of a script: variables, functions, arguments, options."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from knowngood.model import Absent, Known, Unknown, Value
from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.fields import Items
from knowngood.syntax.bash.nodes import Function
from knowngood.syntax.bash.text import Hole, Text, unknown


class Export(enum.Enum):
    """Whether a variable is given to commands. INHERITED: where the caller gave its name.

    MIXED: it depends on a condition. PRESUMED and DOUBTED: it does too, but when the caller gives nothing it
    is exported, or is not.
    """

    YES = "yes"
    NO = "no"
    INHERITED = "inherited"
    MIXED = "mixed"
    PRESUMED = "presumed"
    DOUBTED = "doubted"


@dataclass(frozen=True, slots=True)
class Variable:
    """`text` is None when it is certainly unset. An array has `items`; an associative one `keyed`."""

    text: Text | None
    export: Export
    line: int = 0
    maybe_unset: bool = False
    presumed_unset: bool = False  # unset when the caller gives nothing
    items: Items | None = None
    keyed: tuple[tuple[str, Text], ...] | None = None
    attributes: frozenset[str] = frozenset()
    path: str = ""


# Names that bash sets by itself; never known, and when the script assigns them bash may do as it likes.
_OWNED_NAMES = """
_ BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_COMPAT
BASH_ENV BASH_EXECUTION_STRING BASH_LINENO BASH_LOADABLES_PATH BASH_REMATCH BASH_SOURCE BASH_SUBSHELL
BASH_VERSINFO BASH_VERSION BASH_XTRACEFD COLUMNS COMP_WORDBREAKS COPROC DIRSTACK EPOCHREALTIME
EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD HISTFILE LINENO LINES MAPFILE OLDPWD PIPESTATUS PPID PWD RANDOM
REPLY SECONDS SHELLOPTS SHLVL SRANDOM UID OPTARG OPTIND OPTERR
"""
OWNED = frozenset(_OWNED_NAMES.split())
# Names that bash gives a first value, which a script can change like any other.
_FIRST_SET = frozenset(["HOSTNAME", "HOSTTYPE", "MACHTYPE", "OSTYPE", "PATH", "PS4", "TERM", "SHELL", "HOME"])


@dataclass(frozen=True, slots=True)
class Status:
    """An exit status in the certain and in the presumed world; None: not known."""

    certain: int | None
    presumed: int | None

    @property
    def truth(self) -> bool | None:
        return None if self.certain is None else self.certain == 0

    @property
    def presumed_truth(self) -> bool | None:
        return None if self.presumed is None else self.presumed == 0

    def inverted(self) -> Status:
        def flip(status: int | None) -> int | None:
            return None if status is None else int(status == 0)

        return Status(flip(self.certain), flip(self.presumed))


# A status that is certainly not zero, whatever it is.
NOT_ZERO = 256
DONE = Status(0, 0)
FAILED = Status(1, 1)
UNSURE = Status(None, None)


def to_status(truth: bool | None, presumed: bool | None) -> Status:
    def number(answer: bool | None) -> int | None:
        return None if answer is None else int(not answer)

    return Status(number(truth), number(truth if truth is not None else presumed))


class Caller:
    """The environment that the script is started with; closed when a mapping says all of it."""

    def __init__(self, environment: Mapping[str, Value] | None) -> None:
        self.environment = environment

    def variable(self, name: str) -> Variable:
        """What the name is before the script says anything of it."""
        if name == "IFS":
            return Variable((" \t\n",), Export.NO)
        given = None if self.environment is None else self.environment.get(name)
        if name in OWNED or (name in _FIRST_SET and not isinstance(given, Known)):
            return Variable(unknown(f"bash sets {name} by itself", 0), Export.MIXED, maybe_unset=True)
        if isinstance(given, Known):
            return Variable(texts.plain(to_latin(str(given.value))), Export.YES)
        if isinstance(given, Unknown):
            hole = Hole(f"the caller's {name} is not known: {given.reason}", 0)
            return Variable((hole,), Export.INHERITED, maybe_unset=True)
        if self.environment is not None or isinstance(given, Absent):
            return Variable(None, Export.NO)
        hole = Hole(f"only the caller may give {name}", 0, caller=True)
        return Variable((hole,), Export.INHERITED, maybe_unset=True, presumed_unset=True)


def to_latin(text: str) -> str:
    """Text (UTF-8, surrogate escapes) as the reader keeps it: one character a byte."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def from_latin(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "surrogateescape")


@dataclass(slots=True)
class State:
    """`taint` is why names that are not in `variables` can't be known: an unread text may set them."""

    caller: Caller
    positional: Items
    variables: dict[str, Variable] = field(default_factory=dict)
    # what a name may stand for, by condition; None among them: no function
    functions: dict[str, tuple[Function | None, ...]] = field(default_factory=dict)
    options: dict[str, bool | None] = field(default_factory=dict)
    scopes: list[dict[str, Variable]] = field(default_factory=list)
    status: Status = DONE
    taint: tuple[str, int] | None = None
    strangers: str | None = None  # the text that was not read and may have defined functions
    getopts: tuple[int, int] = (1, 1)  # the next argument, the next letter in it; (0, 0) when unknown

    def copy(self) -> State:
        return State(
            self.caller,
            self.positional,
            dict(self.variables),
            dict(self.functions),
            dict(self.options),
            [dict(scope) for scope in self.scopes],
            self.status,
            self.taint,
            self.strangers,
            self.getopts,
        )

    def look_up(self, name: str) -> Variable:
        """The variable by its name; a name reference is followed."""
        for _ in range(8):
            variable = self.own(name)
            if "n" not in variable.attributes:
                return variable
            target = known_name(variable)
            if target is None:
                return Variable(unknown(f"{name} refers to another name", variable.line), Export.MIXED)
            name = target
        return Variable(unknown(f"{name} refers to itself", 0), Export.MIXED)

    def own(self, name: str) -> Variable:
        """The variable itself, a name reference not followed."""
        variable = self.variables.get(name)
        if variable is not None:
            return variable
        if self.taint is not None and name != "IFS":
            reason, line = self.taint
            return Variable(unknown(reason, line), Export.MIXED, line, maybe_unset=True)
        return self.caller.variable(name)

    def resolve(self, name: str) -> str | None:
        """The name that an assignment to `name` sets; None when that is not known."""
        for _ in range(8):
            variable = self.variables.get(name)
            if variable is None or "n" not in variable.attributes:
                return name
            target = known_name(variable)
            if target is None:
                return None
            name = target
        return None

    def option(self, name: str) -> bool | None:
        return self.options.get(name, False)

    def forget(self, reason: str, line: int) -> None:
        """From here on any variable may be anything."""
        self.taint = (reason, line)
        kept = self.variables.get("IFS")
        self.variables = {} if kept is None else {"IFS": kept}

    def same_as(self, other: State) -> bool:
        return (
            self.variables == other.variables
            and self.positional == other.positional
            and self.functions == other.functions
            and self.options == other.options
            and self.taint == other.taint
            and self.strangers == other.strangers
            and self.getopts == other.getopts
            and self.scopes == other.scopes
        )


def known_name(variable: Variable) -> str | None:
    return None if variable.text is None else texts.known(variable.text)
