"""Simple commands: functions, bash's own commands, sourced files and, at last, programs that are launched."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.builtins import Builtins
from knowngood.syntax.bash.containers import ENGINES, container
from knowngood.syntax.bash.control import Frame
from knowngood.syntax.bash.fields import Field, Gap, Item, Items, known_words
from knowngood.syntax.bash.launch import Launch
from knowngood.syntax.bash.nodes import Assignment, CommandOutput, Function, Program, Simple, Word
from knowngood.syntax.bash.output import pure_output
from knowngood.syntax.bash.parse import parse
from knowngood.syntax.bash.shell import Died, Doubt
from knowngood.syntax.bash.state import (
    DONE,
    UNSURE,
    Export,
    State,
    Variable,
    from_latin,
    join_states,
    to_latin,
)
from knowngood.syntax.bash.split import Words
from knowngood.syntax.bash.surroundings import Surroundings, surroundings, word_reading
from knowngood.syntax.bash.text import Text, unknown
from knowngood.syntax.bash.utilities import is_chore, is_program
from knowngood.syntax.bash.wrappers import WRAPPERS, see_through

MOST_LAUNCHES = 64
_SYNTAX = re.compile(r"[\\'\"`$&|;<>(){}*?\[\]~#!\n]")
_DECLARING = frozenset(["export", "declare", "typeset", "local", "readonly"])
# Commands of bash's own that set variables: a word that may be one of them makes everything doubtful.
_CHANGING = _DECLARING | frozenset(
    [
        "unset",
        "set",
        "shopt",
        "eval",
        "source",
        ".",
        "read",
        "mapfile",
        "readarray",
        "printf",
        "getopts",
        "let",
        "shift",
        "exit",
        "return",
        "break",
        "continue",
        "exec",
        "trap",
        "enable",
        "alias",
        "command",
        "builtin",
    ]
)


@dataclass(frozen=True, slots=True)
class Noted:
    """An assignment that the reading came by, and whether it certainly does."""

    node: Assignment
    certain: bool
    function: bool


class Runner(Builtins):
    """Reads a program to its end and collects what it launches."""

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        self.launches: list[Launch] = []
        self.noted: list[Noted] = []
        self.unread: tuple[str, int] | None = None
        self.broken: list[int] = []

    @property
    def launch_count(self) -> int:
        return len(self.launches)

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
                own.text, Export.YES, own.line, own.maybe_unset, own.presumed_unset, path=own.path
            )
        tainted = self.state.taint
        given = {name: self.state.variables[name] for name in saved}
        run()
        if self.state.taint is not tainted:
            return
        for name, variable in saved.items():
            if self.state.variables.get(name) is not given[name]:
                # A function that exports the name makes it lasting; one that assigns it doesn't.
                text = unknown("it was set within a command that it is a prefix of", node.line)
                self.state.variables[name] = Variable(text, Export.MIXED, node.line, maybe_unset=True)
            elif variable is None:
                self.state.variables.pop(name, None)
            else:
                self.state.variables[name] = variable

    # --- functions and other texts ------------------------------------------------------------------

    def call(self, name: str, node: Simple, items: Items) -> None:
        functions = self.state.functions[name]
        if len(self.calls) > 20 or len(functions) > 4:
            raise Doubt(f"the function {name} calls itself too deeply", node.line)

        def called(function: Function | None) -> Callable[[], None]:
            if function is None:
                return lambda: self.external(node, items)
            return lambda: self.run_in_frame(lambda: self.command(function.body), items[1:])

        if len(functions) == 1:
            called(functions[0])()
        else:
            self.ways([(called(function), False) for function in functions], node.line)

    def run_in_frame(self, run: Callable[[], None], positional: Items) -> None:
        """A function's body: its arguments and local variables end with it."""
        outer = self.state.positional
        self.state.positional = positional
        self.state.scopes.append({})
        frame = Frame()
        self.calls.append(frame)
        loops, self.loops = self.loops, []
        ended: State | None = None
        try:
            run()
            ended = self.state
        except Died:
            pass
        finally:
            self.calls.remove(frame)
            self.loops = loops
        for state in frame.returns:
            ended = state if ended is None else join_states(ended, state, "set under a condition", 0)
        if ended is None:
            raise Died
        self.state = ended
        self._leave_scope()
        self.state.positional = outer

    def _leave_scope(self) -> None:
        for name, variable in self.state.scopes.pop().items():
            self.state.variables[name] = variable

    def _eval(self, node: Simple, items: Items) -> None:
        words = known_words(items[1:])
        if words is not None:
            self._foreign_text(" ".join(words), node.line)
            return
        text = self.joined(items[1:], star=False)
        options = texts.alternatives(text)
        if options is not None:
            expected = texts.presumed(text)
            self.ways(
                [(lambda o=o: self._foreign_text(o, node.line), o == expected) for o in options],  # type: ignore[misc]
                node.line,
            )
            return
        self._eval_in_part(node, text)

    def _eval_in_part(self, node: Simple, text: Text) -> None:
        """A text with holes: a launch, if anything of it is known; and anything else may have happened."""
        if texts.starts_with(text):
            pieces = [piece for piece in text if isinstance(piece, str)]
            items: Items = (Gap("eval of what is not known", node.line),)
            if not any(_SYNTAX.search(piece) for piece in pieces):
                words = Words(" \t\n", node.line, None, False)
                words.soft(text, last=True)
                items = words.done()
            self.external(node, items)
        self.state.strangers = "eval of what is not known"
        raise Doubt("eval of what is not known", node.line)

    def _foreign_text(self, text: str, line: int) -> None:
        program = parse(text, first_line=line, extglob=self.state.option("extglob") is True)
        if program.error is not None:
            raise Doubt(f"eval of a text that is not understood: {program.error[1]}", line)
        self.foreign += 1
        try:
            for commands in program.lines:
                self.line(commands)
        finally:
            self.foreign -= 1

    def _source(self, node: Simple, items: Items) -> None:
        word = _text(items[1]) if len(items) > 1 else None
        path = None if word is None else from_latin(word)
        data = self.files.get(path) if path is not None else None
        self.state.status = UNSURE
        if path is None or data is None:
            shown = (
                f"it sources {path}, which was not read" if path else "it sources a file that is not known"
            )
            if not _activates(items[1:2]):
                self.state.strangers = shown
            raise Doubt(shown, node.line)
        program = parse(data.decode("latin-1"), extglob=self.state.option("extglob") is True)
        if program.error is not None:
            raise Doubt(f"{path} is not understood: {program.error[1]}", node.line)
        self._run_file(path, program, items[2:])

    def _run_file(self, path: str, program: Program, arguments: Items) -> None:
        if len(self.calls) > 20:
            raise Doubt("files source each other too deeply", 0)
        was, self.path = self.path, path
        outer = self.state.positional
        frame = Frame()
        self.calls.append(frame)
        if arguments:
            self.state.positional = arguments
        ended: State | None = None
        try:
            for commands in program.lines:
                self.line(commands)
            ended = self.state
        except Died:
            pass
        finally:
            self.calls.remove(frame)
            self.path = was
        for state in frame.returns:
            ended = state if ended is None else join_states(ended, state, "set under a condition", 0)
        if ended is None:
            raise Died
        self.state = ended
        if arguments:
            self.state.positional = outer

    # --- programs -----------------------------------------------------------------------------------

    def _command_word(self, node: Simple, items: Items) -> None:
        rest = items[1:]
        while rest and _text(rest[0]) in ("-p", "--"):
            rest = rest[1:]
        name = _text(rest[0]) if rest else None
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
        while rest and (option := _text(rest[0])) is not None and option.startswith("-") and len(option) > 1:
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
        if self.quiet:
            return
        around = surroundings(self.state) if around is None else around
        seen = see_through(items, around)
        program = _text(seen.items[0]) or ""
        name = program.rsplit("/", 1)[-1]
        if name in ("bash", "sh", "dash") and self._inner_script(seen.items, node, replaces):
            return
        wrappers = seen.wrappers
        inner, around = seen.items, seen.around
        if is_chore([_text(item) for item in inner]):
            return
        if name in ENGINES:
            contained = container(inner, around, self.files)
            if contained is not None:
                inner, around = contained
                wrappers += (name,)
        self.launch(node, inner, around, wrappers, replaces)

    def _inner_script(self, items: Items, node: Simple, replaces: bool) -> bool:
        """`bash -c 'text'`: the programs that the text launches are launched by the script."""
        words = [_text(item) for item in items]
        at = 1
        while (
            at < len(words) and words[at] is not None and re.fullmatch(r"-[a-z]*c|-[leux]+", words[at] or "")
        ):
            at += 1
            if "c" in (words[at - 1] or ""):
                break
        else:
            return False
        text = words[at] if at < len(words) else None
        if text is None or self.foreign > 8 or "i" in "".join(w or "" for w in words[1:at]):
            return False
        program = parse(text, first_line=node.line)
        if program.error is not None or any("l" in (w or "") for w in words[1:at]):
            return False
        self._as_child(program, items[at + 2 :], node, replaces)
        return True

    def _as_child(self, program: Program, positional: Items, node: Simple, replaces: bool) -> None:
        """A shell of its own: it gets what is exported, and nothing that it sets comes back."""

        def run() -> None:
            state = self.state
            gone = [n for n, v in state.variables.items() if v.export is Export.NO and n != "IFS"]
            for name in gone:
                own = self.caller.variable(name)
                state.variables[name] = (
                    Variable(None, Export.NO) if own.text is not None or state.taint else own
                )
            state.variables = {
                name: variable
                for name, variable in state.variables.items()
                if variable.items is None and variable.keyed is None
            }
            for name, variable in list(state.variables.items()):
                if variable.export is not Export.YES and variable.text is not None:
                    state.variables[name] = Variable(
                        unknown("it is exported under a condition", node.line),
                        variable.export,
                        variable.line,
                        maybe_unset=True,
                        presumed_unset=variable.export is Export.INHERITED,
                    )
            state.functions, state.options, state.scopes = {}, {}, []
            state.positional, state.getopts = positional, (1, 1)
            for commands in program.lines:
                self.line(commands)

        self.foreign += 1
        self.subshells -= replaces
        guarded, self.guarded = self.guarded, 0
        own_path, self.own_path = self.own_path, ""
        try:
            self.apart(run)
        finally:
            self.own_path = own_path
            self.foreign -= 1
            self.subshells += replaces
            self.guarded = guarded

    def launch(
        self, node: Simple, items: Items, around: Surroundings, wrappers: tuple[str, ...], replaces: bool
    ) -> None:
        found = Launch(
            argv=tuple(word_reading(item, self.path) for item in items),
            exec=replaces and not self.subshells and not self.background,
            line=node.line,
            background=self.background,
            conditional=bool(self.doubts or self.lasting_doubts),
            env=around.given,
            env_open=around.open,
            unexported=around.unexported,
            inherits=around.inherits,
            path=self.path,
            start=node.start if self.spans_are_ours else None,
            top=self.top,
            wrappers=wrappers,
            spans=tuple(item.span if isinstance(item, Field) else None for item in items),
        )
        if found in self.launches:
            return
        if len(self.launches) >= MOST_LAUNCHES:
            self.unread = self.unread or ("more launches than can be told", node.line)
            return
        self.launches.append(found)

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
        if text is None:
            shown = from_latin(part.source)
            shown = shown if len(shown) <= 60 else shown[:57] + "…"
            return unknown(f"the output of {shown}", part.line)
        return text


def _activates(items: Items) -> bool:
    """Whether the file that is sourced is a virtual environment's, which defines but `deactivate`."""
    item = items[0] if items else None
    last = item.text[-1] if isinstance(item, Field) and item.text else None
    return isinstance(last, str) and last.endswith("bin/activate")


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


def _text(item: Item) -> str | None:
    return texts.known(item.text) if isinstance(item, Field) else None


__all__ = ["Gap", "Runner", "to_latin"]
