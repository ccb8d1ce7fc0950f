"""Words, lines and names as systemd takes them apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowngood.syntax.systemd.names import UnitName, unescape_name, unescape_path
from knowngood.syntax.systemd.text import read_text
from knowngood.syntax.systemd.utf8 import is_valid
from knowngood.syntax.systemd.wordlists import ENVIRONMENT, quoted
from knowngood.syntax.systemd.words import BadWordError, Style, words

PLAIN = Style()
SHELL = Style(unquote=True)


def texts(data: bytes, style: Style) -> list[bytes]:
    return [word.text for word in words(data, style)]


@pytest.mark.parametrize(
    ("data", "style", "wanted"),
    [
        (b" a  b\tc ", PLAIN, [b"a", b"b", b"c"]),
        (b"'a b' \"c d\"e", SHELL, [b"a b", b"c de"]),
        (b"'' \"\"", SHELL, [b"", b""]),
        (rb"a\ b \x41", SHELL, [b"a b", b"x41"]),
        (rb"a\x20b \101\t", ENVIRONMENT, [b"a b", b"A\t"]),
        (rb"'a b' c\d", Style(unquote=True, keep_backslash=True), [b"a b", rb"c\d"]),
        (b"1:2::", Style(keep_empty=True, separators=b":"), [b"1", b"2", b"", b""]),
        (b"'open", Style(unquote=True, lenient_ends=True), [b"open"]),
        ("“a b” c".encode(), SHELL, ["“a".encode(), "b”".encode(), b"c"]),
    ],
)
def test_words_by_style(data: bytes, style: Style, wanted: list[bytes]) -> None:
    assert texts(data, style) == wanted


@pytest.mark.parametrize("data", [b"'open", b'a"', rb"\q", b"\\", rb"\x0", rb"\000", rb"\400", rb"\ud8"])
def test_what_is_no_word(data: bytes) -> None:
    with pytest.raises(BadWordError):
        texts(data, ENVIRONMENT)


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"))))
def test_quoted_words_read_back(wanted: list[str]) -> None:
    line = " ".join(map(quoted, wanted))
    assert [text.decode() for text in texts(line.encode(), ENVIRONMENT)] == wanted
    assert "\n" not in line


def test_lines_are_told_of_continued_texts() -> None:
    (assignment,) = read_text("/u", b"[Service]\n# c\nExecStart=/a \\\n  # c\n  b \\\n  c\n").assignments
    assert assignment.text == "/a    b    c"
    lines = [assignment.line_at(word.start) for word in words(assignment.text.encode(), PLAIN)]
    assert lines == [3, 5, 6]


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"abc", True),
        ("é€😀".encode(), True),
        (b"\xff", False),
        (b"\xed\xa0\x80", False),  # a surrogate
        ("\ufffe".encode(), False),  # a noncharacter
        ("\ufdd0".encode(), False),
        ("\U0001ffff".encode(), False),
    ],
)
def test_text_that_systemd_takes(data: bytes, wanted: bool) -> None:
    assert is_valid(data) is wanted


def test_names() -> None:
    name = UnitName.of("a-b-@x@y.service")
    assert (name.prefix, name.instance, name.kind) == ("a-b-", "x@y", "service")
    assert name.template == "a-b-@.service"
    assert UnitName.of("plain.service").instance is None
    assert UnitName.of("template@.service").template is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [(r"a-b\x2dc", "a/b-c"), (r"a\x2", None), ("", ""), (r"\xc3\xa9", "é"), (r"a\b", None)],
)
def test_names_unescaped(text: str, wanted: str | None) -> None:
    assert unescape_name(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"), [("-", "/"), ("srv-x", "/srv/x"), ("-srv", None), ("a--b", None), ("a-..-b", None)]
)
def test_paths_unescaped(text: str, wanted: str | None) -> None:
    assert unescape_path(text) == wanted
