"""Functions, `eval` and sourced files: commands that stand elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.builtins import Builtins
from knowngood.syntax.bash.control import Frame
from knowngood.syntax.bash.fields import Field, Gap, Items, known_words, word_text
from knowngood.syntax.bash.join import join_states
from knowngood.syntax.bash.nodes import Function, Program, Simple
from knowngood.syntax.bash.parse import parse
from knowngood.syntax.bash.shell import Died, Doubt
from knowngood.syntax.bash.split import Words
from knowngood.syntax.bash.state import (
    UNSURE,
    State,
    from_latin,
)
from knowngood.syntax.bash.surroundings import Surroundings
from knowngood.syntax.bash.text import Text

_SYNTAX = re.compile(r"[\\'\"`$&|;<>(){}*?\[\]~#!\n]")


class Calls(Builtins):
    """Runs a function's body, a text or a file in the present shell."""

    def external(
        self, node: Simple, items: Items, *, replaces: bool = False, around: Surroundings | None = None
    ) -> None:
        raise NotImplementedError

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
        word = word_text(items[1]) if len(items) > 1 else None
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


def _activates(items: Items) -> bool:
    """Whether the file that is sourced is a virtual environment's, which defines but `deactivate`."""
    item = items[0] if items else None
    last = item.text[-1] if isinstance(item, Field) and item.text else None
    return isinstance(last, str) and last.endswith("bin/activate")
