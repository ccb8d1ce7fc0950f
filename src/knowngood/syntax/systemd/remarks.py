"""What is worth telling of a unit's directives: misspelt, misplaced, ignored, or not what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowngood.syntax.systemd.directives import HOMES, KIND_OF, SECTIONS
from knowngood.syntax.systemd.lint import Lint
from knowngood.syntax.systemd.text import Assignment
from knowngood.syntax.systemd.unit import Unit, spelled_or_none
from knowngood.syntax.systemd.wordlists import ENVIRONMENT, good_words, text_of

_EXPANSION = re.compile(r"\$\{?[A-Za-z_]")


def remarks(unit: Unit) -> Iterator[Lint]:
    """Remarks on every assignment that systemd reads, by file and line."""
    for text in unit.texts:
        for assignment in text.assignments:
            for code, message in _of(assignment, unit):
                yield Lint(assignment.line, code, message, assignment.path)


def _of(assignment: Assignment, unit: Unit) -> Iterator[tuple[str, str]]:
    section, name = assignment.section, assignment.directive
    directive = f"{section}.{name}"
    if section.startswith("X-") or name.startswith("X-"):
        return
    if section not in SECTIONS:
        yield "unknown-section", f"A service has no section [{section}]: systemd ignores {name}= here."
    elif directive not in KIND_OF:
        yield _stranger(section, name)
    elif KIND_OF[directive] == "obsolete":
        yield "obsolete", f"{name}= has no effect any more."
    elif assignment.text and spelled_or_none(directive, assignment.text, unit.name) is None:
        yield "ignored", f"systemd can't read this value of {name}=, and ignores the line."
    elif directive == "Service.Environment":
        yield from _of_environment(assignment)


def _stranger(section: str, name: str) -> tuple[str, str]:
    homes = [home for home in HOMES.get(name, ()) if home != section]
    if homes:
        return "misplaced", f"{name}= belongs to [{homes[0]}]: systemd ignores it in [{section}]."
    return "unknown-directive", f"systemd knows no {name}= in [{section}], and ignores it."


def _of_environment(assignment: Assignment) -> Iterator[tuple[str, str]]:
    for word in good_words(assignment.text, ENVIRONMENT):
        name, equals, value = text_of(word).partition("=")
        if not equals:
            yield (
                "no-assignment",
                "Environment= has a word without a =: systemd ignores it (is a quote missing?).",
            )
        elif _EXPANSION.search(value):
            yield "no-expansion", f"systemd expands nothing in Environment=: the $ stands in {name} as it is."
