"""Parameter expansion: `$X`, `${X:-default}`, `${X##*/}`, `${#X}`, `${array[@]}` and their like."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from knowngood.syntax.bash import text as texts
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
from knowngood.syntax.bash.lookup import Found, Lookup
from knowngood.syntax.bash.nodes import Parameter, Word
from knowngood.syntax.bash.patterns import Pattern
from knowngood.syntax.bash.shell import Died, Doubt
from knowngood.syntax.bash.text import EMPTY, Text, known, lift, plain, presumed, unknown


class Parameters(Lookup):
    """What an expansion makes of a value."""

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
            before = only_fields(items[:offset])
            if length is None and before is not None and len(before) == offset:
                return items[offset:]
            return (Gap(why(items)[0], part.line),)
        if length is not None and length < 0:
            return (Gap("a slice that is not known", part.line),)
        return fields[offset:] if length is None else fields[offset : offset + length]


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
