"""Remarks on a script, for people."""

from __future__ import annotations

from knowngood.syntax.bash.launch import Lint, Script
from knowngood.syntax.bash.nodes import Program


def lint_of(text: bytes, script: Script, program: Program) -> tuple[Lint, ...]:
    """The remarks, by line."""
    found: list[Lint] = []
    if program.error is not None:
        line, message = program.error
        found.append(Lint(line, "syntax", f"The script can't be read beyond this line: {message}."))
    return tuple(sorted(found, key=lambda lint: (lint.line, lint.code)))
