"""Flags and values out of argv, with argparse itself as the judge where all words are known."""

from __future__ import annotations

import argparse
import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowngood.model import ABSENT, Known, Occurrences, Reading, Unknown
from knowngood.syntax.argv import Partial, Shape, flag_value, parse_args


def words(*texts: str) -> list[Reading]:
    return [Reading(Known(text), at) for at, text in enumerate(texts, 1)]


def hole(**known: object) -> Partial:
    return Partial(Unknown("not known"), **known)  # type: ignore[arg-type]


def value(argv: list[Reading], name: str, shape: Shape) -> object:
    found = flag_value(argv, [name], shape).value
    return found.value.words if isinstance(found, Known) and isinstance(found.value, Occurrences) else found


@pytest.mark.parametrize(
    ("argv", "shape", "expected"),
    [
        (["--tp", "4"], "one", (("4",),)),
        (["--tp=4"], "one", (("4",),)),
        (["--tp", "4", "--tp", "8"], "one", (("8",),)),
        (["--tp", "4", "5"], "one", (("4",),)),
        (["--tp", "4", "5", "--x"], "many", (("4", "5"),)),
        (["--tp=4", "5"], "many", (("4", "5"),)),
        (["--tp", "a", "--x", "--tp", "b"], "repeat", (("a",), ("b",))),
        (["--tp"], "bare", ((),)),
        (["--tp", "model"], "bare", ((),)),
        (["--tp=1"], "bare", (("1",),)),
        (["--tp", "-1"], "one", (("-1",),)),
        (["--tp", "-1.5e3"], "one", (("-1.5e3",),)),
        (["--tp", "--other"], "one", ((),)),
        (["--tp", ""], "one", (("",),)),
        (["--tp=a=b"], "one", (("a=b",),)),
        (["--tp", '{"a": [1, 2]}'], "one", (('{"a": [1, 2]}',),)),
        (["--", "--tp", "4"], "one", ABSENT),
        (["--tpx", "4"], "one", ABSENT),
        (["tp", "4"], "one", ABSENT),
    ],
)
def test_flag_in_known_words(argv: list[str], shape: Shape, expected: object) -> None:
    if argv == ["--tp=4", "5"]:
        # argparse gives `--tp=4` its one word even where it would take more.
        expected = (("4",),)
    assert value(words(*argv), "--tp", shape) == expected


def test_aliases_and_underscores_are_the_same_flag() -> None:
    argv = words("--tp_size", "2", "--tensor-parallel-size", "4")
    names = ["--tp", "--tp-size", "--tensor-parallel-size"]
    assert flag_value(argv, names, "one").value == Known(Occurrences((("4",),)))
    assert flag_value(argv[:2], names, "one").value == Known(Occurrences((("2",),)))
    assert flag_value(argv[:2], names, "one", underscores=False).value == ABSENT


@pytest.mark.parametrize(
    ("argv", "shape", "known"),
    [
        ([*words("--tp", "4"), hole(may_split=True)], "one", None),
        ([hole(may_split=True), *words("--tp", "4")], "one", (("4",),)),
        ([hole(may_split=True), *words("--tp", "4")], "repeat", None),
        ([*words("--x"), hole(), *words("--tp", "4")], "one", (("4",),)),
        ([*words("--tp", "4", "--model"), hole()], "one", (("4",),)),
        ([*words("--tp", "4", "--model", "m"), hole()], "one", None),
        ([*words("--tp", "4"), hole(start="/models/")], "one", (("4",),)),
        ([*words("--tp", "4"), hole(start="--port=")], "one", (("4",),)),
        ([*words("--tp", "4"), hole(start="--port=", may_split=True)], "one", None),
        ([*words("--tp", "4"), hole(start="--t")], "one", None),
        ([*words("--tp"), hole()], "one", None),
        ([*words("--tp"), hole(may_split=True)], "bare", ((),)),
        ([hole(start="--tp=")], "one", None),
    ],
)
def test_unknown_words_hide_what_they_can_hold(argv: list[Reading], shape: Shape, known: object) -> None:
    found = value(argv, "--tp", shape)
    assert found == known if known is not None else isinstance(found, Unknown)


def test_absence_is_unknown_beside_an_unknown_word() -> None:
    assert isinstance(value([*words("--x", "1"), hole(may_split=True)], "--tp", "one"), Unknown)
    assert isinstance(value([hole()], "--tp", "one"), Unknown)
    assert value([*words("--x"), hole()], "--tp", "one") == ABSENT


def choice(*options: list[Reading], default: bool = False) -> Partial:
    return hole(may_split=True, choices=tuple(tuple(option) for option in options), default=default)


def test_choices_decide_where_they_agree() -> None:
    maybe = choice([], words("--enable-x"))
    assert value([*words("--tp", "4"), maybe], "--tp", "one") == (("4",),)
    assert isinstance(value([*words("--tp", "4"), maybe], "--enable-x", "bare"), Unknown)
    either = choice(words("--tp", "4"), words("--tp=4", "--y"))
    assert value([either], "--tp", "one") == (("4",),)
    many = [choice([], words(f"--flag-{n}")) for n in range(40)]
    assert value([*words("--tp", "4"), *many], "--tp", "one") == (("4",),)
    swallowed = [*words("--bs", "1"), choice([], words("--x")), *words("2")]
    assert isinstance(value(swallowed, "--bs", "many"), Unknown)


def test_a_default_is_marked() -> None:
    maybe = choice([], words("--tp", "8"), default=True)
    found = flag_value([*words("--tp", "4"), maybe], ["--tp"], "one")
    assert found.value == Known(Occurrences((("4",),))) and found.default
    callers = hole(may_split=True, default=True)
    found = flag_value([*words("--x", "4"), callers], ["--tp"], "one")
    assert found.value == ABSENT and found.default
    given_word = Reading(Known("4"), 1, default=True)
    assert flag_value([*words("--tp"), given_word], ["--tp"], "one").default


def test_the_line_is_the_flags_own() -> None:
    assert flag_value(words("a", "--x", "--tp", "4"), ["--tp"], "one").line == 3


def test_arguments_as_they_are_written() -> None:
    args, positionals = parse_args(
        [
            *words("serve", "m", "--tp=4", "--bs", "1", "2", "--on", "--n", "-1"),
            hole(start="--port="),
            *words("--", "--z"),
        ]
    )
    assert [(a.flag, None if a.value is None else a.value.value) for a in args] == [
        ("--tp", Known("4")),
        ("--bs", Known("1")),
        ("--on", None),
        ("--n", Known("-1")),
        ("--port", Unknown("not known")),
    ]
    assert [m.value for m in args[1].more] == [Known("2")]
    assert [p.value for p in positionals] == [Known("serve"), Known("m"), Known("2"), Known("--z")]


TEXTS = st.sampled_from(
    ["1", "-2", "a", "", "a=b", "{}", "x y", "--other", "--flag", "--flag=v", "--other=w", "-", "--flag="]
)


@given(st.lists(TEXTS, max_size=7))
def test_one_word_as_argparse_has_it(argv: list[str]) -> None:
    """Whatever argparse accepts, it reads alike."""
    parser = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--flag")
    parser.add_argument("--other")
    parser.add_argument("rest", nargs="*")
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            parsed = parser.parse_args(argv)
    except (argparse.ArgumentError, SystemExit):
        return
    found = value(words(*argv), "--flag", "one")
    assert found == (ABSENT if parsed.flag is None else ((parsed.flag,),))


@given(st.lists(TEXTS, max_size=7))
def test_many_words_as_argparse_has_it(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--flag", nargs="+")
    parser.add_argument("--other")
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            parsed = parser.parse_args(argv)
    except (argparse.ArgumentError, SystemExit):
        return
    found = value(words(*argv), "--flag", "many")
    assert found == (ABSENT if parsed.flag is None else (tuple(parsed.flag),))
