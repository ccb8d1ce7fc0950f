"""`read`, `mapfile`, `printf -v`, `let`: values that come from an input or a computation."""

from __future__ import annotations

import re
from collections.abc import Mapping

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.arithmetic import BadArithmetic, Variables, evaluate
from knowngood.syntax.bash.fields import (
    Gap,
    Items,
    known_words,
    only_fields,
    presumed_fields,
    word_text,
)
from knowngood.syntax.bash.nodes import Redirection, Simple
from knowngood.syntax.bash.options import Options
from knowngood.syntax.bash.printf import printf
from knowngood.syntax.bash.shell import Doubt
from knowngood.syntax.bash.state import DONE, UNSURE, to_status
from knowngood.syntax.bash.text import unknown


class Inputs(Options):
    """Inputs are unknown, but for those that stand in the script itself."""

    def do_let(self, node: Simple, items: Items) -> None:
        fields = only_fields(items[1:])
        words = None if fields is None else [texts.known(field.text) for field in fields]
        if not words or None in words:
            raise Doubt("let with words that are not known", node.line)
        try:
            value = [evaluate(w or "", Variables(self._read_number, self._write_number)) for w in words][-1]
        except BadArithmetic as error:
            raise Doubt(f"arithmetic that fails or is not understood: {error}", node.line) from None
        self.state.status = to_status(
            *(None if v is None else v != 0 for v in (value.certain, value.presumed))
        )

    def do_read(self, node: Simple, items: Items) -> None:
        words = known_words(items[1:])
        if words is None:
            raise Doubt("read with words that are not known", node.line)
        names, options = _read_arguments(words)
        if names is None:
            raise Doubt("read with options that are not understood", node.line)
        self.state.status = UNSURE
        if "a" in options:
            self._set_items_unknown(options["a"], node.line)
            return
        content = self.here(node)
        whole = None if content is None or len(names) != 1 else self._read_whole(content, options)
        for name in names:
            if not re.fullmatch(r"[A-Za-z_]\w*", name):
                raise Doubt("read into something that is no plain name", node.line)
            self.assign(
                name, whole if whole is not None else unknown("read from an input", node.line), node.line
            )

    def here(self, node: Simple) -> texts.Text | None:
        """What the command is given to read by a here-document or here-string."""
        source: Redirection | None = None
        for redirection in node.redirections:
            if redirection.operator in ("<<", "<<-", "<<<", "<"):
                source = redirection
        if source is None:
            return None
        if source.document is not None:
            return self.text(source.document.body)
        if source.operator == "<<<" and source.target is not None:
            return texts.concat(self.text(source.target), ("\n",))
        return None

    def _read_whole(self, content: texts.Text, options: Mapping[str, str]) -> texts.Text | None:
        """`read -r -d ''` keeps all; `read -r` the first line, trimmed where IFS holds blanks."""
        separators = self.separators()
        if "r" not in options or separators is None or set(options) - {"r", "d"}:
            return None
        if options.get("d"):
            return None

        def taken(text: str) -> str | None:
            if "d" not in options:
                text = text.split("\n", 1)[0]
            if separators == "":
                return text
            return text.strip(" \t\n") if separators == " \t\n" else None

        return texts.lift(taken, content)

    def _set_items_unknown(self, name: str, line: int) -> None:
        self.assign_items(name, (Gap("read from an input", line),), line)

    def do_mapfile(self, node: Simple, items: Items) -> None:
        words = known_words(items[1:])
        if words is None:
            raise Doubt("mapfile with words that are not known", node.line)
        names: list[str] = []
        skip = False
        for word in words:
            if skip:
                skip = False
            elif re.fullmatch(r"-[dnOsuCc]", word):
                skip = True
            elif not word.startswith("-"):
                names.append(word)
        self.state.status = UNSURE
        if names:
            self._set_items_unknown(names[-1], node.line)

    def do_printf(self, node: Simple, items: Items) -> None:
        self.state.status = DONE
        if len(items) > 1 and word_text(items[1]) is None:
            raise Doubt("printf with words that are not known", node.line)
        if word_text(items[1]) != "-v" if len(items) > 1 else True:
            return
        name = word_text(items[2]) if len(items) > 2 else None
        if name is None or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise Doubt("printf -v into a name that is not known", node.line)
        self.assign(name, self.printed(items[3:], node.line), node.line)

    def printed(self, items: Items, line: int) -> texts.Text:
        """What `printf format words…` writes."""
        words = known_words(items)
        text = None if not words else printf(words[0], words[1:])
        if text is not None:
            return texts.plain(text)
        told = presumed_fields(items)
        expected = None if told is None else [texts.presumed(field.text) for field in told]
        presumed = None
        if expected and None not in expected:
            presumed = printf(expected[0] or "", tuple(word or "" for word in expected[1:]))
        return unknown("printf of what is not known", line, presumed=presumed)


def _read_arguments(words: tuple[str, ...]) -> tuple[list[str] | None, dict[str, str]]:
    options: dict[str, str] = {}
    at = 0
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        word = words[at]
        at += 1
        if word == "--":
            break
        for offset, letter in enumerate(word[1:], 1):
            if letter in "adinNptu":
                value = word[offset + 1 :]
                if not value:
                    if at >= len(words):
                        return None, options
                    value = words[at]
                    at += 1
                options[letter] = value
                break
            if letter not in "ers":
                return None, options
            options[letter] = ""
    return list(words[at:]), options
