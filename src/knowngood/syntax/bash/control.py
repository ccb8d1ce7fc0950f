"""Control flow: lists, branches, loops and functions, with undecided ways joined.

A way that ends (exit, return, break, exec) raises `Died`; what goes on elsewhere was put aside before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.conditions import Conditions
from knowngood.syntax.bash.fields import Gap, Items
from knowngood.syntax.bash.join import join_states
from knowngood.syntax.bash.nodes import (
    AndOr,
    Arithmetic,
    Case,
    CaseArm,
    Command,
    Coprocess,
    CountingFor,
    For,
    Function,
    Group,
    If,
    Item,
    Pipeline,
    Simple,
    Test,
    While,
)
from knowngood.syntax.bash.nodes import Sequence as Commands
from knowngood.syntax.bash.shell import Died, Doubt, Left
from knowngood.syntax.bash.state import (
    DONE,
    NOT_ZERO,
    UNSURE,
    Caller,
    State,
    Status,
    to_status,
)
from knowngood.syntax.bash.text import unknown

MOST_DEPTH = 60

_Way: TypeAlias = tuple[Callable[[], None], bool]


@dataclass(slots=True, eq=False)
class Frame:
    """Where states wait that left a loop or a function early."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    returns: list[State] = field(default_factory=list)


class Control(Conditions):
    """Runs commands of every kind but the simple one."""

    def __init__(self, caller: Caller, positional: Items, path: str, files: Mapping[str, bytes]) -> None:
        super().__init__(caller, State(caller, positional), path, files)
        self.quiet = 0  # trying a loop out: launches are not told
        self.guarded = 0  # `set -e` does not look
        self.subshells = 0
        self.background = False
        self.commands_deep = 0
        self.top: int | None = None  # where the outermost command stands
        self.loops: list[Frame] = []
        self.calls: list[Frame] = []
        self.abandoned: list[State] = []
        self.taints: list[tuple[str, int]] = []

    def simple(self, node: Simple) -> None:
        raise NotImplementedError

    def loop_command(self, node: While | For | CountingFor) -> None:
        raise NotImplementedError

    @property
    def launch_count(self) -> int:
        raise NotImplementedError

    # --- lists --------------------------------------------------------------------------------------

    def commands(self, node: Commands) -> None:
        for item in node.items:
            self.item(item)

    def item(self, item: Item) -> None:
        if not self.commands_deep and self.spans_are_ours:
            self.top = item.start
        if not item.background:
            self.command(item.command)
            return
        was, self.background = self.background, True
        self.apart(lambda: self.command(item.command))
        self.background = was
        self.state.status = DONE

    def command(self, node: Command) -> None:
        self.step()
        self.commands_deep += 1
        if self.commands_deep > MOST_DEPTH:
            raise Doubt("nested too deeply to be followed", 0)
        try:
            self._command(node)
        finally:
            self.commands_deep -= 1

    def _command(self, node: Command) -> None:
        try:
            match node:
                case Simple():
                    self.simple(node)
                case Function():
                    self.state.functions[node.name] = (node,)
                    self.state.status = DONE
                case AndOr():
                    self._and_or(node)
                    return
                case Pipeline():
                    self._pipeline(node)
                case Group(subshell=True):
                    self.apart(lambda: self.commands(node.body))
                case Group():
                    self.commands(node.body)
                    return
                case If():
                    self._if(node, 0)
                    return
                case While() | For() | CountingFor():
                    self.loop_command(node)
                    return
                case Case():
                    self._case(node)
                    return
                case Arithmetic():
                    value = self.arithmetic(node.expression)
                    self.state.status = to_status(
                        *(None if v is None else v != 0 for v in (value.certain, value.presumed))
                    )
                case Test():
                    self.state.status = to_status(*self.condition(node.condition))
                case Coprocess():
                    was, self.background = self.background, True
                    self.apart(lambda: self.command(node.body))
                    self.background = was
                    self.state.status = DONE
        except Doubt as doubt:
            self.give_up(doubt)
        self.exit_on_error()

    def give_up(self, doubt: Doubt) -> None:
        """What the command did is not known: from here on any variable may be anything."""
        if not self.quiet:
            self.taints.append((doubt.reason, doubt.line))
        self.state.forget(doubt.reason, doubt.line)
        self.state.status = UNSURE
        if doubt.fails:
            self.may_fail()

    def may_fail(self) -> None:
        """Bash may drop the rest of the line that it read, however deep in it it is."""
        self.lasting_doubts += 1
        state = self.state.copy()
        state.scopes = []
        state.status = UNSURE
        if self.calls:
            state.positional = (Gap("a command failed within a function", 0),)
        self.abandoned.append(state)

    def line(self, node: Commands) -> None:
        """Commands as bash reads them, a line at a time: after an error it goes on with the next."""
        try:
            self.commands(node)
        except Died:
            if not self.abandoned:
                raise
            self.state = self.abandoned[-1].copy()
        for state in self.abandoned:
            self.state = join_states(self.state, state, "a command before may have failed", 0)

    def exit_on_error(self) -> None:
        """`set -e`."""
        certain = self.state.status.certain
        if certain and not self.guarded:
            self.may_die("errexit")

    # --- ways ---------------------------------------------------------------------------------------

    def ways(self, ways: Sequence[_Way], line: int) -> None:
        """Goes each way from here and joins what comes out. A way marked True is the presumed one."""
        start = self.state
        self.step(1 + len(start.variables) // 8)
        ends: list[tuple[State, bool]] = []
        launched = self.launch_count
        exits_launched = False
        for way, expected in ways:
            self.state = start.copy()
            self.doubts += not expected
            try:
                way()
                ends.append((self.state, expected))
            except Left:
                pass
            except Died:
                exits_launched |= self.launch_count > launched
            finally:
                self.doubts -= not expected
        # Either that launch or what follows.
        self.lasting_doubts += exits_launched
        if not ends:
            raise Died
        ends.sort(key=lambda end: not end[1])
        state, expected = ends[0]
        self.step(sum(_size(start, other) for other, _ in ends) // 8)
        for other, _ in ends[1:]:
            state = join_states(state, other, "set under a condition", line, prefer_one=expected)
        self.state = state

    def apart(self, run: Callable[[], None]) -> None:
        """In a subshell: nothing that it sets comes back."""
        outside = self.state
        loops, self.loops = self.loops, []
        calls, self.calls = self.calls, []
        abandoned, self.abandoned = self.abandoned, []
        self.subshells += 1
        self.state = outside.copy()
        try:
            run()
            status = self.state.status
        except Died:
            status = UNSURE
        finally:
            self.subshells -= 1
            self.loops = loops
            self.calls = calls
            self.abandoned = abandoned
            self.state = outside
        self.state.status = status

    def under_condition(self, run: Callable[[], None]) -> Status:
        """Runs what decides something; `set -e` does not look at it."""
        self.guarded += 1
        try:
            run()
        finally:
            self.guarded -= 1
        return self.state.status

    def _and_or(self, node: AndOr) -> None:
        status = self.under_condition(lambda: self.command(node.left))
        wanted = node.operator == "&&"
        if status.truth is wanted:
            self.command(node.right)
        elif status.truth is None:
            expected = status.presumed_truth

            def stay() -> None:
                self.state.status = Status(NOT_ZERO, NOT_ZERO) if wanted else DONE

            self.ways(
                [
                    (lambda: self.command(node.right), expected is wanted),
                    (stay, expected is (not wanted)),
                ],
                _line(node.right),
            )

    def _pipeline(self, node: Pipeline) -> None:
        if len(node.commands) == 1:
            self.under_condition(lambda: self.command(node.commands[0]))
            self.state.status = self.state.status.inverted() if node.negated else self.state.status
            return
        if self.state.option("lastpipe") is not False:
            raise Doubt("lastpipe is set: a pipeline's end runs in the shell itself", node.line)
        for command in node.commands:
            self.apart(lambda command=command: self.command(command))  # type: ignore[misc]
        if self.state.option("pipefail") is not False:
            self.state.status = UNSURE
        if node.negated:
            self.state.status = self.state.status.inverted()

    # --- branches -----------------------------------------------------------------------------------

    def _if(self, node: If, arm: int) -> None:
        if arm == len(node.arms):
            if node.otherwise is None:
                self.state.status = DONE
            else:
                self.commands(node.otherwise)
            return
        condition, body = node.arms[arm]
        status = self.under_condition(lambda: self.commands(condition))
        if status.truth is None:
            expected = status.presumed_truth
            self.ways(
                [
                    (lambda: self.commands(body), expected is True),
                    (lambda: self._if(node, arm + 1), expected is False),
                ],
                node.line,
            )
        elif status.truth:
            self.commands(body)
        else:
            self._if(node, arm + 1)

    def _case(self, node: Case) -> None:
        subject = self.text(node.subject)
        if self.state.option("nocasematch") is not False:
            subject = unknown("letters' case is ignored", node.line)
        self._arms(node, subject, 0)

    def _arms(self, node: Case, subject: texts.Text, at: int) -> None:
        if at == len(node.arms):
            self.state.status = DONE
            return
        arm = node.arms[at]
        if arm.end != ";;":
            raise Doubt(f"a case arm that ends in {arm.end}", node.line)
        certain, expected = self._matches_arm(arm, subject)
        if certain is None:
            self.ways(
                [
                    (lambda: self._arm(arm), expected is True),
                    (lambda: self._arms(node, subject, at + 1), expected is False),
                ],
                node.line,
            )
        elif certain:
            self._arm(arm)
        else:
            self._arms(node, subject, at + 1)

    def _arm(self, arm: CaseArm) -> None:
        if not arm.body.items:
            self.state.status = DONE
        self.commands(arm.body)

    def _matches_arm(self, arm: CaseArm, subject: texts.Text) -> tuple[bool | None, bool | None]:
        options = texts.alternatives(subject)
        told = texts.presumed(subject, lax=True)
        certains: list[bool | None] = []
        expecteds: list[bool | None] = []
        for word in arm.patterns:
            certain, expected = self.pattern(word, extglob=self.state.option("extglob") is not False)
            if word.bare == "*":
                return True, True
            answers = {certain.matches(option) for option in options} if options and certain else {None}
            certains.append(answers.pop() if len(answers) == 1 else None)
            expecteds.append(None if told is None or expected is None else expected.matches(told))
        return _any(certains), _any(expecteds)


def _size(before: State, after: State) -> int:
    """How much there is to join of what a way changed."""
    changed = [v for name, v in after.variables.items() if before.variables.get(name) is not v]
    return sum(1 + len(variable.items or ()) + len(variable.text or ()) for variable in changed)


def _any(answers: Sequence[bool | None]) -> bool | None:
    if True in answers:
        return True
    return None if None in answers else False


def _line(node: Command) -> int:
    return _line(node.right) if isinstance(node, AndOr) else node.line
