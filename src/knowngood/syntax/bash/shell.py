"""What expansion and commands share: the state, the budget, and how variables are set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from knowngood.syntax.bash.fields import Field, Gap, Items
from knowngood.syntax.bash.nodes import Word
from knowngood.syntax.bash.parse import Parser
from knowngood.syntax.bash.scan import BadSyntax
from knowngood.syntax.bash.state import Caller, Export, State, Variable
from knowngood.syntax.bash.text import Text, concat, known, lift, unknown

MOST_STEPS = 12_000
_ATTRIBUTED = frozenset("ilu")


class Died(Exception):
    """This path of the script ends here: bash exits."""


class Left(Died):
    """It goes on after a loop or a function, which knows."""


class Doubt(Exception):
    """Bash's behaviour from here on is not known; `fails`: it stops with an error, and may not go on."""

    def __init__(self, reason: str, line: int, *, fails: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.fails = fails


class Exhausted(Exception):
    """The script is too long to be followed within the budget."""


class Shell:
    """One reading of a script. `path` is the file that is being read, ours or a sourced one."""

    def __init__(self, caller: Caller, state: State, path: str, files: Mapping[str, bytes]) -> None:
        self.caller = caller
        self.state = state
        self.path = path
        self.own_path = path
        self.files = files
        self.steps = 0
        self.doubts = 0  # within a way that may not be gone
        self.lasting_doubts = 0  # bash may have stopped before
        self.touched: set[str] = set()  # names that were set or declared
        self.foreign = 0  # within a text that is no file's: eval, bash -c

    def step(self, cost: int = 1) -> None:
        self.steps += cost
        if self.steps > MOST_STEPS:
            raise Exhausted

    def may_die(self, option: str) -> None:
        """Bash exits here if the option is set; where that is not known, what follows may not be reached."""
        if self.state.option(option) is True:
            raise Died
        self.lasting_doubts += self.state.option(option) is None

    def may_fail(self) -> None:
        """Bash may stop here with an error; what builds on this keeps the state for the next line."""
        raise NotImplementedError

    @property
    def spans_are_ours(self) -> bool:
        """Whether offsets are offsets into the script itself."""
        return self.path == self.own_path and self.foreign == 0

    def words_of(self, source: str, line: int) -> Word:
        """A text that stands in brackets, as an expression's words."""
        scanner = Parser(source, first_line=line)
        try:
            return scanner.quoted_word(source, line, escapable='$`"\\')
        except BadSyntax as error:
            raise Doubt(error.message, error.line) from None

    # --- setting variables --------------------------------------------------------------------------

    def assign(self, name: str, text: Text, line: int, *, append: bool = False) -> None:
        """`name=text` or `name+=text`: an exported name stays exported, with `set -a` all are."""
        target = self.state.resolve(name)
        if target is None:
            raise Doubt(f"{name} refers to a name that is not known", line)
        self.touched.add(target)
        old = self.state.look_up(target)
        if "r" in old.attributes:
            raise Doubt(f"{target} is read-only", line, fails=True)
        if "?" in old.attributes:
            raise Doubt(f"{target} may be read-only", line, fails=True)
        if old.keyed is not None or "A" in old.attributes:
            raise Doubt(f"{target} is an associative array", line)
        if old.items is not None:
            self._set_items(target, old, 0, text, line, append)
            return
        if append:
            if "i" in old.attributes:
                text = unknown("a sum in an assignment", line, solid=True)
            elif old.maybe_unset:
                text = concat(unknown(f"what {target} was before is not known", line), text)
            else:
                text = concat(old.text or (), text)
        self.state.variables[target] = Variable(
            self._attributed(old, text, line), self._export_of(old), line, attributes=old.attributes,
            path=self.path,
        )  # fmt: skip

    def _export_of(self, old: Variable) -> Export:
        everything = self.state.option("allexport")
        if everything is None:
            return old.export if old.export is Export.YES else Export.MIXED
        return Export.YES if everything else old.export

    def _attributed(self, old: Variable, text: Text, line: int) -> Text:
        if not old.attributes & _ATTRIBUTED:
            return text
        if "i" in old.attributes:
            plain_number = known(text)
            if plain_number is not None and plain_number.isdigit() and not plain_number.startswith("0"):
                return text
            return unknown("an integer variable", line, solid=True)
        change = str.lower if "l" in old.attributes else str.upper
        return lift(lambda t: change(t) if t.isascii() else None, text)

    def assign_items(self, name: str, items: Items, line: int, *, append: bool = False) -> None:
        """`name=(…)` or `name+=(…)`."""
        old = self.state.look_up(name)
        if old.attributes & {"r", "n", "i", "l", "u", "?"}:
            raise Doubt(f"{name} is an array with attributes", line)
        if append:
            items = self._before(old, line) + items
        self.state.variables[name] = Variable(
            None, old.export, line, items=items, attributes=old.attributes, path=self.path
        )

    def _before(self, old: Variable, line: int) -> Items:
        if old.items is not None:
            return old.items
        if old.text is None:
            return ()
        if old.maybe_unset:
            return (Gap("what the array held before is not known", line),)
        return (Field(old.text, old.line),)

    def assign_element(
        self, name: str, at: int | None, text: Text, line: int, *, append: bool = False
    ) -> None:
        """`name[at]=text`; `at` is None where the index is not known."""
        old = self.state.look_up(name)
        if old.attributes & {"r", "n", "i", "l", "u", "?"} or old.keyed is not None:
            raise Doubt(f"{name} is an array with attributes", line)
        self._set_items(name, old, at, text, line, append)

    def _set_items(
        self, name: str, old: Variable, at: int | None, text: Text, line: int, append: bool
    ) -> None:
        items = list(self._before(old, line))
        reach = None if at is None else items[: at + 1]
        if at is None or reach is None or at < 0 or at > len(items) or any(isinstance(i, Gap) for i in reach):
            items = [Gap("an element was set that is not known", line)]
        elif at == len(items):
            items.append(Field(text, line))
        else:
            before = items[at]
            whole = concat(before.text, text) if append and isinstance(before, Field) else text
            items[at] = Field(whole, line)
        self.state.variables[name] = replace(
            old, text=None, items=tuple(items), line=line, maybe_unset=False, presumed_unset=False
        )

    def unset(self, name: str, line: int) -> None:
        target = self.state.resolve(name)
        if target is None:
            raise Doubt(f"{name} refers to a name that is not known", line)
        if self.state.look_up(target).attributes & {"r", "?"}:
            raise Doubt(f"{target} is read-only", line, fails=True)
        own = self.state.variables.get(target)
        temporary = own is not None and "t" in own.attributes
        if temporary or any(target in scope for scope in self.state.scopes):
            # What a local or a prefixed name uncovers when it is unset depends on where it was made.
            self.state.variables[target] = Variable(
                unknown("a local variable was unset", line), Export.MIXED, line, maybe_unset=True
            )
            return
        self.state.variables[target] = Variable(None, Export.NO, line, path=self.path)
