"""Shell arithmetic (bash(1), ARITHMETIC EVALUATION): 64-bit integers, certain and presumed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|\d+#[0-9a-zA-Z@_]+|\d+(?![\w#]))|(?P<name>[A-Za-z_]\w*(?:\[[^\[\]]*\])?)"
    r"|(?P<operator><<=|>>=|\*\*|\+\+|--|&&|\|\||<<|>>|<=|>=|==|!=|[-+*/%&^|]=|[-+*/%<>!~&^|?:=(),]))"
)
_BINARY = [
    ["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<=", ">=", "<", ">"], ["<<", ">>"], ["+", "-"],
    ["*", "/", "%"], ["**"],
]  # fmt: skip
_DEEPEST = 40


class BadArithmetic(Exception):
    """No expression that can be evaluated: bash reports an error, or we don't know what it does."""


@dataclass(frozen=True, slots=True)
class Number:
    """None: not known in that world."""

    certain: int | None
    presumed: int | None


@dataclass(frozen=True, slots=True)
class Variables:
    """How an expression reaches variables: the text of one in both worlds, and the setting of one."""

    read: Callable[[str], tuple[str | None, str | None]]
    write: Callable[[str, Number], None]


NOTHING = Number(None, None)


def evaluate(expression: str, variables: Variables, depth: int = 0) -> Number:
    """The value of an expression; "" is 0. BadArithmetic where bash would complain."""
    if len(expression) > 2000 or depth > 8:
        raise BadArithmetic("the expression is too long")
    reader = _Reader(_tokens(expression), variables, depth)
    if not reader.tokens:
        return Number(0, 0)
    value = reader.comma()
    if reader.at != len(reader.tokens):
        raise BadArithmetic("more than an expression")
    return value


def _tokens(expression: str) -> list[tuple[str, str]]:
    tokens = []
    at = 0
    expression = expression.rstrip()
    while at < len(expression):
        found = _TOKEN.match(expression, at)
        if not found:
            raise BadArithmetic(f"{expression[at : at + 20]!r} is no part of an expression")
        tokens.append((found.lastgroup or "", found.group(found.lastgroup or 0)))
        at = found.end()
    return tokens


def number(text: str) -> int:
    """A constant: decimal, 0octal, 0xhex or base#digits."""
    if "#" in text:
        base, digits = text.split("#")
        if not 2 <= int(base) <= 36:
            raise BadArithmetic("a base beyond 36")
        return _parse(digits, int(base))
    if text[:2].lower() == "0x":
        return _parse(text[2:], 16)
    return _parse(text, 8 if len(text) > 1 and text[0] == "0" else 10)


def _parse(digits: str, base: int) -> int:
    try:
        return _wrap(int(digits.replace("_", "?"), base))
    except ValueError:
        raise BadArithmetic(f"{digits} is no number of base {base}") from None


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]], variables: Variables, depth: int) -> None:
        self.tokens = tokens
        self.at = 0
        self.variables = variables
        self.depth = depth
        self.nesting = 0
        self.doubtful = 0  # within a branch that may not be evaluated
        self.skipped = 0  # within a branch that is not

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        if self.at < len(self.tokens) and self.peek() in wanted and self.tokens[self.at][0] == "operator":
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def comma(self) -> Number:
        value = self.assignment()
        while self.take(","):
            value = self.assignment()
        return value

    def assignment(self) -> Number:
        self.nesting += 1
        if self.nesting > _DEEPEST:
            raise BadArithmetic("nested too deeply")
        try:
            following = self.tokens[self.at + 1][1] if self.at + 1 < len(self.tokens) else ""
            if (
                self.at < len(self.tokens)
                and self.tokens[self.at][0] == "name"
                and (
                    following == "="
                    or (
                        len(following) > 1
                        and following[-1] == "="
                        and following not in ("==", "!=", "<=", ">=")
                    )
                )
            ):
                name = self.peek()
                self.at += 2
                value = self.assignment()
                if following != "=":
                    value = self.apply(following[:-1], self.value_of(name), value)
                self.write(name, value)
                return value
            return self.conditional()
        finally:
            self.nesting -= 1

    def conditional(self) -> Number:
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        first = self.branch(condition.certain, wanted=True, read=self.comma)
        if not self.take(":"):
            raise BadArithmetic("? without its :")
        second = self.branch(condition.certain, wanted=False, read=self.assignment)

        def choose(test: int | None, yes: int | None, no: int | None) -> int | None:
            return (yes if yes == no else None) if test is None else (yes if test else no)

        return Number(
            choose(condition.certain, first.certain, second.certain),
            choose(condition.presumed, first.presumed, second.presumed),
        )

    def branch(self, test: int | None, *, wanted: bool, read: Callable[[], Number]) -> Number:
        doubtful = test is None
        skipped = test is not None and bool(test) is not wanted
        self.doubtful += doubtful
        self.skipped += skipped
        value = read()
        self.doubtful -= doubtful
        self.skipped -= skipped
        return value

    def binary(self, level: int) -> Number:
        if level == len(_BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while operator := self.take(*_BINARY[level]):
            if operator == "**":
                right = self.binary(level)
            elif operator in ("&&", "||"):
                right = self.branch(
                    left.certain, wanted=operator == "&&", read=lambda: self.binary(level + 1)
                )
            else:
                right = self.binary(level + 1)
            left = self.apply(operator, left, right)
        return left

    def unary(self) -> Number:
        if step := self.take("++", "--"):
            return self.step(step, before=True)
        if operator := self.take("!", "~", "-", "+"):
            self.nesting += 1
            if self.nesting > _DEEPEST:
                raise BadArithmetic("nested too deeply")
            value = self.unary()
            self.nesting -= 1
            change: dict[str, Callable[[int], int]] = {
                "!": lambda v: int(not v), "~": lambda v: ~v, "-": lambda v: _wrap(-v), "+": lambda v: v,
            }  # fmt: skip
            return _each(change[operator], value)
        return self.primary()

    def step(self, operator: str, *, before: bool) -> Number:
        if self.at >= len(self.tokens) or self.tokens[self.at][0] != "name":
            raise BadArithmetic(f"{operator} without a variable")
        name = self.peek()
        self.at += 1
        old = self.value_of(name)
        new = _each(lambda v: _wrap(v + (1 if operator == "++" else -1)), old)
        self.write(name, new)
        return new if before else old

    def primary(self) -> Number:
        if self.take("("):
            value = self.comma()
            if not self.take(")"):
                raise BadArithmetic("( without its )")
            return value
        if self.at >= len(self.tokens):
            raise BadArithmetic("an operand is missing")
        kind, text = self.tokens[self.at]
        if kind == "operator":
            raise BadArithmetic(f"{text} where an operand should stand")
        if kind == "number":
            self.at += 1
            constant = number(text)
            return Number(constant, constant)
        if self.at + 1 < len(self.tokens) and self.tokens[self.at + 1] in (
            ("operator", "++"), ("operator", "--"),
        ):  # fmt: skip
            operator = self.tokens[self.at + 1][1]
            value = self.step(operator, before=False)
            self.at += 1
            return value
        self.at += 1
        return self.value_of(text)

    def value_of(self, name: str) -> Number:
        if self.skipped:
            return Number(0, 0)
        certain, presumed = self.variables.read(name)

        if certain is not None:
            first = evaluate(certain, self.variables, self.depth + 1).certain
            return Number(first, first)
        if presumed is None:
            return NOTHING
        try:
            # What is only presumed sets nothing.
            apart = Variables(self.variables.read, lambda _name, _value: None)
            return Number(None, evaluate(presumed, apart, self.depth + 1).certain)
        except BadArithmetic:
            return NOTHING

    def write(self, name: str, value: Number) -> None:
        if not self.skipped:
            self.variables.write(name, NOTHING if self.doubtful else value)

    def apply(self, operator: str, left: Number, right: Number) -> Number:
        def both(a: int | None, b: int | None) -> int | None:
            if operator == "&&":
                return 0 if a == 0 or b == 0 else (None if a is None or b is None else 1)
            if operator == "||":
                return 1 if a or b else (None if a is None or b is None else 0)
            return None if a is None or b is None else self.compute(operator, a, b)

        return Number(both(left.certain, right.certain), both(left.presumed, right.presumed))

    def compute(self, operator: str, a: int, b: int) -> int:
        if operator in ("/", "%") and b == 0:
            if self.skipped:
                return 0
            raise BadArithmetic("division by zero")
        if operator == "**" and (b < 0 or b > 64 or abs(a) > 1 << 40):
            raise BadArithmetic("an exponent that is not followed")
        if operator in ("<<", ">>") and not 0 <= b < 64:
            raise BadArithmetic("a shift that is not followed")
        if operator == "/":
            return _wrap(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
        if operator == "%":
            return abs(a) % abs(b) * (-1 if a < 0 else 1)
        plain: dict[str, Callable[[], int]] = {
            "|": lambda: a | b, "^": lambda: a ^ b, "&": lambda: a & b, "==": lambda: int(a == b),
            "!=": lambda: int(a != b), "<=": lambda: int(a <= b), ">=": lambda: int(a >= b),
            "<": lambda: int(a < b), ">": lambda: int(a > b), "<<": lambda: a << b, ">>": lambda: a >> b,
            "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "**": lambda: a**b,
        }  # fmt: skip
        return _wrap(plain[operator]())


def _each(change: Callable[[int], int], value: Number) -> Number:
    return Number(
        None if value.certain is None else change(value.certain),
        None if value.presumed is None else change(value.presumed),
    )
