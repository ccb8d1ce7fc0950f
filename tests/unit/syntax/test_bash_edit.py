"""Editing: change, read back, and bash agrees; every other byte stays."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

import pytest
from bash_case import Case, all_cases
from bash_oracle import Oracle
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowngood.model import Known, Occurrences, Reading, Unknown
from knowngood.syntax.argv import flag_value, parse_args
from knowngood.syntax.bash import CannotEdit, pick_launch, read_script, set_flag, set_knob

SCRIPT = b"""#!/bin/bash
# the knobs
export KNOB=512 # tuned
export OTHER="two words"

exec python3 -m sglang.launch_server \\
  --model-path /m \\
  --tp 4 \\
  --disable-overlap-schedule
"""
TRICKY = [
    "777", "a b", "it's", 'x"y', "$HOME `x`", "back\\slash", "é日", "two\nlines", "", "~/x", "{a,b}", "*",
    "#c", "tail\\", "!x", "a'b\"c",
]  # fmt: skip


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    made = Oracle()
    (made.root / "files").mkdir()
    yield made
    made.close()


def changed_lines(before: bytes, after: bytes) -> list[str]:
    lines = difflib.ndiff(before.decode("latin-1").splitlines(), after.decode("latin-1").splitlines())
    return [line for line in lines if line[0] in "+-"]


# --- knobs ------------------------------------------------------------------------------------------


def test_only_the_value_changes() -> None:
    edited = set_knob(SCRIPT, "KNOB", "256")
    assert edited == SCRIPT.replace(b"KNOB=512", b"KNOB=256")
    assert set_knob(edited, "KNOB", "512") == SCRIPT
    assert set_knob(SCRIPT, "OTHER", "three") == SCRIPT.replace(b"two words", b"three")


def test_what_is_as_wanted_stays_as_it_is() -> None:
    assert set_knob(SCRIPT, "KNOB", "512") is not None
    assert set_knob(SCRIPT, "KNOB", "512") == SCRIPT
    assert set_knob(SCRIPT, "NOT_THERE", None) == SCRIPT


def test_a_new_knob_stands_with_its_neighbours() -> None:
    edited = set_knob(SCRIPT, "NEW", "1")
    assert changed_lines(SCRIPT, edited) == ["+ export NEW=1"]
    assert edited.index(b"export NEW") > edited.index(b"export OTHER")
    assert set_knob(edited, "NEW", None) == SCRIPT


def test_a_knob_goes_with_its_line() -> None:
    assert set_knob(SCRIPT, "OTHER", None) == SCRIPT.replace(b'export OTHER="two words"\n', b"")


@pytest.mark.parametrize(
    ("before", "name", "value", "after"),
    [
        (b"export A=1 B=2 C=3\nserver\n", "B", "9", b"export A=1 B=9 C=3\nserver\n"),
        (b"export A=1 B=2 C=3\nserver\n", "B", None, b"export A=1 C=3\nserver\n"),
        (b"export A=1; export B=2; server\n", "A", None, b"export B=2; server\n"),
        (b"A=1 B=2 server --x\n", "A", "3", b"A=3 B=2 server --x\n"),
        (b"A=1 B=2 server --x\n", "A", None, b"B=2 server --x\n"),
        (b"env A=1 server\n", "A", "x y", b'env A="x y" server\n'),
        (b"exec env 'A=1' server\n", "A", "2", b"exec env 'A=2' server\n"),
        (b"export A='q'\nserver\n", "A", "r s", b"export A='r s'\nserver\n"),
        (b"export A='q'\nserver\n", "A", "it's", b"export A=\"it's\"\nserver\n"),
        (b'export A="q"\nserver\n', "A", "$x", b'export A="\\$x"\nserver\n'),
        (b"A=1\nexport A\nserver\n", "A", "2", b"A=2\nexport A\nserver\n"),
        (b"A=1\nserver\n", "A", "2", b"export A=2\nserver\n"),
        (b"export A=1\n# export A=3\nexport A=2\nserver\n", "A", "7", b"# export A=3\nexport A=7\nserver\n"),
        (b"export A=${A:-1}\nserver\n", "A", "2", b"export A=2\nserver\n"),
        (b"export A=1\r\nserver\n", "A", "2", b"export A=2\nserver\n"),
        (b"server\n", "A", "2", b"export A=2\nserver\n"),
        (b"m() {\n export A=1\n server\n}\nm\n", "A", "2", b"m() {\n export A=2\n server\n}\nm\n"),
        (b"cat <<E\nA=9\nE\nexport A=1\nserver\n", "A", "2", b"cat <<E\nA=9\nE\nexport A=2\nserver\n"),
        (b"if false; then A=0; fi\nexport A=1\nserver", "A", "", b'if false; then A=0; fi\nexport A=""\nserver'),
    ],
)  # fmt: skip
def test_places_and_styles(before: bytes, name: str, value: str | None, after: bytes) -> None:
    assert set_knob(before, name, value).replace(b"\r\n", b"\n") == after


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"if [ -e /x ]; then\n  export A=1\nfi\nserver\n", 2),
        (b"A=1 server &\nA=2 server\n", 1),
        (b"export A=x\nA+=y\nserver\n", 2),
        (b"export A=1\nserver &\nA=2\nserver\n", 3),
        (b"export A=1\nif then\nserver\n", 2),
        (b"export A=1\necho done\n", 0),
        (b"case $(uname) in *) export A=1;; esac\nserver |\n", 0),
    ],
)
def test_what_can_not_be_decided_is_refused(text: bytes, line: int) -> None:
    with pytest.raises(CannotEdit) as refused:
        set_knob(text, "A", "9")
    assert refused.value.reason and (not line or refused.value.line == line)


@pytest.mark.parametrize("name", ["", "A B", "1A", "A=B", "A\n"])
def test_no_name(name: str) -> None:
    with pytest.raises(CannotEdit):
        set_knob(SCRIPT, name, "1")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    value=st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=12)
    | st.sampled_from(TRICKY)
)
def test_bash_reads_any_value_back(value: str, oracle: Oracle) -> None:
    for template in (
        b"export K=1\nexec server\n",
        b"export K='1'\nexec server\n",
        b'export K="1"\nexec server\n',
        b"exec server\n",
    ):
        edited = set_knob(template, "K", value)
        assert [started.env["K"] for started in oracle.run(edited)] == [value]
        assert read_script(edited).launches[0].env["K"].value == Known(value)
        assert edited.count(b"K=") == 1


@pytest.mark.parametrize("path", all_cases(), ids=lambda path: path.stem)
def test_every_knob_of_every_case(path: Path, oracle: Oracle) -> None:
    """Change → read back → bash agrees; `bash -n` still passes; a new knob can be taken out again."""
    case = Case.load(path, oracle.root / "files")
    for file, data in case.files.items():
        Path(file).write_bytes(data)
    script = read_script(case.text)
    names = {n for launch in script.launches for n, r in launch.env.items() if isinstance(r.value, Known)}
    for name in sorted(names - {"PATH"}):
        _one_edit(case, name, "12345", oracle)
    edited = _one_edit(case, "NEW_KNOB", "a b", oracle)
    if edited is not None:
        assert len(edited) == len(case.text) + len(b'export NEW_KNOB="a b"\n') or b"; " in edited
        assert set_knob(edited, "NEW_KNOB", None) in (
            case.text,
            edited.replace(b'export NEW_KNOB="a b"; ', b""),
        )


def _one_edit(case: Case, name: str, value: str, oracle: Oracle) -> bytes | None:
    try:
        edited = set_knob(case.text, name, value)
    except CannotEdit as refused:
        assert len(refused.reason) > 20
        return None
    assert not oracle.is_valid(case.text) or oracle.is_valid(edited)
    given = [
        s.env.get(name) for s in oracle.run(edited, env=case.caller, args=case.args, seconds=case.seconds)
    ]
    assert value in given
    return edited


# --- flags ------------------------------------------------------------------------------------------

ONE, BARE = Occurrences((("8",),)), Occurrences(((),))


@pytest.mark.parametrize(
    ("before", "names", "value", "after"),
    [
        (b"server --tp 4 --x\n", ["--tp"], ONE, b"server --tp 8 --x\n"),
        (b"server --tp=4 --x\n", ["--tp"], ONE, b"server --tp=8 --x\n"),
        (b"server --tp '4'\n", ["--tp"], ONE, b"server --tp '8'\n"),
        (b"server --tp-size 4\n", ["--tp", "--tp-size"], ONE, b"server --tp-size 8\n"),
        (b"server --tp_size 4\n", ["--tp-size"], ONE, b"server --tp_size 8\n"),
        (b"server --tp 4\n", ["--tp"], None, b"server\n"),
        (b"server --a 1 --tp 4 --b\n", ["--tp"], None, b"server --a 1 --b\n"),
        (b"server \\\n  --tp 4 \\\n  --x\n", ["--tp"], None, b"server \\\n  --x\n"),
        (b"server \\\n  --x \\\n  --tp 4\n", ["--tp"], None, b"server \\\n  --x\n"),
        (b"server --x # end\n", ["--tp"], ONE, b"server --x --tp 8 # end\n"),
        (b"server --x > log 2>&1 &\n", ["--tp"], ONE, b"server --x --tp 8 > log 2>&1 &\n"),
        (b"server --x | tee log\n", ["--on"], BARE, b"server --x --on | tee log\n"),
        (b"server \\\n --x 1 \\\n --y 2\n", ["--tp"], ONE, b"server \\\n --x 1 \\\n --y 2 \\\n --tp 8\n"),
        (b'server --x "$@"\n', ["--tp"], ONE, b'server --x --tp 8 "$@"\n'),
        (b"server --x -- pos\n", ["--on"], BARE, b"server --x --on -- pos\n"),
        (b"server --enable-x --tp 4\n", ["--enable-x"], None, b"server --tp 4\n"),
        (b"server --b 1 2 --x\n", ["--b"], Occurrences((("1", "2", "4"),), True), b"server --b 1 2 4 --x\n"),
        (b"server --bs 1 2 4\n", ["--bs"], Occurrences((("1",),), True), b"server --bs 1\n"),
        (b"server --l a\n", ["--l"], Occurrences((("a",), ("b",))), b"server --l a --l b\n"),
        (b"server --tp 4 --x --tp 2\n", ["--tp"], ONE, b"server --x --tp 8\n"),
        (b"server --j '{}'\n", ["--j"], Occurrences((('{"a": 1}',),)), b"server --j '{\"a\": 1}'\n"),
        (b'A=(\n  --tp 4\n  --x # keep\n)\nserver "${A[@]}"\n', ["--tp"], ONE,
         b'A=(\n  --tp 8\n  --x # keep\n)\nserver "${A[@]}"\n'),
        (b'A=(\n --tp 4\n --x\n)\nserver "${A[@]}"\n', ["--x"], None, b'A=(\n --tp 4\n)\nserver "${A[@]}"\n'),
        (b'TP=4\nserver --tp "$TP" --x\n', ["--tp"], ONE, b'TP=4\nserver --tp "8" --x\n'),
    ],
)  # fmt: skip
def test_flags(before: bytes, names: list[str], value: Occurrences | None, after: bytes) -> None:
    assert set_flag(before, names, value) == after


@pytest.mark.parametrize(
    "text",
    [
        b'A="--tp 4"\nserver $A\n',
        b'A=()\nif [ -e /x ]; then A+=(--tp 4); fi\nserver "${A[@]}"\n',
        b"server --tp 4 &\nserver --tp 2\n",
        b'A=(--tp 4)\nserver "${A[@]}" --one &\nserver "${A[@]}" --two\n',
        b"echo nothing\n",
    ],
)
def test_flags_that_can_not_be_placed(text: bytes) -> None:
    with pytest.raises(CannotEdit) as refused:
        set_flag(text, ["--tp"], ONE)
    assert len(refused.value.reason) > 20


def test_the_server_is_picked_by_its_words() -> None:
    text = b"server --mode prefill --tp 4 &\nserver --mode decode --tp 4\n"
    assert set_flag(text, ["--tp"], ONE, server="decode") == text.replace(b"decode --tp 4", b"decode --tp 8")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    value=st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=10)
    | st.sampled_from(TRICKY)
)
def test_bash_gives_any_flag_value(value: str, oracle: Oracle) -> None:
    if value.startswith("-"):
        return
    wanted = Occurrences(((value,),))
    for template in (
        b"exec server --f 1 --g\n",
        b"exec server --f=1\n",
        b"exec server --f '1'\n",
        b"exec server --g\n",
    ):
        edited = set_flag(template, ["--f"], wanted)
        (started,) = oracle.run(edited)
        words = [Reading(Known(word)) for word in started.argv[1:]]
        assert flag_value(words, ["--f"], "one").value == Known(wanted)


@pytest.mark.parametrize("path", all_cases(), ids=lambda path: path.stem)
def test_every_flag_of_every_case(path: Path, oracle: Oracle) -> None:
    case = Case.load(path, oracle.root / "files")
    for file, data in case.files.items():
        Path(file).write_bytes(data)
    picked = pick_launch(read_script(case.text), None)
    if isinstance(picked, Unknown):
        return
    flags = [arg.flag for arg in parse_args(picked.argv[1:])[0] if arg.flag != "-m"]
    for flag in dict.fromkeys([*flags, "--brand-new"]):
        try:
            edited = set_flag(case.text, [flag], Occurrences((("12 3",),)))
        except CannotEdit as refused:
            assert len(refused.reason) > 20
            continue
        assert not oracle.is_valid(case.text) or oracle.is_valid(edited)
        started = oracle.run(edited, env=case.caller, args=case.args, seconds=case.seconds)
        given = [flag_value([Reading(Known(w)) for w in s.argv[1:]], [flag], "one").value for s in started]
        assert Known(Occurrences((("12 3",),))) in given or picked.conditional
        if flag == "--brand-new":
            assert set_flag(edited, [flag], None, server="--brand-new") == case.text
