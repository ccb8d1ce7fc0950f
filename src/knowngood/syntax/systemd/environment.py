"""The environment that a service's processes start with.

From the lowest: the manager's own environment, what systemd sets itself, PassEnvironment=, Environment=,
EnvironmentFile= (in order); UnsetEnvironment= takes away. Source: systemd.exec(5), "Environment" and
"Environment Variables Set or Propagated by the Service Manager"; src/core/execute.c.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from knowngood.model import ABSENT, Known, Reading, Unknown, Value
from knowngood.syntax.systemd.envfile import (
    CONTROL,
    CONTROL_DISPUTED,
    VALID_NAME,
    EnvEntry,
    read_environment_file,
)
from knowngood.syntax.systemd.patterns import is_pattern, matching
from knowngood.syntax.systemd.specifiers import BadSpecifierError, UnknownSpecifierError, expand
from knowngood.syntax.systemd.text import Assignment
from knowngood.syntax.systemd.utf8 import is_valid
from knowngood.syntax.systemd.variables import Environment
from knowngood.syntax.systemd.wordlists import ENVIRONMENT, NAMES, good_words, text_of

if TYPE_CHECKING:
    from knowngood.syntax.systemd.unit import Unit


def environment(
    unit: Unit, files: Mapping[str, bytes | None] | None, base: Mapping[str, Value] | None
) -> Environment:
    """Work out the environment.

    `files` are the contents of the environment files by path, None for one that could not be read; one that
    is not among them is taken as missing where a `-` allows it. Of a pattern all files that match it must be
    among them. Without `files` (None) none is known. `base` is the manager's environment, as `systemctl
    show-environment` tells it; None or empty where it is not known (it never is empty).
    """
    return _Builder(unit, files).build(base or None)


class _Builder:
    def __init__(self, unit: Unit, files: Mapping[str, bytes | None] | None) -> None:
        self._unit, self._files = unit, files
        self._found: dict[str, Reading] = {}
        self._unset: set[str] = set()
        self._open: str | None = None
        self._fails: str | None = None  # why the unit can't start at all
        self._set_by: dict[str, str] = {}  # of the files of one pattern: which set a name first

    def build(self, base: Mapping[str, Value] | None) -> Environment:
        if self._unit.refused is not None:
            return Environment({}, set(), self._unit.refused.message)
        if base is None:
            self._open = "the environment of systemd's manager is not known"
        else:
            self._found |= {name: Reading(value) for name, value in base.items()}
        self._user()
        for assignment in self._lines("PassEnvironment"):
            self._pass(assignment)
        for assignment in self._lines("Environment"):
            self._assign(assignment)
        for assignment in self._lines("EnvironmentFile"):
            self._file(assignment)
        for assignment in self._lines("UnsetEnvironment"):
            self._take_away(assignment)
        if self._lines("PAMName"):
            self._all_unknown("PAM may change it (PAMName=)")
        if self._fails is not None:
            self._all_unknown(self._fails)
        return Environment(self._found, self._unset, self._open)

    def _lines(self, directive: str) -> list[Assignment]:
        return [entry.assignment for entry in self._unit.in_force(f"Service.{directive}")]

    def _user(self) -> None:
        """USER and LOGNAME are the names that User= gives; all else of the user stands on the node."""
        reading = self._unit.value("Service", "User")
        plain = isinstance(reading.value, Known) and not str(reading.value.value).isdigit()
        sets = self._unit.value("Service", "SetLoginEnvironment").value
        if plain and sets == ABSENT:
            self._found |= dict.fromkeys(("USER", "LOGNAME"), reading)
        if self._lines("ExecSearchPath"):
            self._found["PATH"] = Reading(Unknown("ExecSearchPath= sets it from systemd 250 on"))

    def _pass(self, assignment: Assignment) -> None:
        unknown = Unknown("passed on from systemd's own environment, if it is set there")
        for word in good_words(assignment.text, NAMES):
            name = self._expanded(text_of(word), assignment)
            if name is not None and VALID_NAME.match(name):
                self._found[name] = Reading(unknown, assignment.line_at(word.start), assignment.path)

    def _assign(self, assignment: Assignment) -> None:
        for word in good_words(assignment.text, ENVIRONMENT):
            text = text_of(word)
            name = text.partition("=")[0]
            line = assignment.line_at(word.start)
            try:
                whole = expand(text, self._unit.name)
            except BadSpecifierError:
                continue  # systemd ignores the word
            except UnknownSpecifierError as unknown:
                self._assign_unknown(name, str(unknown), line, assignment.path)
                continue
            name, equals, value = whole.partition("=")
            if equals and VALID_NAME.match(name) and _is_text(value):
                disputed = CONTROL.search(value) is not None
                self._found[name] = Reading(
                    Unknown(CONTROL_DISPUTED) if disputed else Known(value), line, assignment.path
                )

    def _assign_unknown(self, name: str, why: str, line: int, path: str) -> None:
        if VALID_NAME.match(name):
            self._found[name] = Reading(Unknown(why), line, path)
        elif "%" in name:
            self._all_unknown(why)

    def _file(self, assignment: Assignment) -> None:
        text = self._expanded(assignment.text, assignment)
        if text is None:
            return
        optional = text.startswith("-")
        path = _simple(text.removeprefix("-"))
        if self._files is None:
            self._all_unknown(f"{path} was not looked at")
        elif "\\" in path:
            self._all_unknown(f"which file {path} stands for can't be told")
        elif is_pattern(path):
            found = [
                each for each in matching(path, self._files) if each != path or self._files[path] is not None
            ]
            self._set_by = {}
            for each in found:
                self._one_file(each, optional=optional, of_several=len(found) > 1)
            if not found and not optional:
                self._fails = f"the unit can't start: there is no {path}"
        else:
            self._one_file(path, optional=optional, of_several=False)

    def _one_file(self, path: str, *, optional: bool, of_several: bool) -> None:
        data = (self._files or {}).get(path)
        if data is None:
            if not optional:
                self._fails = f"the unit can't start while {path} can't be read"
            elif path in (self._files or {}):
                self._all_unknown(f"{path} could not be read")
            return
        file = read_environment_file(data, path)
        if file.unread is not None:
            self._all_unknown(f"{path}: {file.unread.message}")
        elif file.refused is not None:
            if not optional:
                self._fails = f"the unit can't start: {path}: {file.refused.message}"
        else:
            for entry in file.entries:
                self._from_file(entry, path, of_several=of_several)

    def _from_file(self, entry: EnvEntry, path: str, *, of_several: bool) -> None:
        value: Value = Known(entry.value)
        known = self._found.get(entry.name)
        if entry.disputed and (known is None or known.value != value):
            value = Unknown(entry.disputed)
        if of_several and self._set_by.setdefault(entry.name, path) != path:
            # The order in which a pattern's files come depends on the manager's locale.
            if known is not None and known.value == value:
                return
            value = Unknown(f"{self._set_by[entry.name]} and {path} set it, in an order that is not certain")
        self._found[entry.name] = Reading(value, entry.line, path)

    def _take_away(self, assignment: Assignment) -> None:
        for word in good_words(assignment.text, ENVIRONMENT):
            text = self._expanded(text_of(word), assignment)
            if text is None:
                continue
            name, equals, value = text.partition("=")
            if not VALID_NAME.match(name):
                continue
            if not equals:
                self._found.pop(name, None)
                self._unset.add(name)
            else:
                self._take_value(name, value)

    def _take_value(self, name: str, value: str) -> None:
        """`UnsetEnvironment=X=1` takes X away only where it is 1."""
        known = self._found.get(name)
        if known is not None and known.value == Known(value):
            del self._found[name]
            self._unset.add(name)
        elif known is not None and isinstance(known.value, Unknown):
            self._found[name] = Reading(
                Unknown(f"{known.value.reason}; and UnsetEnvironment= may take it away")
            )

    def _expanded(self, text: str, assignment: Assignment) -> str | None:
        """The text with its specifiers; None where systemd ignores it, or nobody can tell (all is open)."""
        try:
            return expand(text, self._unit.name)
        except BadSpecifierError:
            return None
        except UnknownSpecifierError as unknown:
            self._all_unknown(f"{assignment.path}:{assignment.line}: {unknown}")
            return None

    def _all_unknown(self, why: str) -> None:
        """Nothing is certain any more, whether it is set by now or not."""
        self._open = why
        self._unset.clear()
        for name, reading in self._found.items():
            self._found[name] = Reading(Unknown(why), reading.line, reading.path)


def _is_text(value: str) -> bool:
    return is_valid(value.encode("utf-8", "surrogateescape"))


def _simple(path: str) -> str:
    """The path as systemd spells it: without doubled slashes and single dots."""
    return "/" + "/".join(part for part in path.split("/") if part not in ("", "."))
