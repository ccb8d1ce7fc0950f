"""A unit as systemd would load it: fragment and drop-ins merged, resets done, what it ignores left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from knowngood.model import ABSENT, Known, Reading, Unknown, Value
from knowngood.syntax.systemd.command import ExecCommand, commands
from knowngood.syntax.systemd.directives import ALSO_SETS, KIND_OF, SAME_AS
from knowngood.syntax.systemd.environment import environment
from knowngood.syntax.systemd.implied import implied
from knowngood.syntax.systemd.kinds import joined, kind_of
from knowngood.syntax.systemd.lint import Lint
from knowngood.syntax.systemd.names import UnitName
from knowngood.syntax.systemd.remarks import remarks
from knowngood.syntax.systemd.spelled import spelled
from knowngood.syntax.systemd.text import Assignment, UnitText
from knowngood.syntax.systemd.variables import Environment


@dataclass(frozen=True, slots=True)
class InForce:
    """An assignment that counts, with its canonical value."""

    assignment: Assignment
    value: Value

    @property
    def reading(self) -> Reading:
        """The raw text and where it stands."""
        return Reading(Known(self.assignment.text), self.assignment.line, self.assignment.path)


@dataclass(frozen=True)
class Unit:
    """What fragment and drop-ins come to. `texts` are in systemd's order of merging.

    `refused` is why systemd does not load the unit at all, or why it was not read; all its values are unknown
    then.
    """

    name: UnitName
    texts: tuple[UnitText, ...] = field(repr=False)
    refused: Lint | None = None

    @cached_property
    def lint(self) -> tuple[Lint, ...]:
        """Remarks on every line that systemd ignores, refuses, or reads otherwise than it was meant."""
        found = (*(lint for text in self.texts for lint in text.lint), *remarks(self.texts, self.name))
        return found if self.refused is None or self.refused in found else (*found, self.refused)

    def lines(self, section: str, directive: str) -> tuple[Reading, ...]:
        """The assignments in force, after resets, without those that systemd ignores: raw text and place."""
        return tuple(entry.reading for entry in self.in_force(f"{section}.{directive}"))

    def value(self, section: str, directive: str) -> Reading:
        """The effective value, canonically spelled; Absent where nothing sets it, Unknown if not certain."""
        if self.refused is not None:
            return Reading(Unknown(_why(self.refused)), self.refused.line, self.refused.path)
        entries = self.in_force(f"{section}.{directive}")
        value = _joined(f"{section}.{directive}", entries)
        if section == "Service":
            value = implied(directive, value, self._own_value)
        if not entries:
            return Reading(value)
        return Reading(value, entries[-1].assignment.line, entries[-1].assignment.path)

    def _own_value(self, name: str) -> Value:
        return _joined(f"Service.{name}", self.in_force(f"Service.{name}"))

    def all_values(self) -> Mapping[str, tuple[Reading, ...]]:
        """Every directive that anything sets: "Service.LimitNOFILE" → its assignments in force, raw."""
        return {
            directive: tuple(entry.reading for entry in self.in_force(directive))
            for directive in self._assigned
            if self.in_force(directive)
        }

    def environment(
        self, files: Mapping[str, bytes | None] | None, *, base: Mapping[str, Value] | None = None
    ) -> Environment:
        """The environment that the unit's processes start with; see environment.py."""
        return environment(self, files, base)

    def exec_start(self, env: Environment | None = None) -> tuple[ExecCommand, ...]:
        """The commands of ExecStart=, in order; see command.py.

        `env` is what variables expand to; without it, what the unit itself says of them counts as far as no
        environment file may change it.
        """
        return self.commands("ExecStart", env)

    def commands(self, directive: str, env: Environment | None = None) -> tuple[ExecCommand, ...]:
        """The same for ExecStartPre=, ExecReload= and the like."""
        if self.refused is not None:
            return ()
        given = environment(self, None, None) if env is None else env
        found = [
            commands(entry.assignment, self.name, given) for entry in self.in_force(f"Service.{directive}")
        ]
        return tuple(command for some in found for command in some)

    def in_force(self, directive: str) -> tuple[InForce, ...]:
        """The assignments of `Section.Directive` that count."""
        return self._in_force.get(SAME_AS.get(directive, directive), ())

    @cached_property
    def _assigned(self) -> tuple[str, ...]:
        return tuple(self._in_force)

    @cached_property
    def _in_force(self) -> dict[str, tuple[InForce, ...]]:
        found: dict[str, list[InForce]] = {}
        for text in self.texts:
            for assignment in text.assignments:
                written = f"{assignment.section}.{assignment.directive}"
                if written not in KIND_OF:
                    continue
                own = SAME_AS.get(written, written)
                for directive in (own, *ALSO_SETS.get(own, ())):
                    _enter(found.setdefault(directive, []), directive, assignment, self.name)
        return {directive: tuple(entries) for directive, entries in found.items() if entries}


def _joined(directive: str, entries: Sequence[InForce]) -> Value:
    """What the lines in force come to."""
    texts = []
    for entry in entries:
        if not isinstance(entry.value, Known):
            return entry.value
        texts.append(str(entry.value.value))
    return Known(joined(directive, texts)) if texts else ABSENT


def _enter(entries: list[InForce], directive: str, assignment: Assignment, unit: UnitName) -> None:
    kind = kind_of(directive)
    if kind is None:
        return
    if not assignment.text:
        if kind.empty == "reset":
            entries.clear()
        elif kind.empty == "unsure" and entries:
            reason = f"whether an empty {assignment.directive}= does anything depends on systemd's version"
            entries[:] = [InForce(assignment, Unknown(reason))]
        return
    value = spelled(directive, assignment.text, unit).value
    if value is None:
        return
    if not kind.adds:
        entries.clear()
    entries.append(InForce(assignment, value))


def _why(refused: Lint) -> str:
    return (
        refused.message
        if refused.code == "too-large"
        else f"systemd would refuse the unit: {refused.message}"
    )


def merge(name: str, fragment: UnitText | None, dropins: Sequence[UnitText]) -> Unit:
    """Put the texts of a unit together."""
    unit_name = UnitName.of(name)
    texts = (*(() if fragment is None else (fragment,)), *dropins)
    unread = [text.unread for text in texts if text.unread is not None]
    refused = None if fragment is None else fragment.refused
    return Unit(unit_name, texts, unread[0] if unread else refused)
