"""What libyaml complains of, said for people and at the place that helps."""

from __future__ import annotations

import yaml

from knowngood.manifest.diagnostic import Diagnostic
from knowngood.manifest.source import Source

_COLON_WITHIN = "mapping values are not allowed in this context"
_OPENED = (
    "could not find expected ':'",
    "did not find expected ',' or ']'",
    "did not find expected ',' or '}'",
    "found unexpected end of stream",
)
# libyaml's wording → ours
_PROBLEMS = {
    _COLON_WITHIN: "a colon within a value: put the value in quotes",
    "could not find expected ':'": "a line without a colon; a key and its value are written key: value",
    "did not find expected key": "this line does not fit the ones above it: check the indentation and quotes",
    "did not find expected '-' indicator": "this line does not fit the list above it: check the indentation",
    "did not find expected ',' or ']'": "a list in [brackets] is not closed, or a comma is missing",
    "did not find expected ',' or '}'": "a map in {braces} is not closed, or a comma is missing",
    "found unexpected end of stream": "a quote or bracket is opened and never closed",
    "found character that cannot start any token": "no value can begin with this character: put it in quotes",
    "found unknown escape character": "an unknown escape in double quotes: write \\\\ for a backslash, or use"
    " single quotes",
    "exceeded maximum nesting depth": "nested too deeply",
}


def no_yaml(source: Source, error: yaml.YAMLError) -> Diagnostic:
    """Why a text is no YAML, and where."""
    if isinstance(error, yaml.MarkedYAMLError):
        return _marked(source, error)
    character = getattr(error, "character", "")
    text = chr(character) if isinstance(character, int) else str(character)[:1]
    # Its position counts bytes or characters, depending on the parser.
    offset = max(0, source.text.find(text))
    return source.diagnostic(offset, f"a character that YAML does not allow ({ascii(text)[1:-1]})")


def _marked(source: Source, error: yaml.MarkedYAMLError) -> Diagnostic:
    problem = error.problem or "this is not YAML"
    # What is left open is better told where it opens.
    mark = error.context_mark if problem in _OPENED and error.context_mark else error.problem_mark
    # Marks of errors carry no index.
    offset = _offset(source, mark.line, mark.column) if mark else 0
    before = source.text[:offset].rpartition("\n")[2]
    if source.text[offset : offset + 1] == "\t" or ("\t" in before and not before.strip()):
        return source.diagnostic(offset, "a tab: YAML is indented with spaces only")
    if problem == _COLON_WITHIN and ": " not in before:
        return source.diagnostic(offset, "this line does not fit the ones above it: check the indentation")
    return source.diagnostic(offset, _PROBLEMS.get(problem, problem))


def _offset(source: Source, line: int, column: int) -> int:
    starts = [0, *(i + 1 for i, c in enumerate(source.text) if c == "\n")]
    return min(starts[min(line, len(starts) - 1)] + column, len(source.text))
