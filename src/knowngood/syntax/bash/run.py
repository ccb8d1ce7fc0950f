"""Simple commands: functions, bash's own commands, sourced files and, at last, programs that are launched."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.containers import ENGINES, container
from knowngood.syntax.bash.fields import Field, Gap, Item, Items, word_text
from knowngood.syntax.bash.launching import Launching
from knowngood.syntax.bash.nodes import Assignment, CommandOutput, Program, Simple, Word
from knowngood.syntax.bash.output import pure_output
from knowngood.syntax.bash.shell import Died, Doubt
from knowngood.syntax.bash.state import (
    DONE,
    UNSURE,
    Caller,
    Export,
    Variable,
    from_latin,
    to_latin,
)
from knowngood.syntax.bash.surroundings import Surroundings, surroundings
from knowngood.syntax.bash.text import Text, unknown
from knowngood.syntax.bash.utilities import is_chore, is_program
from knowngood.syntax.bash.wrappers import WRAPPERS, see_through

MOST_LAUNCHES = 64
_SYNTAX = re.compile(r"[\\'\"`$&|;<>(){}*?\[\]~#!\n]")
_DECLARING = frozenset(["export", "declare", "typeset", "local", "readonly"])
# Commands of bash's own that set variables: a word that may be one of them makes everything doubtful.
_CHANGING_NAMES = """
unset set shopt eval source . read mapfile readarray printf getopts let shift exit return break continue
exec trap enable alias command builtin
"""
_CHANGING = _DECLARING | frozenset(_CHANGING_NAMES.split())


@dataclass(frozen=True, slots=True)
class Noted:
    """An assignment that the reading came by, and whether it certainly does."""

    node: Assignment
    certain: bool
    function: bool


class Runner(Launching):
    """Reads a program to its end and collects what it launches."""

    def __init__(self, caller: Caller, positional: Items, path: str, files: Mapping[str, bytes]) -> None:
        super().__init__(caller, positional, path, files)
        self.noted: list[Noted] = []

    def program(self, program: Program) -> None:
        """All lines, up to where bash would stop at an error."""
        for line in program.lines:
            self.line(line)
            self.abandoned.clear()
        if program.error is not None:
            line_number, message = program.error
            self.unread = self.unread or (message, line_number)
            raise Died

    def note_assignment(self, node: Assignment) -> None:
        if self.spans_are_ours:
            self.noted.append(Noted(node, not self.doubts, bool(self.calls)))

    # --- simple commands ----------------------------------------------------------------------------

    def simple(self, node: Simple) -> None:
        first = node.words[0] if node.words else None
        name = first.bare if isinstance(first, Word) else None
        if name in _DECLARING and name not in self.state.functions:
            self._declaration(name, node)
            return
        try:
            items = self.fields(word for word in node.words if isinstance(word, Word))
        except Doubt as doubt:
            self._may_launch(node, name, doubt)
            raise
        if any(isinstance(word, Assignment) for word in node.words):
            raise Doubt("an array among a command's words", node.line)
        if not items:
            self._assignments_alone(node)
        else:
            self._named(node, items)

    def _may_launch(self, node: Simple, name: str | None, doubt: Doubt) -> None:
        """A command whose words could not be worked out; bash may start it all the same."""
        name = None if name in ("exec", "command") else name
        if name is None or (
            name not in self.state.functions and not self.builtin(name) and name not in _CHANGING
        ):
            self.doubts += 1
            first = () if name is None else (Field(texts.plain(name), node.line),)
            names = [prefix.name for prefix in node.assignments]
            around = surroundings(self.state)
            around = around.opened(doubt.reason, names) if names else around
            self.external(node, (*first, Gap(doubt.reason, doubt.line)), around=around)
            self.doubts -= 1

    def _declaration(self, name: str | None, node: Simple) -> None:
        for prefix in node.assignments:
            self.assignment(prefix)
            own = self.state.variables.get(prefix.name)
            if name != "export" and own is not None:
                raise Doubt("an assignment before a declaration", node.line)
        if node.assignments:
            declared = {word.literal if isinstance(word, Word) else word.name for word in node.words}
            if any(prefix.name not in declared for prefix in node.assignments):
                raise Doubt("an assignment before a declaration", node.line)
        self.declare(name or "", node.words[1:], node.line)

    def _assignments_alone(self, node: Simple) -> None:
        for assignment in node.assignments:
            self.assignment(assignment)
        self.state.status = DONE
        if any(_runs_command(assignment) for assignment in node.assignments) or node.words:
            self.state.status = UNSURE

    def _named(self, node: Simple, items: Items) -> None:
        """A command with words: what kind it is, its first word tells."""
        name = texts.known(items[0].text) if isinstance(items[0], Field) else None
        if name is None:
            self._unknown_name(node, items)
            return
        if "/" not in name and name in self.state.functions:
            self.with_prefix(node, lambda: self.call(name, node, items))
            return
        handler = {
            "eval": self._eval,
            "source": self._source,
            ".": self._source,
            "exec": self._exec,
            "command": self._command_word,
            "builtin": self._command_word,
        }.get(name) or self.builtin(name)
        if handler is not None:
            self.with_prefix(node, lambda: handler(node, items))
        elif name in _DECLARING:
            raise Doubt(f"{name} reached in a roundabout way", node.line)
        else:
            self.with_prefix(node, lambda: self.external(node, items))
            self._perhaps_function(name, node)

    def _unknown_name(self, node: Simple, items: Items) -> None:
        """A name that is not known is taken to be a program's, unless one of its choices is not."""
        for item in items[:2]:
            options = _first_words(item)
            if any(option in _CHANGING or option in self.state.functions for option in options):
                raise Doubt("what command this is depends on a condition", node.line)
            if isinstance(item, Field):
                break
        self.with_prefix(node, lambda: self.external(node, items))

    def _perhaps_function(self, name: str, node: Simple) -> None:
        """After a text that was not read, a name that is no program's may be a function of it."""
        strangers = self.state.strangers
        if strangers is not None and "/" not in name and name not in WRAPPERS and not is_program(name):
            raise Doubt(f"{name} may be a function: {strangers}", node.line)

    def with_prefix(self, node: Simple, run: Callable[[], None]) -> None:
        """`A=1 command`: the assignments reach this command alone."""
        if not node.assignments:
            run()
            return
        saved: dict[str, Variable | None] = {}
        for prefix in node.assignments:
            if not isinstance(prefix.value, Word) or prefix.index is not None:
                raise Doubt("an array as a command's prefix", node.line)
            saved.setdefault(prefix.name, self.state.variables.get(prefix.name))
            self.assignment(prefix)
            own = self.state.variables.get(prefix.name)
            if own is None or own.items is not None:
                raise Doubt("a prefix that is no plain variable", node.line)
            self.state.variables[prefix.name] = Variable(
                own.text,
                Export.YES,
                own.line,
                own.maybe_unset,
                own.presumed_unset,
                attributes=frozenset("t"),
                path=own.path,
            )
        tainted = self.state.taint
        given = {name: self.state.variables[name] for name in saved}
        touched, self.touched = self.touched, set()
        run()
        inside, self.touched = self.touched, touched | self.touched
        if self.state.taint is not tainted:
            return
        for name, variable in saved.items():
            if name in inside or self.state.variables.get(name) is not given[name]:
                # A function that exports the name makes it lasting; one that assigns it doesn't.
                text = unknown("it was set within a command that it is a prefix of", node.line)
                self.state.variables[name] = Variable(text, Export.MIXED, node.line, maybe_unset=True)
            elif variable is None:
                self.state.variables.pop(name, None)
            else:
                self.state.variables[name] = variable

    # --- programs -----------------------------------------------------------------------------------

    def _command_word(self, node: Simple, items: Items) -> None:
        rest = items[1:]
        while rest and word_text(rest[0]) in ("-p", "--"):
            rest = rest[1:]
        name = word_text(rest[0]) if rest else None
        if name is not None and name.startswith("-"):
            self.state.status = UNSURE
            return
        if not rest or name is None or name in _DECLARING | {"exec", "command", "builtin"}:
            raise Doubt("what `command` runs is not known", node.line)
        handler = {"eval": self._eval, "source": self._source, ".": self._source}.get(name) or self.builtin(
            name
        )
        if handler is not None:
            handler(node, rest)
        else:
            self.external(node, rest)

    def _exec(self, node: Simple, items: Items) -> None:
        rest = items[1:]
        around = surroundings(self.state)
        while (
            rest and (option := word_text(rest[0])) is not None and option.startswith("-") and len(option) > 1
        ):
            rest = rest[1:]
            if option == "--":
                break
            if "c" in option:
                around = around.cleared()
            if "a" in option:
                rest = rest[1:]
        if not rest:
            self.state.status = DONE
            return
        self.external(node, rest, replaces=True, around=around)
        raise Died

    def external(
        self, node: Simple, items: Items, *, replaces: bool = False, around: Surroundings | None = None
    ) -> None:
        """A program: no variable changes; what it is started with is a launch, unless it is a chore."""
        self.state.status = UNSURE
        # `--flag` where a command should stand: the lines before were ended by a comment.
        if self.quiet or (word_text(items[0]) or "").startswith("-"):
            return
        around = surroundings(self.state) if around is None else around
        seen = see_through(items, around)
        program = word_text(seen.items[0]) or ""
        name = program.rsplit("/", 1)[-1]
        if name in ("bash", "sh", "dash") and self._inner_script(seen.items, node, replaces):
            return
        wrappers = seen.wrappers
        inner, around = seen.items, seen.around
        if is_chore([word_text(item) for item in inner]):
            return
        if name in ENGINES:
            contained = container(inner, around, self.files)
            if contained is not None:
                inner, around = contained
                wrappers += (name,)
        self.launch(node, inner, around, wrappers, replaces)

    # --- command substitution -----------------------------------------------------------------------

    def output(self, part: CommandOutput) -> Text:
        outside = self.state
        self.state = outside.copy()
        try:
            text = pure_output(self, part)
        except (Died, Doubt):
            text = None
        finally:
            self.state = outside
        self.state.status = UNSURE
        if text is None:
            shown = from_latin(part.source)
            shown = shown if len(shown) <= 60 else shown[:57] + "…"
            return unknown(f"the output of {shown}", part.line)
        return text


__all__ = ["Gap", "Runner", "to_latin"]


def _first_words(item: Item) -> list[str]:
    if isinstance(item, Field):
        return list(texts.alternatives(item.text) or ())
    firsts = [choice[0] for choice in item.choices or () if choice]
    return [texts.known(field.text) or "" for field in firsts]


def _runs_command(assignment: Assignment) -> bool:
    """Whether the status is that of a command in the value."""
    words = [assignment.value] if isinstance(assignment.value, Word) else [e.word for e in assignment.value]
    return any(isinstance(part, CommandOutput) for word in words for part in word.parts) or any(
        getattr(part, "argument", None) is not None for word in words for part in word.parts
    )
