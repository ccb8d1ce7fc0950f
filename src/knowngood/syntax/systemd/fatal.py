"""Assignments that systemd does not just ignore: at one of them it gives up the whole file.

Of a fragment that means that the unit isn't loaded; of a drop-in, that the lines below are not read.
Source: src/core/load-fragment.c (what returns -ENOEXEC), load-dropin.c.
"""

from __future__ import annotations

from dataclasses import replace

from knowngood.syntax.systemd.kinds import kind_of
from knowngood.syntax.systemd.lint import Lint
from knowngood.syntax.systemd.names import UnitName
from knowngood.syntax.systemd.specifiers import UnknownSpecifierError, expander
from knowngood.syntax.systemd.text import Assignment, UnitText


def cut_short(text: UnitText, unit: UnitName) -> UnitText:
    """The text up to the first assignment at which systemd would stop, if there is one."""
    for index, assignment in enumerate(text.assignments):
        problem = _problem(assignment, unit)
        if problem is not None:
            refused = Lint(assignment.line, "refused", problem, assignment.path)
            kept = [lint for lint in text.lint if lint is not text.refused]
            return replace(text, assignments=text.assignments[:index], lint=(*kept, refused), refused=refused)
    return text


def _problem(assignment: Assignment, unit: UnitName) -> str | None:
    directive = f"{assignment.section}.{assignment.directive}"
    kind = kind_of(directive)
    if kind is None or not kind.fatal or not assignment.text:
        return None
    try:
        kind.spell(assignment.directive, assignment.text, expander(unit))
    except UnknownSpecifierError:
        return None
    except ValueError as bad:
        return f"systemd reads the file no further than here: {assignment.directive}= can't be this. {bad}"
    return None
