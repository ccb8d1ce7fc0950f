"""The syntax tree of a script. `start` and `end` are byte offsets; `line` counts from 1.

Texts are kept byte for character (Latin-1): an offset into the text is an offset into the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# --- Words ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """Text as it stands, quotes and escapes removed; quoted text is safe from globs, braces and tildes."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$X`, `${X…}`. `operator` is what follows the name: `:-`, `##`, `/`, `:` (a slice), `@Q`; "" for none.

    `before` is `#` for a length, `!` for indirection. `index` is the text in brackets.
    `argument` and `argument2` are the operator's words (`${X/argument/argument2}`).
    """

    name: str
    quoted: bool
    line: int
    before: str = ""
    index: str | None = None
    operator: str = ""
    argument: Word | None = None
    argument2: Word | None = None


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """`$(…)` or backquotes; `body` is None where the inner text was not read."""

    quoted: bool
    line: int
    source: str
    body: Sequence | None = None


@dataclass(frozen=True, slots=True)
class ArithmeticValue:
    """`$((…))`."""

    quoted: bool
    line: int
    expression: Word


@dataclass(frozen=True, slots=True)
class ProcessFile:
    """`<(…)` or `>(…)`: becomes the name of a pipe."""

    line: int
    body: Sequence


Part: TypeAlias = Literal | Parameter | CommandOutput | ArithmeticValue | ProcessFile


@dataclass(frozen=True, slots=True)
class Word:
    parts: tuple[Part, ...]
    start: int
    end: int
    line: int

    @property
    def bare(self) -> str | None:
        """The text of a word that is written without any quotes or expansions."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Literal) and not self.parts[0].quoted:
            return self.parts[0].text
        return None

    @property
    def literal(self) -> str | None:
        """The text of a word without expansions, quoted or not."""
        texts = [part.text for part in self.parts if isinstance(part, Literal)]
        return "".join(texts) if len(texts) == len(self.parts) else None


@dataclass(frozen=True, slots=True)
class Element:
    """One element of an array in parentheses, `[key]=value` or a plain word."""

    word: Word
    key: Word | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """`NAME=value`, `NAME+=value`, `NAME[index]=value`, `NAME=(…)`. A value's span excludes the `=`."""

    name: str
    value: Word | tuple[Element, ...]
    append: bool
    start: int
    end: int
    line: int
    value_start: int
    index: Word | None = None


# --- Redirections -----------------------------------------------------------------------------------


@dataclass(slots=True)
class HereDocument:
    """`body` is filled in when the line ends; with a quoted delimiter it is one quoted literal."""

    quoted: bool
    body: Word


@dataclass(frozen=True, slots=True)
class Redirection:
    operator: str
    target: Word | None
    descriptor: str = ""
    document: HereDocument | None = None


# --- Commands ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Simple:
    """Prefix assignments, words and redirections; a declaration's arguments are assignments too."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word | Assignment, ...]
    redirections: tuple[Redirection, ...]
    start: int
    end: int
    line: int


@dataclass(frozen=True, slots=True)
class Pipeline:
    commands: tuple[Command, ...]
    negated: bool
    line: int


@dataclass(frozen=True, slots=True)
class AndOr:
    left: Command
    operator: str
    right: Command


@dataclass(frozen=True, slots=True)
class Item:
    command: Command
    background: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """`{ …; }`, or with `subshell` `( … )`."""

    body: Sequence
    subshell: bool
    redirections: tuple[Redirection, ...]
    line: int


@dataclass(frozen=True, slots=True)
class If:
    arms: tuple[tuple[Sequence, Sequence], ...]  # condition, body
    otherwise: Sequence | None
    line: int


@dataclass(frozen=True, slots=True)
class While:
    condition: Sequence
    body: Sequence
    until: bool
    redirections: tuple[Redirection, ...]
    line: int


@dataclass(frozen=True, slots=True)
class For:
    """`words` is None for `for X; do`, which goes over the positional parameters."""

    name: str
    words: tuple[Word, ...] | None
    body: Sequence
    select: bool
    line: int


@dataclass(frozen=True, slots=True)
class CountingFor:
    """`for ((first; condition; step))`."""

    first: Word
    condition: Word
    step: Word
    body: Sequence
    line: int


@dataclass(frozen=True, slots=True)
class CaseArm:
    patterns: tuple[Word, ...]
    body: Sequence
    end: str  # ;; ;& ;;&


@dataclass(frozen=True, slots=True)
class Case:
    subject: Word
    arms: tuple[CaseArm, ...]
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    name: str
    body: Command
    line: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`(( … ))`."""

    expression: Word
    line: int


@dataclass(frozen=True, slots=True)
class Test:
    """`[[ … ]]`."""

    condition: Condition
    line: int


@dataclass(frozen=True, slots=True)
class Coprocess:
    body: Command
    line: int


Command: TypeAlias = (
    Simple
    | Pipeline
    | AndOr
    | Group
    | If
    | While
    | For
    | CountingFor
    | Case
    | Function
    | Arithmetic
    | Test
    | Coprocess
)

# --- Conditions of [[ ]] ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    left: Word
    operator: str
    right: Word


@dataclass(frozen=True, slots=True)
class Check:
    """A unary test: `-z X`; a lone word is `-n`."""

    operator: str
    word: Word


@dataclass(frozen=True, slots=True)
class Not:
    condition: Condition


@dataclass(frozen=True, slots=True)
class Both:
    left: Condition
    operator: str  # && or ||
    right: Condition


Condition: TypeAlias = Comparison | Check | Not | Both


@dataclass(frozen=True, slots=True)
class Program:
    """`lines` are the commands bash reads and runs before it reads on; it stops at `error` (line, what)."""

    lines: tuple[Sequence, ...]
    # all simple commands in the order of the text, those in $(…) left out, and whether a function holds it
    commands: tuple[tuple[Simple, bool], ...] = ()
    error: tuple[int, str] | None = None
