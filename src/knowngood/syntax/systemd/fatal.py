"""Assignments that systemd does not just ignore: at one of them it gives up the whole file.

Of a fragment that means that the unit isn't loaded; of a drop-in, that the lines below are not read.
Source: src/core/load-fragment.c (what returns -ENOEXEC), load-dropin.c.
"""

from __future__ import annotations

from dataclasses import replace

from knowngood.syntax.systemd.directives import KIND_OF
from knowngood.syntax.systemd.exec_text import read_commands
from knowngood.syntax.systemd.lint import Lint
from knowngood.syntax.systemd.names import UnitName
from knowngood.syntax.systemd.specifiers import expander
from knowngood.syntax.systemd.spelled import spelled
from knowngood.syntax.systemd.text import Assignment, UnitText
from knowngood.syntax.systemd.wordlists import spell_commands


def cut_short(text: UnitText, unit: UnitName) -> UnitText:
    """The text up to the first assignment at which systemd would stop, if there is one."""
    for index, assignment in enumerate(text.assignments):
        problem = _problem(assignment, unit)
        if problem is not None:
            refused = Lint(assignment.line, "refused", problem, assignment.path)
            taken = text.assignments[:index] + _taken(assignment, unit)
            kept = [lint for lint in text.lint if lint is not text.refused]
            return replace(text, assignments=taken, lint=(*kept, refused), refused=refused)
    return text


def _taken(assignment: Assignment, unit: UnitName) -> tuple[Assignment, ...]:
    """Of a line of several commands those before the bad one are taken all the same."""
    found = read_commands(assignment.text, expander(unit)).commands
    if KIND_OF.get(f"{assignment.section}.{assignment.directive}") != "command" or not found:
        return ()
    return (replace(assignment, text=spell_commands(found), marks=()),)


def _problem(assignment: Assignment, unit: UnitName) -> str | None:
    directive = f"{assignment.section}.{assignment.directive}"
    if not assignment.text and KIND_OF.get(directive) != "fatal_truth":
        return None
    refusal = spelled(directive, assignment.text, unit).refusal
    if not refusal:
        return None
    return f"systemd reads the file no further than here: {assignment.directive}= can't be this. {refusal}"
