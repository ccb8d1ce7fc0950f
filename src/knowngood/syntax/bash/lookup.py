"""Looking variables up, and computing with them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.arithmetic import BadArithmetic, Number, Variables, evaluate
from knowngood.syntax.bash.fields import (
    Field,
    Gap,
    Items,
    only_fields,
    presumed_fields,
    why,
)
from knowngood.syntax.bash.join import join_states
from knowngood.syntax.bash.nodes import CommandOutput, Word
from knowngood.syntax.bash.patterns import Pattern
from knowngood.syntax.bash.shell import Died, Doubt, Shell
from knowngood.syntax.bash.state import NOT_ZERO, Variable, known_name, to_latin
from knowngood.syntax.bash.text import Text, concat, known, plain, presumed, unknown

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Found:
    """A scalar that was looked up; `text` is None when it is certainly unset."""

    text: Text | None
    maybe_unset: bool = False
    presumed_unset: bool = False


class Lookup(Shell):
    """Needs from what builds on it: text and pattern of a word, and the output of a command."""

    def text(self, word: Word, *, assignment: bool = False) -> Text:
        raise NotImplementedError

    def pattern(self, word: Word, *, extglob: bool = False) -> tuple[Pattern | None, Pattern | None]:
        raise NotImplementedError

    def output(self, part: CommandOutput) -> Text:
        raise NotImplementedError

    def possibly(self, run: Callable[[], _T]) -> _T | None:
        """What bash may evaluate or not; None where it would end the script by it."""
        outside = self.state
        self.state = outside.copy()
        try:
            result = run()
        except Died:
            self.state = outside
            return None
        if self.state.same_as(outside):
            self.state = outside
        else:
            self.state = join_states(outside, self.state, "set under a condition", 0)
        return result

    def list_of(self, name: str, index: str | None) -> Items | None:
        """The elements of `$@` or `${array[@]}`; None for a scalar."""
        if name in ("@", "*"):
            return self.state.positional
        if index not in ("@", "*"):
            return None
        variable = self.state.look_up(name)
        if variable.items is not None:
            return variable.items
        if variable.keyed is not None:
            if len(variable.keyed) > 1:
                return (Gap("an associative array has no order", variable.line),)
            return tuple(Field(text, variable.line) for _, text in variable.keyed)
        if variable.text is None:
            return ()
        if variable.maybe_unset or "A" in variable.attributes:
            reason, line = why((Field(variable.text, variable.line),))
            return (Gap(reason, line, presumed=() if variable.presumed_unset else None),)
        return (Field(variable.text, variable.line),)

    def find(self, name: str, index: str | None, line: int) -> Found:
        """A single value by its name, as `1`, `?`, `X` or `X[index]`."""
        if name.isdigit():
            return self._positional(int(name), line)
        if name[0] == "~":
            home = self.state.look_up("HOME")
            fine = name == "~" and home.text is not None and not home.maybe_unset
            return Found(home.text if fine and home.text else unknown("a home directory", line))
        if not (name[0].isalpha() or name[0] == "_") or name == "_":
            return Found(self._special(name, line))
        if name == "BASH_SOURCE" and index in (None, "0") and self._at_file_level:
            return Found(plain(to_latin(self.path)))
        variable = self.state.look_up(name)
        if variable.keyed is not None:
            key = None if index is None else known(self.text(self.words_of(index, line)))
            return self._keyed(variable, key, line)
        if variable.items is not None:
            return self._element(variable, index, line)
        if index is not None and "A" in variable.attributes:
            self.may_fail()
            return Found(unknown("an associative array that is not known", line), True)
        if index is not None and self._number(index, line) != 0:
            return Found(unknown("an element that is not known", line), True)
        return Found(variable.text, variable.maybe_unset, variable.presumed_unset)

    @property
    def _at_file_level(self) -> bool:
        return self.path.startswith("/") and not self.foreign and not self.state.scopes

    def _special(self, name: str, line: int) -> Text:
        if name == "#":
            return self._count(self.state.positional, line)
        if name == "?":
            status = self.state.status
            if status.certain is not None and status.certain != NOT_ZERO:
                return plain(str(status.certain))
            expected = None if status.presumed in (None, NOT_ZERO) else str(status.presumed)
            return unknown("the status of a command", line, solid=True, presumed=expected)
        if name == "0" and self.own_path.startswith("/"):
            return plain(to_latin(self.own_path))
        reasons = {
            "0": "how the script is called",
            "$": "a process id",
            "!": "a process id",
            "-": "the shell's options",
            "_": "the last word of a command",
        }
        return unknown(reasons.get(name, "a parameter of the shell"), line, solid=name in "$!")

    def _positional(self, number: int, line: int) -> Found:
        if number == 0:
            return Found(self._special("0", line))
        positional = self.state.positional
        for at, item in enumerate(positional):
            if isinstance(item, Gap):
                expected = presumed_fields(positional)
                if expected is None:
                    return Found(unknown(item.reason, item.line), True)
                if number > len(expected):
                    return Found((texts.Hole(item.reason, item.line, caller=True),), True, True)
                told = presumed(expected[number - 1].text)
                return Found(unknown(item.reason, item.line, presumed=told), True)
            if at + 1 == number:
                return Found(item.text)
        return Found(None)

    def _keyed(self, variable: Variable, key: str | None, line: int) -> Found:
        if key is None:
            return Found(unknown("an array's key that is not known", line), True)
        return Found(dict(variable.keyed or ()).get(key))

    def _element(self, variable: Variable, index: str | None, line: int) -> Found:
        items = variable.items or ()
        at = 0 if index is None else self._number(index, line)
        if at is None:
            return Found(unknown("an array's index that is not known", line), True)
        reach = items if at >= 0 else items[::-1]
        steps = at if at >= 0 else -1 - at
        for item in reach[: steps + 1]:
            if isinstance(item, Gap):
                return Found(unknown(item.reason, item.line), True)
        if steps < len(reach):
            item = reach[steps]
            return Found(item.text if isinstance(item, Field) else None)
        return Found(None)

    def _number(self, index: str, line: int) -> int | None:
        words = self.words_of(index, line)
        text = known(self.text(words))
        if text is None:
            self.may_fail()
        elif not text.strip():
            # An error, but not for every kind of variable.
            self.may_fail()
            return None
        return self.arithmetic(words).certain

    def _count(self, items: Items, line: int) -> Text:
        fields = only_fields(items)
        if fields is not None:
            return plain(str(len(fields)))
        expected = presumed_fields(items)
        told = None if expected is None else str(len(expected))
        return unknown(why(items)[0], line, solid=True, presumed=told)

    # --- arithmetic ---------------------------------------------------------------------------------

    def arithmetic(self, expression: Word) -> Number:
        """An expression's value. Doubt where bash would stop with an error."""
        text = self.text(expression)
        whole = known(text)
        variables = Variables(self._read_number, self._write_number)
        try:
            if whole is not None:
                return evaluate(whole, variables)
            if re.search(r"(?<![<>=!])=(?!=)|\+\+|--", "".join(p for p in text if isinstance(p, str))):
                raise Doubt("arithmetic that assigns and is not known", expression.line)
            told = presumed(text)
            return Number(None, None if told is None else evaluate(told, variables).presumed)
        except BadArithmetic as error:
            reason = f"arithmetic that fails or is not understood: {error}"
            raise Doubt(reason, expression.line, fails=True) from None

    def arithmetic_text(self, expression: Word) -> Text:
        value = self.arithmetic(expression)
        if value.certain is not None:
            return plain(str(value.certain))
        told = None if value.presumed is None else str(value.presumed)
        return unknown("arithmetic on what is not known", expression.line, solid=True, presumed=told)

    def _read_number(self, name: str) -> tuple[str | None, str | None]:
        base, bracket, index = name.partition("[")
        found = self.find(base, index[:-1] if bracket else None, 0)
        if found.text is None:
            # In a part of an expression that may not be looked at, this may not end the script after all.
            if self.state.option("nounset") is not False:
                raise Doubt("an unset variable in arithmetic", 0, fails=True)
            return "", ""
        if any(re.search(r"=|\+\+|--", option) for option in texts.alternatives(found.text) or ()) and (
            known(found.text) is None
        ):
            raise Doubt("arithmetic that assigns under a condition", 0)
        certain = None if found.maybe_unset else known(found.text)
        return certain, "" if found.presumed_unset else presumed(found.text, lax=True)

    def _write_number(self, name: str, value: Number) -> None:
        base, bracket, index = name.partition("[")
        told = None if value.presumed is None else str(value.presumed)
        text = (
            plain(str(value.certain))
            if value.certain is not None
            else unknown("arithmetic on what is not known", 0, solid=True, presumed=told)
        )
        if bracket:
            self.assign_element(base, self._number(index[:-1], 0), text, 0)
        else:
            self.assign(base, text, 0)

    # --- joining ------------------------------------------------------------------------------------

    def joined(self, items: Items, *, star: bool) -> Text:
        """`"$*"` in one text: with the first character of IFS between; `$@` where nothing splits: a blank."""
        separators = self.separators() if star else " "
        if separators is None:
            return unknown("IFS is not known", 0)
        between = plain(separators[:1])
        pieces: list[Text] = []
        for item in items:
            if isinstance(item, Gap):
                expected = None if item.presumed is None else [presumed(f.text) for f in item.presumed]
                told = presumed_fields(items)
                whole = None if told is None else [presumed(field.text) for field in told]
                if expected is None or whole is None or None in whole:
                    return unknown(item.reason, item.line)
                return unknown(item.reason, item.line, presumed=separators[:1].join(w or "" for w in whole))
            pieces += [between, item.text] if pieces else [item.text]
        return concat(*pieces)

    def separators(self) -> str | None:
        """IFS; None when it is not known."""
        variable = self.state.look_up("IFS")
        if variable.text is None:
            return " \t\n"
        return None if variable.maybe_unset else known_name(variable)
