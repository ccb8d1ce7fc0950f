"""What is worth telling of a unit's directives: misspelt, misplaced, ignored, or not what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from knowngood.syntax.systemd.directives import HOMES, KIND_OF, SECTIONS
from knowngood.syntax.systemd.envfile import VALID_NAME
from knowngood.syntax.systemd.exec_text import read_commands
from knowngood.syntax.systemd.kinds import KINDS
from knowngood.syntax.systemd.lint import MOST_REMARKS, Lint
from knowngood.syntax.systemd.names import UnitName
from knowngood.syntax.systemd.specifiers import BadSpecifierError, UnknownSpecifierError, expander
from knowngood.syntax.systemd.spelled import spelled
from knowngood.syntax.systemd.text import Assignment, UnitText
from knowngood.syntax.systemd.twice import twice
from knowngood.syntax.systemd.utf8 import is_valid
from knowngood.syntax.systemd.wordlists import ENVIRONMENT, NAMES, text_of
from knowngood.syntax.systemd.words import BadWordError, words

_EXPANSION = re.compile(r"\$\{?[A-Za-z_]")
_BY_WORDS = {"environment": ENVIRONMENT, "names_or_pairs": ENVIRONMENT, "names": NAMES}


def remarks(texts: Iterable[UnitText], unit: UnitName) -> Iterator[Lint]:
    """Remarks on every assignment that systemd reads, by file and line."""
    for text in texts:
        yield from islice(_of_text(text, unit), MOST_REMARKS)


def _of_text(text: UnitText, unit: UnitName) -> Iterator[Lint]:
    yield from _of_sections(text)
    yield from twice(text, unit)
    for assignment in text.assignments:
        for offset, code, message in _of(assignment, unit):
            yield Lint(assignment.line_at(offset), code, message, assignment.path)


def _of_sections(text: UnitText) -> Iterator[Lint]:
    for name, line in text.sections:
        if name not in SECTIONS and not name.startswith("X-"):
            message = f"A service has no section [{name}]: systemd ignores all lines of it."
            yield Lint(line, "unknown-section", message, text.path)


def _of(assignment: Assignment, unit: UnitName) -> Iterator[tuple[int, str, str]]:
    section, name = assignment.section, assignment.directive
    directive = f"{section}.{name}"
    if section not in SECTIONS or name.startswith("X-"):
        return
    kind = KIND_OF.get(directive)
    if kind is None:
        yield (0, *_stranger(section, name))
    elif kind == "obsolete":
        yield 0, "obsolete", f"{name}= has no effect any more."
    elif not assignment.text:
        yield from _of_nothing(name, kind)
    elif kind in _BY_WORDS:
        yield from _of_words(assignment, kind, unit)
    elif kind == "command":
        yield from _of_commands(assignment, unit)
    elif spelled(directive, assignment.text, unit).value is None:
        yield 0, "ignored", f"systemd can't read this value of {name}=, and ignores the line."


def _of_nothing(name: str, kind: str) -> Iterator[tuple[int, str, str]]:
    if KINDS[kind].empty == "unsure":
        yield 0, "empty", f"An empty {name}= resets nothing in most versions of systemd."
    elif KINDS[kind].empty == "kept" and not KINDS[kind].adds:
        yield 0, "ignored", f"An empty {name}= resets nothing: systemd ignores the line."


def _stranger(section: str, name: str) -> tuple[str, str]:
    homes = [home for home in HOMES.get(name, ()) if home != section]
    if homes:
        return "misplaced", f"{name}= belongs to [{homes[0]}]: systemd ignores it in [{section}]."
    return "unknown-directive", f"systemd knows no {name}= in [{section}], and ignores it."


def _of_words(assignment: Assignment, kind: str, unit: UnitName) -> Iterator[tuple[int, str, str]]:
    """Environment=, PassEnvironment= and UnsetEnvironment=, word by word."""
    at = 0
    try:
        for word in words(assignment.text.encode(), _BY_WORDS[kind]):
            at = word.after or at
            for code, message in _of_word(text_of(word), kind, unit):
                yield word.start, code, message
    except BadWordError as bad:
        yield at, "ignored", f"There is {bad}: systemd ignores the line from here on."


def _of_word(text: str, kind: str, unit: UnitName) -> Iterator[tuple[str, str]]:
    try:
        text = expander(unit)(text)
    except UnknownSpecifierError:
        return
    except BadSpecifierError as bad:
        yield "ignored", f"{bad}: systemd ignores the word."
        return
    name, equals, value = text.partition("=")
    if kind == "environment" and not equals:
        yield "ignored", "A word without a =: systemd ignores it (is a quote missing?)."
    elif not VALID_NAME.match(name) or (kind == "names" and equals):
        yield "ignored", "This does not begin with a variable's name: systemd ignores it."
    elif not is_valid(value.encode("utf-8", "surrogateescape")):
        yield "ignored", f"The value of {name} is not UTF-8: systemd ignores it."
    elif kind == "environment" and _EXPANSION.search(value):
        yield "no-expansion", f"systemd expands nothing in Environment=: the $ stands in {name} as it is."


def _of_commands(assignment: Assignment, unit: UnitName) -> Iterator[tuple[int, str, str]]:
    found = read_commands(assignment.text, expander(unit))
    for offset in found.odd:
        yield offset, "unknown-escape", "A backslash begins no escape here: systemd leaves it as it stands."
    if found.problem:
        yield 0, "ignored", f"systemd takes no command from here on. {found.problem}"
