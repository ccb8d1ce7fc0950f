"""`[[ … ]]` and `[ … ]`: the truth of a condition in the certain and in the presumed world.

In the presumed world the caller gives nothing, so what only a caller could give is empty there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.arithmetic import BadArithmetic, Variables, evaluate
from knowngood.syntax.bash.expand import Expander
from knowngood.syntax.bash.fields import Items, only_fields, presumed_fields
from knowngood.syntax.bash.nodes import Both, Check, Comparison, Condition, Literal, Not, Word
from knowngood.syntax.bash.parse_test import BINARY, UNARY
from knowngood.syntax.bash.shell import Doubt
from knowngood.syntax.bash.state import Status, to_status
from knowngood.syntax.bash.text import Text

# Certain and presumed; None: not known.
Truth: TypeAlias = tuple[bool | None, bool | None]
UNDECIDED: Truth = (None, None)
_PLAIN_REGEX = re.compile(r"(?:[\w ^$.*+?|/:,=@%-]|\((?!\?)|\)|\[\^?[\w.:/,-]+\])*", re.ASCII)


class Conditions(Expander):
    """Tests. Files, terminals and the like are never known."""

    def condition(self, node: Condition) -> Truth:
        self.step()
        if isinstance(node, Not):
            return _negated(self.condition(node.condition))
        if isinstance(node, Both):
            left = self.condition(node.left)
            if left[0] is not None and left[0] is (node.operator == "||"):
                return left
            decisive = node.operator == "||"
            if left[0] is None:
                # Where the right side would end the script, those who go on have not looked at it.
                right = self.possibly(lambda: self.condition(node.right))
                return _combined(node.operator, left, right) if right is not None else (decisive, decisive)
            return _combined(node.operator, left, self.condition(node.right))
        if isinstance(node, Check):
            return self._check(node)
        return self._compare(node)

    def _check(self, node: Check) -> Truth:
        if node.operator == "-v":
            name = node.word.literal
            return self._is_set(name) if name is not None else UNDECIDED
        text = self.text(node.word)
        return _unary(node.operator, text) if node.operator in ("-z", "-n") else UNDECIDED

    def _is_set(self, name: str) -> Truth:
        found = re.fullmatch(r"([A-Za-z_]\w*)", name)
        if not found:
            return UNDECIDED
        variable = self.state.look_up(name)
        if variable.items is not None or variable.keyed is not None:
            return UNDECIDED
        if variable.text is None:
            return False, False
        if not variable.maybe_unset:
            return True, True
        return None, False if variable.presumed_unset else None

    def _compare(self, node: Comparison) -> Truth:
        left = self.text(node.left)
        if node.operator in ("==", "=", "!="):
            patterns = self.pattern(node.right, extglob=True)
            if self.state.option("nocasematch") is not False:
                return UNDECIDED
            truth = (
                None if patterns[0] is None else _over_choices(left, patterns[0].matches),
                _presumed(left, None if patterns[1] is None else patterns[1].matches),
            )
            return _negated(truth) if node.operator == "!=" else truth
        if node.operator == "=~":
            return self._matches(left, node.right)
        right = self.text(node.right)
        if node.operator in ("-nt", "-ot", "-ef"):
            return UNDECIDED
        if node.operator in ("<", ">"):
            return _binary(node.operator, left, right)
        return self._numbers(node.operator, left, right)

    def _matches(self, left: Text, right: Word) -> Truth:
        self.assign_unknown("BASH_REMATCH")
        pieces = []
        for part in right.parts:
            text = texts.known(self.text(Word((part,), 0, 0, right.line)))
            quoted = getattr(part, "quoted", True)
            if text is None or (not quoted and not _PLAIN_REGEX.fullmatch(text)):
                return UNDECIDED
            pieces.append(re.escape(text) if quoted and isinstance(part, Literal) else text)
            if quoted and not isinstance(part, Literal):
                pieces[-1] = re.escape(text)
        source = "".join(pieces)
        if self.state.option("nocasematch") is not False:
            return UNDECIDED

        def search(text: str) -> bool | None:
            if not text.isascii() or not source.isascii() or "\n" in text or len(text) > 2000:
                return None
            try:
                return re.search(source, text) is not None
            except re.error:
                return None

        # Nested repeats could take for ever.
        if re.search(r"[*+?]\)?[*+]", source) or source.count("*") + source.count("+") > 6:
            return UNDECIDED
        return _over_choices(left, search), _presumed(left, search)

    def _numbers(self, operator: str, left: Text, right: Text) -> Truth:
        """`-eq` and its like in [[ ]], where both sides are arithmetic."""
        variables = Variables(self._read_number, self._write_number)

        def number(text: str | None) -> int | None:
            return None if text is None else evaluate(text, variables).certain

        try:
            certain = _ordered(operator, number(texts.known(left)), number(texts.known(right)))
        except BadArithmetic as error:
            raise Doubt(f"arithmetic that fails or is not understood: {error}", 0) from None
        if certain is not None:
            return certain, certain
        try:
            first, second = (number(texts.presumed(side, lax=True)) for side in (left, right))
        except BadArithmetic:
            return UNDECIDED
        return None, _ordered(operator, first, second)

    def assign_unknown(self, name: str) -> None:
        self.state.variables.pop(name, None)

    # --- test and [ ---------------------------------------------------------------------------------

    def test_command(self, items: Items) -> Status:
        """`test` and `[`, by the number of their arguments as POSIX has it."""
        fields = only_fields(items)
        certain = UNDECIDED if fields is None else self._test([field.text for field in fields])
        if certain[0] is not None:
            return to_status(certain[0], certain[0])
        expected = presumed_fields(items)
        told = None
        if expected is not None and fields is None:
            told = self._test([field.text for field in expected])[1]
        return to_status(None, certain[1] if fields is not None else told)

    def _test(self, words: list[Text]) -> Truth:
        if not words:
            return False, False
        first = texts.known(words[0])
        if len(words) == 1:
            return _unary("-n", words[0])
        if first == "!" and len(words) != 3:
            return _negated(self._test(words[1:])) if len(words) <= 4 else UNDECIDED
        if len(words) == 2:
            return self._unary_word(first, words[1])
        middle = texts.known(words[1])
        if len(words) == 3:
            if middle in BINARY - {"=~"}:
                return self._binary_words(middle or "", words[0], words[2])
            if middle in ("-a", "-o"):
                return _combined(
                    "&&" if middle == "-a" else "||", _unary("-n", words[0]), _unary("-n", words[2])
                )
            if first == "!":
                return _negated(self._test(words[1:]))
            return UNDECIDED
        return self._chain(words)

    def _chain(self, words: list[Text]) -> Truth:
        """`A -a B`, `A -o B` with tests of two or three words; what is more twisted is not decided."""
        for operator in ("-o", "-a"):
            for at in range(len(words) - 2, 0, -1):
                if texts.known(words[at]) == operator and at in range(2, len(words) - 2 + 1):
                    left, right = words[:at], words[at + 1 :]
                    if len(left) > 3 and not any(texts.known(w) in ("-a", "-o") for w in left):
                        continue
                    joined = "||" if operator == "-o" else "&&"
                    return _combined(joined, self._test(left), self._test(right))
        return UNDECIDED

    def _unary_word(self, operator: str | None, word: Text) -> Truth:
        if operator == "-v":
            name = texts.known(word)
            return UNDECIDED if name is None else self._is_set(name)
        if operator is None or operator not in UNARY:
            return UNDECIDED
        return _unary(operator, word) if operator in ("-z", "-n") else UNDECIDED

    def _binary_words(self, operator: str, left: Text, right: Text) -> Truth:
        if operator in ("=", "==", "!=", "<", ">"):
            return _binary(operator, left, right)
        if operator in ("-nt", "-ot", "-ef"):
            return UNDECIDED

        def number(text: str | None) -> int | None:
            # Anything but an integer is an error: false, but not to be negated.
            if text is None or not re.fullmatch(r"\s*[+-]?\d{1,18}\s*", text, re.ASCII):
                return None
            return int(text)

        one, other = texts.known(left), texts.known(right)
        if one is not None and other is not None:
            certain = _ordered(operator, number(one), number(other))
            return certain, certain
        return None, _ordered(
            operator, number(texts.presumed(left, lax=True)), number(texts.presumed(right, lax=True))
        )


def _negated(truth: Truth) -> Truth:
    certain, expected = truth
    return None if certain is None else not certain, None if expected is None else not expected


def _combined(operator: str, left: Truth, right: Truth) -> Truth:
    def both(a: bool | None, b: bool | None) -> bool | None:
        decisive = operator == "||"
        if a is decisive or b is decisive:
            return decisive
        return None if a is None or b is None else not decisive

    return both(left[0], right[0]), both(left[1], right[1])


def _over_choices(text: Text, test: Callable[[str], bool | None]) -> bool | None:
    """The test's answer when it is the same for all that the text may be."""
    options = texts.alternatives(text)
    answers = {test(option) for option in options} if options else {None}
    return answers.pop() if len(answers) == 1 else None


def _presumed(text: Text, test: Callable[[str], bool | None] | None) -> bool | None:
    expected = texts.presumed(text, lax=True)
    return None if expected is None or test is None else test(expected)


def _unary(operator: str, text: Text) -> Truth:
    certain: bool | None = _over_choices(text, lambda t: not t)
    if texts.never_empty(text):
        certain = False
    expected = _presumed(text, lambda t: not t)
    truth = (certain, expected if certain is None else certain)
    return truth if operator == "-z" else _negated(truth)


def _binary(operator: str, left: Text, right: Text) -> Truth:
    def compare(one: str | None, other: str | None) -> bool | None:
        if one is None or other is None:
            return None
        if operator in ("<", ">"):
            # The order of letters is the locale's; only equal texts are certain.
            return False if one == other else None
        return (one == other) is (operator != "!=")

    ones, others = texts.alternatives(left), texts.alternatives(right)
    certain = None
    if ones and others:
        answers = {compare(one, other) for one in ones for other in others}
        certain = answers.pop() if len(answers) == 1 else None
    return certain, compare(texts.presumed(left, lax=True), texts.presumed(right, lax=True))


def _ordered(operator: str, left: int | None, right: int | None) -> bool | None:
    if left is None or right is None:
        return None
    return {
        "-eq": left == right,
        "-ne": left != right,
        "-lt": left < right,
        "-le": left <= right,
        "-gt": left > right,
        "-ge": left >= right,
    }[operator]
