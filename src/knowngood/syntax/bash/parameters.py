"""Parameter expansion: `$X`, `${X:-default}`, `${X##*/}`, `${#X}`, `${array[@]}` and their like."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.arithmetic import BadArithmetic, Number, Variables, evaluate
from knowngood.syntax.bash.fields import (
    Field,
    Gap,
    Item,
    Items,
    Many,
    only_fields,
    presumed_fields,
    why,
)
from knowngood.syntax.bash.nodes import CommandOutput, Parameter, Word
from knowngood.syntax.bash.patterns import Pattern
from knowngood.syntax.bash.shell import Died, Doubt, Shell
from knowngood.syntax.bash.state import NOT_ZERO, Variable, join_states, known_name, to_latin
from knowngood.syntax.bash.text import EMPTY, Text, concat, known, lift, plain, presumed, unknown

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Found:
    """A scalar that was looked up; `text` is None when it is certainly unset."""

    text: Text | None
    maybe_unset: bool = False
    presumed_unset: bool = False


class Parameters(Shell):
    """Needs from what builds on it: text and pattern of a word, and the output of a command."""

    def text(self, word: Word, *, assignment: bool = False) -> Text:
        raise NotImplementedError

    def pattern(self, word: Word, *, extglob: bool = False) -> tuple[Pattern | None, Pattern | None]:
        raise NotImplementedError

    def output(self, part: CommandOutput) -> Text:
        raise NotImplementedError

    def parameter(self, part: Parameter) -> Text | Many:
        """What a parameter expands to, before splitting."""
        self.step()
        if part.before == "#":
            return self._length(part)
        if part.before == "!":
            return self._indirect(part)
        items = self.list_of(part.name, part.index)
        if items is not None:
            star = part.name == "*" or part.index == "*"
            return Many(self._list_operator(part, items), star)
        return self._scalar_operator(part, self.find(part.name, part.index, part.line))

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

    # --- looking up ---------------------------------------------------------------------------------

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
        if name == "BASH_SOURCE" and index in (None, "0") and self.path.startswith("/") and not self.foreign:
            if not self.state.scopes:
                return Found(plain(to_latin(self.path)))
        variable = self.state.look_up(name)
        if variable.keyed is not None:
            key = None if index is None else known(self.text(self.words_of(index, line)))
            return self._keyed(variable, key, line)
        if variable.items is not None:
            return self._element(variable, index, line)
        if index is not None and "A" in variable.attributes:
            return Found(unknown("an associative array that is not known", line), True)
        if index is not None and self._number(index, line) != 0:
            return Found(unknown("an element that is not known", line), True)
        return Found(variable.text, variable.maybe_unset, variable.presumed_unset)

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
        return self.arithmetic(self.words_of(index, line)).certain

    def _count(self, items: Items, line: int) -> Text:
        fields = only_fields(items)
        if fields is not None:
            return plain(str(len(fields)))
        expected = presumed_fields(items)
        told = None if expected is None else str(len(expected))
        return unknown(why(items)[0], line, solid=True, presumed=told)

    # --- operators ----------------------------------------------------------------------------------

    def _length(self, part: Parameter) -> Text:
        items = self.list_of(part.name, part.index)
        if items is not None:
            variable = self.state.look_up(part.name) if part.index else None
            if variable is not None and variable.keyed is not None:
                return plain(str(len(variable.keyed)))
            return self._count(items, part.line)
        found = self._alive(part, self.find(part.name, part.index, part.line))
        return lift(lambda t: str(len(t)) if t.isascii() else None, found, solid=True)

    def _indirect(self, part: Parameter) -> Text | Many:
        if part.operator in ("@", "*"):
            return Many((Gap("names that begin alike", part.line),), part.operator == "*")
        if part.index in ("@", "*"):
            variable = self.state.look_up(part.name)
            fields = None if variable.items is None else only_fields(variable.items)
            if variable.keyed is not None and len(variable.keyed) == 1:
                return Many((Field(plain(variable.keyed[0][0]), part.line),), part.index == "*")
            if fields is None:
                return Many((Gap("the keys of an array", part.line),), part.index == "*")
            keys = tuple(Field(plain(str(at)), part.line) for at in range(len(fields)))
            return Many(keys, part.index == "*")
        own = self.state.variables.get(part.name)
        found = self.find(part.name, part.index, part.line)
        target = None if found.text is None or found.maybe_unset else known(found.text)
        pattern = re.fullmatch(r"([A-Za-z_]\w*|\d+|[@*])(?:\[([^\]]*)\])?", target or "")
        if target is not None and not pattern:
            raise Doubt("an indirect expansion without a name", part.line, fails=True)
        if not pattern:
            self.may_fail()
        if not pattern or (own is not None and "n" in own.attributes):
            return unknown("a name that is not known", part.line)
        return self.parameter(replace(part, before="", name=pattern.group(1), index=pattern.group(2)))

    def uses_argument(self, part: Parameter) -> bool | None:
        """Whether `${X:-word}` or `${X:+word}` becomes its word; None when that is not certain."""
        items = self.list_of(part.name, part.index)
        if part.before or (items is not None and items):
            return False if items is not None and part.operator.endswith("-") and not part.before else None
        if items is not None:
            return part.operator.endswith("-")
        certain, _ = self._there(part, self.find(part.name, part.index, part.line))
        if certain is None:
            return None
        return certain is part.operator.endswith("+")

    def _there(self, part: Parameter, found: Found) -> tuple[bool | None, bool | None]:
        """Whether the operator finds a value: set, and with a colon not empty."""
        if found.text is None:
            return False, False
        if not part.operator.startswith(":"):
            if not found.maybe_unset:
                return True, True
            told = presumed(found.text, lax=True) is not None
            return None, False if found.presumed_unset else (True if told else None)
        if known(found.text) == "" and not found.maybe_unset:
            return False, False
        if texts.never_empty(found.text) and not found.maybe_unset:
            return True, True
        expected = None if found.presumed_unset else presumed(found.text, lax=True)
        options = texts.alternatives(found.text)
        if options is not None and not any(options):
            return False, False
        return None, False if found.presumed_unset else (None if expected is None else bool(expected))

    def _alive(self, part: Parameter, found: Found) -> Text:
        """The text of a value that is used without a default."""
        if found.text is None:
            self.may_die("nounset")
        return EMPTY if found.text is None else found.text

    def _scalar_operator(self, part: Parameter, found: Found) -> Text:
        operator, argument = part.operator, part.argument
        if operator.lstrip(":") in ("-", "=", "?", "+") and operator and argument is not None:
            return self._default(part, found, argument)
        text = self._alive(part, found)
        change = self._changer(part)
        if change is None:
            return text
        certain, expected = change
        return self._changed(text, certain, expected)

    def _changed(
        self,
        text: Text,
        certain: Callable[[str], str | None] | None,
        expected: Callable[[str], str | None] | None,
    ) -> Text:
        if certain is not None:
            return lift(certain, text)
        told = presumed(text)
        told = None if told is None or expected is None else expected(told)
        hole = texts.first_hole(text)
        return unknown(hole.reason if hole else "a pattern that is not known", 0, presumed=told)

    def _default(self, part: Parameter, found: Found, argument: Word) -> Text:
        there, expected = self._there(part, found)
        kind = part.operator[-1]
        value = EMPTY if found.text is None else found.text
        if kind == "?":
            if there is False:
                raise Died
            return value
        if kind == "+":
            if there is None:
                text = self.possibly(lambda: self.text(argument))
                return EMPTY if text is None else self._one_of(there, expected, text, EMPTY)
            return self.text(argument) if there else EMPTY
        if there is True:
            return value
        other = self.possibly(lambda: self.text(argument)) if there is None else self.text(argument)
        if other is None:
            return value
        text = self._one_of(there, expected, value, other)
        if kind == "=":
            if part.index is not None or not re.fullmatch(r"[A-Za-z_]\w*", part.name):
                raise Doubt("an assignment in an expansion", part.line)
            self.assign(part.name, text, part.line)
        return text

    def _one_of(self, there: bool | None, expected: bool | None, value: Text, other: Text) -> Text:
        if there is not None:
            return value if there else other
        hole = texts.first_hole(value)
        reason, line = (hole.reason, hole.line) if hole else ("it depends on the caller", 0)
        if expected is None:
            return texts.join(value, other, reason, line)
        first, second = (value, other) if expected else (other, value)
        return texts.join(first, second, reason, line, prefer_one=True)

    def _changer(
        self, part: Parameter
    ) -> tuple[Callable[[str], str | None] | None, Callable[[str], str | None] | None] | None:
        """The operator as a change of text, in the certain and the presumed world."""
        operator, argument = part.operator, part.argument
        if not operator:
            return None
        if argument is None:
            return _cannot, _cannot
        if operator == ":":
            return self._slicer(part, argument)
        extglob = self.state.option("extglob") is not False
        patterns = self.pattern(argument, extglob=extglob)
        if operator[0] == "/":
            replacement = EMPTY if part.argument2 is None else self.text(part.argument2)
            # An unquoted & in the replacement may stand for the match (patsub_replacement).
            texts_ = (known(replacement), presumed(replacement))
            first, second = (
                _substitution(pattern, operator, None if text is None or "&" in text else text)
                for pattern, text in zip(patterns, texts_, strict=True)
            )
            return first, second
        if operator[0] in "#%":
            first, second = (_stripping(pattern, operator) for pattern in patterns)
            return first, second
        if operator[0] in "^,":
            first, second = (_casing(pattern, operator) for pattern in patterns)
            return first, second
        return _cannot, _cannot

    def _slicer(
        self, part: Parameter, argument: Word
    ) -> tuple[Callable[[str], str | None] | None, Callable[[str], str | None] | None]:
        offset = self.arithmetic(argument)
        length = None if part.argument2 is None else self.arithmetic(part.argument2)

        def slicer(start: int | None, count: int | None, wanted: bool) -> Callable[[str], str | None] | None:
            if start is None or (wanted and count is None):
                return None
            return lambda text: _sliced(text, start, count)

        return (
            slicer(offset.certain, length.certain if length else None, length is not None),
            slicer(offset.presumed, length.presumed if length else None, length is not None),
        )

    def _list_operator(self, part: Parameter, items: Items) -> Items:
        operator, argument = part.operator, part.argument
        if not operator:
            return items
        if operator.lstrip(":") in ("-", "?", "+", "=") and argument is not None:
            return self._list_default(part, items, argument)
        if operator == ":" and argument is not None:
            return self._list_slice(part, items, argument)
        change = self._changer(part)
        if change is None:
            return items
        return tuple(self._changed_item(item, change) for item in items)

    def _changed_item(
        self,
        item: Item,
        change: tuple[Callable[[str], str | None] | None, Callable[[str], str | None] | None],
    ) -> Item:
        if isinstance(item, Gap):
            return Gap(item.reason, item.line)
        return Field(self._changed(item.text, *change), item.line)

    def _list_default(self, part: Parameter, items: Items, argument: Word) -> Items:
        kind = part.operator[-1]
        certain = any(isinstance(item, Field) for item in items) and not part.operator.startswith(":")
        fields = only_fields(items)
        if fields is not None and part.operator.startswith(":"):
            texts_ = [known(field.text) for field in fields]
            certain = len(fields) > 1 or any(texts_) or (bool(fields) and texts.never_empty(fields[0].text))
        if not items or (
            fields is not None and not certain and len(fields) == 1 and known(fields[0].text) == ""
        ):
            certain_not = True
        else:
            certain_not = False
        if certain:
            return (Field(self.text(argument), part.line),) if kind == "+" else items
        if certain_not:
            if kind == "?":
                raise Died
            return () if kind == "+" else (Field(self.text(argument), part.line),)
        reason, line = why(items)
        if kind == "+" and presumed_fields(items) == ():
            return (Gap(reason, line, presumed=()),)
        return (Gap(reason, line),)

    def _list_slice(self, part: Parameter, items: Items, argument: Word) -> Items:
        offset = self.arithmetic(argument).certain
        length = None if part.argument2 is None else self.arithmetic(part.argument2).certain
        fields = only_fields(items)
        if offset is None or offset < 0 or (part.argument2 is not None and length is None):
            return (Gap("a slice that is not known", part.line),)
        if part.name in ("@", "*"):
            if offset == 0:
                return (Gap("a slice from $0 on", part.line),)
            offset -= 1
        if fields is None:
            if length is None and all(isinstance(item, Field) for item in items[:offset]):
                if len(items) >= offset:
                    return items[offset:]
            return (Gap(why(items)[0], part.line),)
        if length is not None and length < 0:
            return (Gap("a slice that is not known", part.line),)
        return fields[offset:] if length is None else fields[offset : offset + length]

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


def _cannot(_: str) -> str | None:
    return None


def _substitution(
    pattern: Pattern | None, operator: str, replacement: str | None
) -> Callable[[str], str | None] | None:
    if pattern is None or replacement is None:
        return None
    return lambda text: pattern.substitute(text, operator, replacement)


def _stripping(pattern: Pattern | None, operator: str) -> Callable[[str], str | None] | None:
    return None if pattern is None else lambda text: pattern.strip(text, operator)


def _casing(pattern: Pattern | None, operator: str) -> Callable[[str], str | None] | None:
    return None if pattern is None else lambda text: pattern.change_case(text, operator)


def _sliced(text: str, start: int, count: int | None) -> str | None:
    if not text.isascii():
        return None
    if start < 0:
        start += len(text)
    if start < 0 or start > len(text):
        return ""
    if count is None:
        return text[start:]
    end = start + count if count >= 0 else len(text) + count
    return text[start:end] if end >= start else None
