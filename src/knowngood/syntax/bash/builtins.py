"""The other commands that bash runs itself, as far as they change what is known."""

from __future__ import annotations

from collections.abc import Callable

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.control import Frame
from knowngood.syntax.bash.fields import (
    Field,
    Gap,
    Items,
    known_words,
    presumed_fields,
    word_texts,
)
from knowngood.syntax.bash.inputs import Inputs
from knowngood.syntax.bash.nodes import Simple
from knowngood.syntax.bash.shell import Died, Doubt, Left
from knowngood.syntax.bash.state import DONE, FAILED, UNSURE, Export, Status, Variable
from knowngood.syntax.bash.text import unknown

_HARMLESS_NAMES = """
kill jobs fg bg disown wait ulimit umask type hash pwd help history times caller dirs bind compgen
complete compopt suspend logout fc pushd popd cd echo
"""
_HARMLESS = frozenset(_HARMLESS_NAMES.split())


class Builtins(Inputs):
    """Commands by name. What has no entry here is no command of bash's own."""

    def builtin(self, name: str) -> Callable[[Simple, Items], None] | None:
        handler = _HANDLERS.get(name)
        if handler is not None:
            return lambda node, items: handler(self, node, items)
        return self.do_harmless if name in _HARMLESS else None

    def do_harmless(self, node: Simple, items: Items) -> None:
        name = (known_words(items[:1]) or ("",))[0]
        if name == "wait" and any(w in ("-p", None) for w in word_texts(items)):
            raise Doubt("wait -p sets a variable", node.line)
        for owned in ("PWD", "OLDPWD") if name in ("cd", "pushd", "popd") else ():
            self.state.variables[owned] = Variable(
                unknown("the working directory", node.line), Export.MIXED, node.line, maybe_unset=True
            )
        self.state.status = UNSURE
        if name in ("echo", "ulimit", "umask", "pwd"):
            self.state.status = Status(0 if name == "echo" else None, 0)

    def do_true(self, node: Simple, items: Items) -> None:
        self.state.status = DONE

    def do_false(self, node: Simple, items: Items) -> None:
        self.state.status = FAILED

    def do_test(self, node: Simple, items: Items) -> None:
        words = items[1:]
        if (known_words(items[:1]) or ("",))[0] == "[":
            if not words or not isinstance(words[-1], Field) or texts.known(words[-1].text) != "]":
                self.state.status = UNSURE
                return
            words = words[:-1]
        self.state.status = self.test_command(words)

    def do_unset(self, node: Simple, items: Items) -> None:
        self.unset_command(items[1:], node.line)

    # --- arguments ----------------------------------------------------------------------------------

    def do_shift(self, node: Simple, items: Items) -> None:
        words = known_words(items[1:])
        if words is None or (words and not words[0].isdigit()):
            raise Doubt("a shift by a number that is not known", node.line)
        count = int(words[0]) if words else 1
        positional = self.state.positional
        self.state.status = DONE
        for at, item in enumerate(positional[:count]):
            if isinstance(item, Gap):
                # How much of it is shifted away is not known; what the caller gives stays presumed nothing.
                told = presumed_fields(positional)
                expected = told[count:] if told is not None and len(told) >= count else told
                self.state.positional = (Gap(item.reason, item.line, presumed=expected),)
                self.state.status = UNSURE
                return
            if at + 1 == count:
                self.state.positional = positional[count:]
                return
        if count > len(positional):
            self.state.status = FAILED

    def do_getopts(self, node: Simple, items: Items) -> None:
        words = known_words(items[1:])
        positional = self.state.positional
        if words is None or len(words) < 2:
            raise Doubt("getopts with words that are not known", node.line)
        arguments = known_words(positional if len(words) == 2 else items[3:])
        if arguments is None or self.state.getopts == (0, 0) or "OPTIND" in self.state.variables:
            expected = presumed_fields(positional) == ()
            self.assign(words[1], unknown("an option of the caller", node.line), node.line)
            self.state.getopts = (0, 0)
            self.state.status = Status(None, 1 if expected else None)
            argument = unknown("an option of the caller", node.line)
            self.state.variables["OPTARG"] = Variable(argument, Export.NO, node.line, maybe_unset=True)
            return
        self._next_option(words[0], words[1], arguments, node.line)

    def _next_option(self, spec: str, name: str, arguments: tuple[str, ...], line: int) -> None:
        index, letter_at = self.state.getopts
        silent = spec.startswith(":")
        word = arguments[index - 1] if index <= len(arguments) else None
        if word is None or (letter_at == 1 and (not word.startswith("-") or word == "-")):
            self._end_of_options(name, line)
            return
        if letter_at == 1 and word == "--":
            self.state.getopts = (index + 1, 1)
            self._end_of_options(name, line)
            return
        letter = word[letter_at]
        rest = word[letter_at + 1 :]
        following = (index, letter_at + 1) if rest else (index + 1, 1)
        at = spec.find(letter, 1 if silent else 0)
        value: str | None = None
        if letter == ":" or at < 0:
            letter, value = "?", letter if silent else None
        elif spec[at + 1 : at + 2] == ":":
            if rest:
                value, following = rest, (index + 1, 1)
            elif index < len(arguments):
                value, following = arguments[index], (index + 2, 1)
            else:
                following = (index + 1, 1)
                letter, value = (":", letter) if silent else ("?", None)
        self.state.getopts = following
        self.assign(name, texts.plain(letter), line)
        text = None if value is None else texts.plain(value)
        self.state.variables["OPTARG"] = Variable(text, Export.NO, line)
        self.state.status = DONE

    def _end_of_options(self, name: str, line: int) -> None:
        self.assign(name, texts.plain("?"), line)
        self.state.variables["OPTARG"] = Variable(None, Export.NO, line)
        self.state.status = FAILED

    # --- leaving ------------------------------------------------------------------------------------

    def do_exit(self, node: Simple, items: Items) -> None:
        raise Died

    def do_return(self, node: Simple, items: Items) -> None:
        if not self.calls:
            raise Died
        words = known_words(items[1:])
        if words is None:
            self.state.status = UNSURE
        elif words and words[0].isdigit():
            self.state.status = Status(int(words[0]) & 255, int(words[0]) & 255)
        self.calls[-1].returns.append(self.state.copy())
        raise Left

    def do_leave_loop(self, node: Simple, items: Items) -> None:
        words = known_words(items)
        if words is None or (len(words) > 1 and not words[1].isdigit()):
            raise Doubt("how many loops are left is not known", node.line)
        if not self.loops:
            self.state.status = DONE
            return
        frames: list[Frame] = self.loops
        frame = frames[-min(int(words[1]) if len(words) > 1 else 1, len(frames)) or -1]
        self.state.status = DONE
        (frame.breaks if words[0] == "break" else frame.continues).append(self.state.copy())
        raise Left


_HANDLERS: dict[str, Callable[[Builtins, Simple, Items], None]] = {
    ":": Builtins.do_true,
    "true": Builtins.do_true,
    "false": Builtins.do_false,
    "test": Builtins.do_test,
    "[": Builtins.do_test,
    "unset": Builtins.do_unset,
    "set": Builtins.do_set,
    "shopt": Builtins.do_shopt,
    "alias": Builtins.do_alias,
    "unalias": Builtins.do_alias,
    "trap": Builtins.do_trap,
    "enable": Builtins.do_enable,
    "shift": Builtins.do_shift,
    "getopts": Builtins.do_getopts,
    "exit": Builtins.do_exit,
    "return": Builtins.do_return,
    "break": Builtins.do_leave_loop,
    "continue": Builtins.do_leave_loop,
    "let": Builtins.do_let,
    "read": Builtins.do_read,
    "mapfile": Builtins.do_mapfile,
    "readarray": Builtins.do_mapfile,
    "printf": Builtins.do_printf,
}
