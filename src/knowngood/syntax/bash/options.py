"""`set`, `shopt` and what else changes how bash goes about a script."""

from __future__ import annotations

import re

from knowngood.syntax.bash.declare import Declarations
from knowngood.syntax.bash.fields import (
    Items,
    known_words,
    word_text,
    word_texts,
)
from knowngood.syntax.bash.nodes import Simple
from knowngood.syntax.bash.shell import Doubt
from knowngood.syntax.bash.state import DONE, UNSURE

_SET_LETTERS = {
    "a": "allexport", "e": "errexit", "u": "nounset", "f": "noglob", "n": "noexec", "x": "xtrace",
    "v": "verbose", "m": "monitor", "b": "notify", "h": "hashall", "C": "noclobber", "E": "errtrace",
    "T": "functrace", "B": "braceexpand", "P": "physical", "k": "keyword", "p": "privileged", "t": "onecmd",
    "H": "histexpand",
}  # fmt: skip
# Options that change how a script is read in ways that are not followed.
_STRANGE = frozenset(["keyword", "onecmd", "noexec", "posix", "privileged"])
_STRANGE_SHOPT_NAMES = """
compat31 compat32 compat40 compat41 compat42 compat43 compat44 localvar_inherit localvar_unset execfail
xpg_echo patsub_replacement
"""
_STRANGE_SHOPTS = frozenset(_STRANGE_SHOPT_NAMES.split())


class Options(Declarations):
    """An option that changes how a script is read makes everything doubtful; the others are kept."""

    def do_set(self, node: Simple, items: Items) -> None:
        self.state.status = DONE
        at = 1
        while at < len(items):
            text = word_text(items[at])
            if text is None:
                raise Doubt("options or arguments that are not known", node.line)
            if text in ("--", "-"):
                self.state.positional = (
                    items[at + 1 :] if text == "--" or at + 1 < len(items) else (self.state.positional)
                )
                return
            if not re.fullmatch(r"[-+][A-Za-z]+", text):
                self.state.positional = items[at:]
                return
            at += 1
            for letter in text[1:]:
                if letter == "o":
                    option = word_text(items[at]) if at < len(items) else None
                    if at < len(items) and option is None:
                        raise Doubt("an option that is not known", node.line)
                    at += 1
                else:
                    option = _SET_LETTERS.get(letter)
                self._switch(option, text[0] == "-", node.line)

    def _switch(self, option: str | None, on: bool, line: int) -> None:
        if option in _STRANGE or (option == "braceexpand" and not on):
            raise Doubt(f"set -o {option}", line)
        if option is not None:
            self.state.options[option] = on

    def do_shopt(self, node: Simple, items: Items) -> None:
        words = known_words(items[1:])
        self.state.status = DONE
        if words is None:
            raise Doubt("options that are not known", node.line)
        if not words or words[0] not in ("-s", "-u"):
            self.state.status = UNSURE
            return
        if words[1:2] == ("-o",):
            for option in words[2:]:
                self._switch(option, words[0] == "-s", node.line)
            return
        for option in words[1:]:
            if option in _STRANGE_SHOPTS:
                raise Doubt(f"shopt {option}", node.line)
            self.state.options[option] = words[0] == "-s"

    def do_alias(self, node: Simple, items: Items) -> None:
        self.state.status = UNSURE
        if self.state.option("expand_aliases") is not False and len(items) > 1:
            raise Doubt("an alias changes how the rest is read", node.line)

    def do_trap(self, node: Simple, items: Items) -> None:
        self.state.status = DONE
        words = word_texts(items[1:])
        signals = words[1:]
        if any(
            word is None or word.upper().removeprefix("SIG") in ("DEBUG", "ERR", "RETURN") for word in signals
        ):
            raise Doubt("a trap that runs between commands", node.line)

    def do_enable(self, node: Simple, items: Items) -> None:
        raise Doubt("enable changes bash's own commands", node.line)
