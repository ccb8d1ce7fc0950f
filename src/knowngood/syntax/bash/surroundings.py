"""The environment that a command is started with, from the shell's variables to Readings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from knowngood.model import ABSENT, Known, Reading, Unknown
from knowngood.syntax.argv import Partial
from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.fields import Field, Gap, Item
from knowngood.syntax.bash.state import OWNED, Export, State, Variable, from_latin
from knowngood.syntax.bash.text import Text, first_hole


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`given` are names whose value is told; `unexported` arrive only if the caller gives the name."""

    given: Mapping[str, Reading] = field(default_factory=dict)
    unexported: Mapping[str, Reading] = field(default_factory=dict)
    open: str | None = None
    inherits: bool = True

    def with_value(self, name: str, reading: Reading) -> Surroundings:
        rest = {key: value for key, value in self.unexported.items() if key != name}
        return replace(self, given={**self.given, name: reading}, unexported=rest)

    def without(self, name: str, line: int) -> Surroundings:
        return self.with_value(name, Reading(ABSENT, line))

    def cleared(self) -> Surroundings:
        """`env -i`: nothing at all."""
        return Surroundings(inherits=False)

    def opened(self, reason: str, names: Iterable[str] = ()) -> Surroundings:
        """A program in between may change anything; with `names` only these."""
        names = list(names)
        if not names:
            return Surroundings(open=reason, inherits=False)
        changed = self
        for name in names:
            changed = changed.with_value(name, Reading(Unknown(reason)))
        return changed


def surroundings(state: State) -> Surroundings:
    """What a command gets that is started in this state."""
    given: dict[str, Reading] = {}
    unexported: dict[str, Reading] = {}
    for name, variable in state.variables.items():
        if variable.items is not None or variable.keyed is not None or "n" in variable.attributes:
            if state.taint or _may_give(state, name):
                given[name] = Reading(ABSENT, variable.line, variable.path)  # arrays are never exported
        elif variable.text is None and "h" in variable.attributes:
            reading = Unknown(f"{name} is a local variable without a value")
            given[name] = Reading(reading, variable.line, variable.path)
        elif name in OWNED and variable.export is Export.NO:
            continue
        elif name in OWNED:
            given[name] = Reading(Unknown(f"bash sets {name} by itself"), variable.line, variable.path)
        elif variable.export is Export.YES:
            given[name] = reading_of(variable)
        elif variable.export is Export.INHERITED:
            unexported[name] = reading_of(variable)
        elif variable.export is not Export.NO:
            given[name] = _mixed(variable)
        elif state.taint or _may_give(state, name):
            given[name] = Reading(ABSENT, variable.line, variable.path)
    reason = None
    if state.taint is not None:
        reason = f"{state.taint[0]} (line {state.taint[1]})"
    return Surroundings(given, unexported, reason)


def _may_give(state: State, name: str) -> bool:
    return state.caller.variable(name).text is not None


def _mixed(variable: Variable) -> Reading:
    if variable.text is None:
        return Reading(ABSENT, variable.line, variable.path)
    if variable.presumed_unset or variable.export is Export.DOUBTED:
        return Reading(ABSENT, variable.line, variable.path, default=True)
    if variable.export is Export.PRESUMED:
        told = reading_of(variable)
        return replace(told, default=True) if isinstance(told.value, Known) else told
    hole = first_hole(variable.text)
    reason = hole.reason if hole else "whether it is exported is not known"
    return Reading(Unknown(reason), variable.line, variable.path)


def reading_of(variable: Variable) -> Reading:
    """A variable's value as a Reading, its default marked."""
    if variable.text is None:
        return Reading(ABSENT, variable.line, variable.path)
    if variable.maybe_unset:
        told = texts.presumed(variable.text)
        hole = first_hole(variable.text)
        if variable.presumed_unset:
            return Reading(ABSENT, variable.line, variable.path, default=True)
        if told is None:
            reason = hole.reason if hole else "whether it is set is not known"
            return Reading(Unknown(reason), variable.line, variable.path)
        return Reading(Known(from_latin(told)), variable.line, variable.path, default=True)
    return replace(text_reading(variable.text, variable.line), path=variable.path)


def text_reading(text: Text, line: int, path: str = "") -> Reading:
    """A text as a Reading; the start of one that is not known is kept."""
    whole = texts.known(text)
    if whole is not None:
        return Reading(Known(from_latin(whole)), line, path)
    told = texts.presumed(text)
    if told is not None:
        return Reading(Known(from_latin(told)), line, path, default=True)
    hole = first_hole(text)
    reason = hole.reason if hole else ""
    return Partial(
        _unknown(reason, hole.line if hole else 0, line),
        line,
        path,
        start=from_latin(texts.starts_with(text)),
    )


def _unknown(reason: str, at: int, line: int) -> Unknown:
    return Unknown(f"{reason} (line {at})" if at and at != line else reason)


def word_reading(item: Item, path: str) -> Reading:
    """A word of a command line as a Reading; a gap as a Partial that may split."""
    if isinstance(item, Field):
        reading = text_reading(item.text, item.line, path)
        if isinstance(reading.value, Unknown):
            options = texts.alternatives(item.text)
            if options is not None and isinstance(reading, Partial):
                choices = tuple((Reading(Known(from_latin(option)), item.line, path),) for option in options)
                return replace(reading, choices=choices)
        return reading
    return _gap_reading(item, path)


def _gap_reading(gap: Gap, path: str) -> Reading:
    value = Unknown(gap.reason)
    choices = None
    if gap.choices is not None:
        ordered = gap.choices
        if gap.presumed is not None and gap.presumed in ordered:
            ordered = (gap.presumed, *(choice for choice in ordered if choice != gap.presumed))
        choices = tuple(tuple(word_reading(field, path) for field in choice) for choice in ordered)
    elif gap.presumed:
        # Words that stand there unless the caller says otherwise, and whatever the caller may say instead.
        expected = tuple(replace(word_reading(field, path), default=True) for field in gap.presumed)
        anything = Partial(value, gap.line, path, True, from_latin(gap.start), True)
        choices = (expected, (anything,))
        return Partial(value, gap.line, path, True, from_latin(gap.start), True, choices)
    return Partial(value, gap.line, path, gap.presumed is not None, from_latin(gap.start), True, choices)
