"""The other commands that bash runs itself, as far as they change what is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.arithmetic import BadArithmetic, Variables, evaluate
from knowngood.syntax.bash.control import Frame
from knowngood.syntax.bash.declare import Declarations
from knowngood.syntax.bash.fields import Field, Gap, Item, Items, known_words, only_fields, presumed_fields
from knowngood.syntax.bash.nodes import Redirection, Simple
from knowngood.syntax.bash.printf import printf
from knowngood.syntax.bash.shell import Died, Doubt, Left
from knowngood.syntax.bash.state import DONE, FAILED, UNSURE, Export, Status, Variable, to_status
from knowngood.syntax.bash.text import unknown

_SET_LETTERS = {
    "a": "allexport", "e": "errexit", "u": "nounset", "f": "noglob", "n": "noexec", "x": "xtrace", "v": "verbose",
    "m": "monitor", "b": "notify", "h": "hashall", "C": "noclobber", "E": "errtrace", "T": "functrace",
    "B": "braceexpand", "P": "physical", "k": "keyword", "p": "privileged", "t": "onecmd", "H": "histexpand",
}  # fmt: skip
# Options that change how a script is read in ways that are not followed.
_STRANGE = frozenset(["keyword", "onecmd", "noexec", "posix", "privileged"])
_STRANGE_SHOPTS = frozenset(["compat31", "compat32", "compat40", "compat41", "compat42", "compat43", "compat44",
                             "localvar_inherit", "localvar_unset", "execfail", "xpg_echo", "patsub_replacement"])  # fmt: skip
_HARMLESS = frozenset(
    [
        "kill",
        "jobs",
        "fg",
        "bg",
        "disown",
        "wait",
        "ulimit",
        "umask",
        "type",
        "hash",
        "pwd",
        "help",
        "history",
        "times",
        "caller",
        "dirs",
        "bind",
        "compgen",
        "complete",
        "compopt",
        "suspend",
        "logout",
        "fc",
        "pushd",
        "popd",
        "cd",
        "echo",
    ]
)


class Builtins(Declarations):
    """Commands by name. What has no entry here is no command of bash's own."""

    def builtin(self, name: str) -> Callable[[Simple, Items], None] | None:
        handler = _HANDLERS.get(name)
        if handler is not None:
            return lambda node, items: handler(self, node, items)
        return self.do_harmless if name in _HARMLESS else None

    def do_harmless(self, node: Simple, items: Items) -> None:
        name = (known_words(items[:1]) or ("",))[0]
        if name == "wait" and any(w in ("-p", None) for w in _texts(items)):
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

    # --- options ------------------------------------------------------------------------------------

    def do_set(self, node: Simple, items: Items) -> None:
        self.state.status = DONE
        at = 1
        while at < len(items):
            text = _text(items[at])
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
                    option = _text(items[at]) if at < len(items) else None
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
        words = _texts(items[1:])
        signals = words[1:]
        if any(
            word is None or word.upper().removeprefix("SIG") in ("DEBUG", "ERR", "RETURN") for word in signals
        ):
            raise Doubt("a trap that runs between commands", node.line)

    def do_enable(self, node: Simple, items: Items) -> None:
        raise Doubt("enable changes bash's own commands", node.line)

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

    # --- reading and computing ----------------------------------------------------------------------

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
        if len(items) > 1 and _text(items[1]) is None:
            raise Doubt("printf with words that are not known", node.line)
        if _text(items[1]) != "-v" if len(items) > 1 else True:
            return
        name = _text(items[2]) if len(items) > 2 else None
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


def _text(item: Item) -> str | None:
    return texts.known(item.text) if isinstance(item, Field) else None


def _texts(items: Items) -> list[str | None]:
    return [_text(item) for item in items]


_HANDLERS: dict[str, Callable[[Builtins, Simple, Items], None]] = {
    ":": Builtins.do_true, "true": Builtins.do_true, "false": Builtins.do_false, "test": Builtins.do_test,
    "[": Builtins.do_test, "unset": Builtins.do_unset, "set": Builtins.do_set, "shopt": Builtins.do_shopt,
    "alias": Builtins.do_alias, "unalias": Builtins.do_alias, "trap": Builtins.do_trap, "enable": Builtins.do_enable,
    "shift": Builtins.do_shift, "getopts": Builtins.do_getopts, "exit": Builtins.do_exit, "return": Builtins.do_return,
    "break": Builtins.do_leave_loop, "continue": Builtins.do_leave_loop, "let": Builtins.do_let,
    "read": Builtins.do_read, "mapfile": Builtins.do_mapfile, "readarray": Builtins.do_mapfile,
    "printf": Builtins.do_printf,
}  # fmt: skip
