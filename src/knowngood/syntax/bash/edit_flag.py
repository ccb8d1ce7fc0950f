"""Setting, changing or removing one flag of a launch, leaving every other byte of the script as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowngood.model import Known, Occurrences, Reading, Unknown
from knowngood.syntax.argv import Partial, Shape, flag_value, is_flag
from knowngood.syntax.bash.edit_text import replaced, without_word
from knowngood.syntax.bash.launch import CannotEdit, Launch, Script, pick_launch
from knowngood.syntax.bash.nodes import Simple, Word
from knowngood.syntax.bash.quoting import quoted
from knowngood.syntax.bash.read import run
from knowngood.syntax.bash.state import to_latin

# Flags that are switches by their name, so that no word after them is theirs.
_SWITCH = re.compile(r"--?(?:enable|disable|no|trust|skip|allow|use|with|without)[-_]")


def set_flag(
    text: bytes, names: Sequence[str], value: Occurrences | None, *, server: str | None = None
) -> bytes:
    """The script with the flag given so to the launch that serves; None removes it.

    `names` are the flag and its aliases; one that is there keeps its name. `server` is text in the launch's
    words, as for `pick_launch`. CannotEdit where the place can't be decided, with the line and what to do.
    """
    return _FlagEdit(text, names, value, server).done()


@dataclass(frozen=True, slots=True)
class _Found:
    """One occurrence: the indexes in argv of the flag and of the words that are its value."""

    flag: int
    values: tuple[int, ...]
    glued: bool  # --flag=value


class _FlagEdit:
    def __init__(
        self, text: bytes, names: Sequence[str], value: Occurrences | None, server: str | None
    ) -> None:
        self.text = text.decode("latin-1")
        self.names = tuple(names)
        self.value = value
        self.server = server
        if value is not None and any("\0" in word for words in value.words for word in words):
            raise CannotEdit(f"{names[0]} can't hold a NUL byte")
        self.script, _, self.program = run(text)
        picked = pick_launch(self.script, server)
        if isinstance(picked, Unknown):
            raise CannotEdit(f"{names[0]} can't be placed: {picked.reason}")
        self.launch = picked
        self.shape = _shape(value)

    def done(self) -> bytes:
        if self._as_wanted(self.launch):
            return self.text.encode("latin-1")
        found = self._occurrences()
        candidates = self._changed(found) if found else self._added()
        for candidate in candidates:
            if self._holds(candidate):
                return candidate.encode("latin-1")
        raise CannotEdit(
            f"{self.names[0]} can't be set on line {self.launch.line} without touching more: edit it by hand",
            self.launch.line,
        )

    def _as_wanted(self, launch: Launch) -> bool:
        """Whether the launch's known words say what is wanted; what a caller may add stays out of it."""
        words = [word for word in launch.argv[1:] if not (isinstance(word, Partial) and word.default)]
        reading = flag_value(words, self.names, self.shape)
        if self.value is None:
            # Words that are not known may hold anything; the flag is gone when no known word is it.
            return not self._flags(words) and not isinstance(reading.value, Known)
        return reading.value == Known(self.value)

    def _flags(self, words: Sequence[Reading]) -> list[int]:
        wanted = {name.replace("_", "-") if name.startswith("--") else name for name in self.names}
        found = []
        for at, word in enumerate(words):
            text = _text(word)
            if text == "--":
                break
            if text is not None and is_flag(text):
                name = text.partition("=")[0]
                if (name.replace("_", "-") if name.startswith("--") else name) in wanted:
                    found.append(at)
            elif isinstance(word, Partial) and word.start.partition("=")[0] in wanted and "=" in word.start:
                found.append(at)
        return found

    def _occurrences(self) -> list[_Found]:
        argv = self.launch.argv
        for word in argv:
            for choice in (word.choices or ()) if isinstance(word, Partial) else ():
                if self._flags(choice):
                    raise CannotEdit(
                        f"{self.names[0]} is given under a condition on line {word.line}: edit it by hand",
                        word.line,
                    )
        found = []
        for at in self._flags(argv[1:]):
            word = argv[at + 1]
            start = _text(word) or (word.start if isinstance(word, Partial) else "")
            if "=" in start:
                found.append(_Found(at + 1, (), True))
            else:
                found.append(_Found(at + 1, self._values(self.launch, at + 2), False))
        return found

    def _values(self, launch: Launch, at: int) -> tuple[int, ...]:
        """The words from there that belong to the flag, by the shape that is wanted of it."""
        argv = launch.argv
        if self.shape == "bare" and (self.value is not None or _SWITCH.match(self.names[0])):
            return ()
        values = []
        while at < len(argv) and not is_flag(_text(argv[at]) or "") and _text(argv[at]) != "--":
            if isinstance(argv[at], Partial) and getattr(argv[at], "may_split", False):
                break
            values.append(at)
            at += 1
        if self.value is None and len(values) > 1:
            line = argv[at - 1].line
            raise CannotEdit(
                f"which of the words after {self.names[0]} are its own can't be told: remove it by hand", line
            )
        return tuple(values) if self.shape == "many" or self.value is None else tuple(values[:1])

    def _span(self, at: int) -> tuple[int, int]:
        span = self.launch.spans[at]
        if span is None:
            line = self.launch.argv[at].line or self.launch.line
            raise CannotEdit(f"{self.names[0]} comes out of an expansion on line {line}: edit it there", line)
        return span

    # --- changing -----------------------------------------------------------------------------------

    def _changed(self, found: list[_Found]) -> list[str]:
        wanted = () if self.value is None else self.value.words
        # The last ones stay, as the last one wins; what is too many goes.
        kept = found[len(found) - min(len(found), len(wanted)) :] if wanted else []
        edits: list[tuple[int, int, str | None]] = []
        for occurrence in found:
            if occurrence not in kept:
                edits += [(*self._span(at), None) for at in (occurrence.flag, *occurrence.values)]
        for occurrence, words in zip(kept, wanted, strict=False):
            edits += self._rewritten(occurrence, words, wanted[len(kept) :] if occurrence is kept[-1] else ())
        text = self.text
        for start, end, new in sorted(edits, key=lambda edit: -edit[0]):
            text = without_word(text, start, end) if new is None else replaced(text, start, end, new)
        return [text]

    def _rewritten(
        self, found: _Found, words: tuple[str, ...], further: Sequence[tuple[str, ...]]
    ) -> list[tuple[int, int, str | None]]:
        """Edits that give an occurrence these words; `further` occurrences are added behind it."""
        start, end = self._span(found.flag)
        source = self.text[start:end]
        behind = "".join(" " + _spelt(self._own_name(found), more) for more in further)
        if found.glued:
            return [(start, end, self._glued(found, source, words) + behind)]
        spans = [self._span(at) for at in found.values]
        edits: list[tuple[int, int, str | None]] = []
        for at, span in enumerate(spans):
            if at >= len(words):
                edits.append((*span, None))
                continue
            new = quoted(to_latin(words[at]), self.text[span[0] : span[1]])
            extra = (
                "".join(" " + quoted(to_latin(word)) for word in words[len(spans) :])
                if at + 1 == len(spans)
                else ""
            )
            edits.append((*span, new + extra + (behind if at + 1 == min(len(spans), len(words)) else "")))
        if not spans:
            extra = "".join(" " + quoted(to_latin(word)) for word in words)
            edits.append((start, end, source + extra + behind))
        elif not words and behind:
            edits.append((start, end, source + behind))
        return edits

    def _own_name(self, found: _Found) -> str:
        word = self.launch.argv[found.flag]
        text = _text(word) or (word.start if isinstance(word, Partial) else self.names[0])
        return text.partition("=")[0]

    def _glued(self, found: _Found, source: str, words: tuple[str, ...]) -> str:
        name = self._own_name(found)
        if len(words) != 1:
            return _spelt(name, words)
        value = to_latin(words[0])
        if source.startswith(name + "="):
            return f"{name}={quoted(value, source[len(name) + 1 :])}"
        return quoted(f"{name}={value}", source)

    # --- adding -------------------------------------------------------------------------------------

    def _added(self) -> list[str]:
        if self.value is None:
            raise CannotEdit(
                f"{self.names[0]} may come from words that are not known: look at line {self.launch.line}",
                self.launch.line,
            )
        command = next((c for c, _ in self.program.commands if c.start == self.launch.start), None)
        if command is None:
            raise CannotEdit(
                f"other commands make up the launch on line {self.launch.line}: add {self.names[0]} by hand",
                self.launch.line,
            )
        spelt = " ".join(_spelt(self.names[0], words) for words in self.value.words)
        words = [word for word in command.words if isinstance(word, Word)]
        before = next((word for word in words if word.bare == "--"), None)
        last = words[-1]
        if before is None and _passes_arguments(last) and len(words) > 1:
            before = last
        if before is not None:
            return [replaced(self.text, before.start, before.start, f"{spelt} ")]
        return [replaced(self.text, last.end, last.end, self._joint(command, last) + spelt)]

    def _joint(self, command: Simple, last: Word) -> str:
        """What stands before the last word, where each flag has a line of its own; else a blank."""
        for word in reversed([w for w in command.words if isinstance(w, Word)]):
            found = re.compile(r"[ \t]*\\\r?\n[ \t]*$").search(self.text, 0, word.start)
            if found:
                return found.group() if found.group()[0] in " \t" else " " + found.group()
            if (word.bare or "").startswith("-") and word is not last:
                break
        return " "

    # --- proof --------------------------------------------------------------------------------------

    def _holds(self, candidate: str) -> bool:
        """The launch has the flag as wanted, and nothing else has changed."""
        script = run(candidate.encode("latin-1"))[0]
        at = self.script.launches.index(self.launch)
        if script.unread != self.script.unread or len(script.launches) != len(self.script.launches):
            return False
        new = script.launches[at]
        if not self._as_wanted(new):
            return False
        return self._rest(self.launch) == self._rest(new) and _others(self.script, at) == _others(script, at)

    def _rest(self, launch: Launch) -> list[object]:
        """The launch's words without this flag and its values."""
        gone: set[int] = set()
        for at in self._flags(launch.argv[1:]):
            word = launch.argv[at + 1]
            start = _text(word) or (word.start if isinstance(word, Partial) else "")
            gone |= {at + 1, *(() if "=" in start else self._values(launch, at + 2))}
        return [(word.value, word.default) for at, word in enumerate(launch.argv) if at not in gone]


def _others(script: Script, index: int) -> list[object]:
    return [
        ([(word.value, word.default) for word in launch.argv], {n: r.value for n, r in launch.env.items()})
        for at, launch in enumerate(script.launches)
        if at != index
    ]


def _shape(value: Occurrences | None) -> Shape:
    if value is None:
        return "bare"
    if len(value.words) > 1:
        return "repeat"
    if value.listed or any(len(words) > 1 for words in value.words):
        return "many"
    return "one" if any(value.words) else "bare"


def _spelt(name: str, words: Sequence[str]) -> str:
    return " ".join([quoted(to_latin(name)), *(quoted(to_latin(word)) for word in words)])


def _passes_arguments(word: Word) -> bool:
    """`"$@"`: what a caller adds stays last, so that it wins."""
    return len(word.parts) == 1 and getattr(word.parts[0], "name", "") in ("@", "*")


def _text(word: Reading) -> str | None:
    return word.value.value if isinstance(word.value, Known) and isinstance(word.value.value, str) else None
