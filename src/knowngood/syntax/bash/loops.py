"""Loops: turn by turn while the condition is known, then all turns at once."""

from __future__ import annotations

from collections.abc import Callable

from knowngood.syntax.bash.control import Control, Frame
from knowngood.syntax.bash.fields import Field, Gap, only_fields, presumed_fields, why
from knowngood.syntax.bash.join import join_states
from knowngood.syntax.bash.nodes import (
    CountingFor,
    For,
    While,
)
from knowngood.syntax.bash.shell import Died
from knowngood.syntax.bash.state import (
    DONE,
    NOT_ZERO,
    UNSURE,
    State,
    Status,
    Variable,
    to_status,
)
from knowngood.syntax.bash.text import unknown

MOST_TURNS = 256
MOST_UNROLLED = 64


class Loops(Control):
    """Every loop ends here: by its condition, by a state that repeats, or by what all turns keep."""

    def loop_command(self, node: While | For | CountingFor) -> None:
        match node:
            case While():
                self._while(node)
            case For():
                self._for(node)
            case CountingFor():
                self._counting_for(node)

    def _while(self, node: While) -> None:
        def test() -> Status:
            status = self.under_condition(lambda: self.commands(node.condition))
            return status.inverted() if node.until else status

        self.loop(test, lambda: self.commands(node.body), node.line)

    def _counting_for(self, node: CountingFor) -> None:
        self.arithmetic(node.first)

        def test() -> Status:
            if not node.condition.parts or node.condition.literal == "":
                return DONE
            value = self.arithmetic(node.condition)
            return to_status(*(None if v is None else v != 0 for v in (value.certain, value.presumed)))

        def body() -> None:
            self.commands(node.body)

        def turn_on() -> None:
            self.arithmetic(node.step)

        self.loop(test, body, node.line, turn_on)

    def loop(
        self,
        test: Callable[[], Status],
        body: Callable[[], None],
        line: int,
        turn_on: Callable[[], None] | None = None,
    ) -> None:
        """Turns as long as the condition is known; from where it isn't, all turns at once."""
        frame = Frame()
        self.loops.append(frame)
        try:
            self._turns(frame, test, body, line, turn_on)
        except Died:
            if not frame.breaks:
                raise
            self.state = frame.breaks.pop()
        finally:
            self.loops.remove(frame)
        for state in frame.breaks:
            self.state = join_states(self.state, state, "set in a loop", line)

    def _turns(
        self,
        frame: Frame,
        test: Callable[[], Status],
        body: Callable[[], None],
        line: int,
        turn_on: Callable[[], None] | None,
    ) -> None:
        def turn() -> None:
            self.one_turn(frame, body, line)
            if turn_on is not None:
                turn_on()

        for _ in range(MOST_TURNS):
            self.step()
            before = self.state.copy()
            status = test()
            if status.truth is False:
                self.state.status = DONE
                return
            if status.truth is None:
                break
            turn()
            if self.state.same_as(before):
                # The same again for ever: only a break leads on.
                raise Died
        self._all_turns(test, turn, line)

    def one_turn(self, frame: Frame, body: Callable[[], None], line: int) -> None:
        try:
            body()
        except Died:
            if not frame.continues:
                raise
            self.state = frame.continues.pop()
        while frame.continues:
            self.state = join_states(self.state, frame.continues.pop(), "set in a loop", line)

    def _all_turns(self, test: Callable[[], Status], turn: Callable[[], None], line: int) -> None:
        """Any number of turns from here, none included: a state that each of them keeps."""
        entry = self.state.copy()
        expected = test().presumed_truth
        self.state = entry.copy()
        head = entry
        for attempt in range(8):
            self.state = head.copy()
            self.quiet += 1
            try:
                test()
                turn()
            except Died:
                break
            finally:
                self.quiet -= 1
            after = join_states(head, self.state, "set in a loop", line)
            if after.same_as(head):
                break
            head = after if attempt < 2 else widened(head, after, line)
        else:
            head.forget("set in a loop that is not understood", line)
        self.state = head.copy()
        test()

        def go_round() -> None:
            turn()
            raise Died

        self.ways([(lambda: None, expected is False), (go_round, expected is True)], line)
        self.state = join_states(entry, self.state, "set in a loop", line, prefer_one=expected is False)
        self.state.status = UNSURE

    def _for(self, node: For) -> None:
        items = self.state.positional if node.words is None else self.fields(node.words)
        fields = only_fields(items)
        if node.select or fields is None or len(fields) > MOST_UNROLLED:
            self._for_unknown(node, items)
            return
        frame = Frame()
        self.loops.append(frame)
        if not fields:
            self.state.status = DONE
        try:
            for item in fields:
                self.step()
                self.assign(node.name, item.text, item.line or node.line)
                self.one_turn(frame, lambda: self.commands(node.body), node.line)
        except Died:
            if not frame.breaks:
                raise
            self.state = frame.breaks.pop()
        finally:
            self.loops.remove(frame)
        for state in frame.breaks:
            self.state = join_states(self.state, state, "set in a loop", node.line)

    def _for_unknown(self, node: For, items: tuple[Field | Gap, ...]) -> None:
        reason, line = why(items) if items else ("chosen by a person", node.line)
        presumed_none = presumed_fields(items) == () and not node.select

        def body() -> None:
            self.assign(node.name, unknown(reason, line), node.line)
            self.commands(node.body)

        status = Status(None, NOT_ZERO if presumed_none else None)
        self.loop(lambda: status, body, node.line)


def widened(head: State, after: State, line: int) -> State:
    """What still changes from turn to turn is given up."""
    for name in dict.fromkeys([*head.variables, *after.variables]):
        if head.variables.get(name) != after.variables.get(name):
            old = after.look_up(name)
            after.variables[name] = Variable(
                None if old.items is not None else unknown("set in a loop", line),
                old.export,
                line,
                maybe_unset=old.items is None,
                items=None if old.items is None else (Gap("set in a loop", line),),
                attributes=old.attributes,
            )
    if head.positional != after.positional:
        after.positional = (Gap("shifted in a loop", line),)
    if head.getopts != after.getopts:
        after.getopts = (0, 0)
    return after
