"""What one file sets twice: the first of them has no effect, and mostly was forgotten."""

from __future__ import annotations

from collections.abc import Iterator

from knowngood.model import Known
from knowngood.syntax.systemd.directives import KIND_OF, SAME_AS
from knowngood.syntax.systemd.kinds import kind_of
from knowngood.syntax.systemd.lint import Lint
from knowngood.syntax.systemd.names import UnitName
from knowngood.syntax.systemd.spelled import spelled
from knowngood.syntax.systemd.text import Assignment, UnitText
from knowngood.syntax.systemd.wordlists import ENVIRONMENT, good_words, text_of


def twice(text: UnitText, unit: UnitName) -> Iterator[Lint]:
    """A remark on every line that a later one of the same file overrides, by that line."""
    last: dict[str, tuple[int, str]] = {}  # what is set → its line and value
    for assignment in text.assignments:
        directive = f"{assignment.section}.{assignment.directive}"
        if not assignment.text:
            gone = "$" if directive == "Service.Environment" else directive
            last = {name: place for name, place in last.items() if not name.startswith(gone)}
            continue
        for name, line, value in _set_by(assignment, directive, unit):
            earlier, before = last.get(name, (0, ""))
            if earlier and before != value:
                message = f"{name.lstrip('$').rpartition('.')[2]} is set again on line {line}, which counts."
                yield Lint(earlier, "set-twice", message, text.path)
            last[name] = (line, value)


def _set_by(assignment: Assignment, directive: str, unit: UnitName) -> Iterator[tuple[str, int, str]]:
    """What an assignment sets: itself, or the variables of Environment= (with a $ before their names)."""
    kind = kind_of(directive)
    value = spelled(directive, assignment.text, unit).value
    if kind is None or not isinstance(value, Known):
        return
    if KIND_OF[directive] == "environment":
        for word in good_words(assignment.text, ENVIRONMENT):
            name, equals, text = text_of(word).partition("=")
            if equals:
                yield f"${name}", assignment.line_at(word.start), text
    elif not kind.adds:
        yield SAME_AS.get(directive, directive), assignment.line, str(value.value)
