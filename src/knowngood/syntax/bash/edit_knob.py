"""Setting, changing or removing one knob in a script, leaving every other byte as it was."""

from __future__ import annotations

import re
from dataclasses import replace

from knowngood.model import Absent, Known, Reading
from knowngood.syntax.bash.edit_text import (
    indent,
    line_end,
    line_start,
    replaced,
    without_command,
    without_word,
)
from knowngood.syntax.bash.launch import CannotEdit, Launch, Script
from knowngood.syntax.bash.nodes import Assignment, Item, Simple, Word
from knowngood.syntax.bash.places import Site, sites
from knowngood.syntax.bash.quoting import quoted, style_of
from knowngood.syntax.bash.read import run
from knowngood.syntax.bash.state import to_latin

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def set_knob(text: bytes, name: str, value: str | None) -> bytes:
    """The script with `export name=value` in effect for what it launches; None removes the knob.

    An assignment that is there is changed in its own quotes, others of the same name go; a new one is put
    where its neighbours are. CannotEdit where that can't be done for certain, with the line and what to do.
    """
    return _KnobEdit(text, name, value).done()


class _KnobEdit:
    def __init__(self, text: bytes, name: str, value: str | None) -> None:
        if not _NAME.fullmatch(name):
            raise CannotEdit(f"{name!r} is no name that bash could export")
        if value is not None and "\0" in value:
            raise CannotEdit(f"{name} can't hold a NUL byte")
        self.text = text.decode("latin-1")
        self.name = name
        self.value = value
        self.script, self.runner, self.program = run(text)
        if self.script.unread is not None:
            reason, line = self.script.unread
            raise CannotEdit(f"the script can't be read beyond line {line} ({reason}): mend that first", line)
        if not self.script.launches:
            raise CannotEdit(f"the script launches nothing that {name} could reach: edit it by hand")

    def done(self) -> bytes:
        places = sites(self.program, self.name)
        if self._as_wanted(self.script):
            return self.text.encode("latin-1")
        self._refuse_undecided(places)
        wanted = self._without(places) if self.value is None else self._with(places, self.value)
        return wanted.encode("latin-1")

    # --- what is wanted -----------------------------------------------------------------------------

    def _as_wanted(self, script: Script) -> bool:
        readings = [self._given(launch) for launch in script.launches]
        if self.value is None:
            return all(reading is None for reading in readings)
        return all(
            reading is not None and reading.value == Known(self.value) and not reading.default
            for reading in readings
        )

    def _given(self, launch: Launch) -> Reading | None:
        """What the script gives the launch under this name; None where it gives nothing."""
        reading = launch.env.get(self.name)
        if reading is None or isinstance(reading.value, Absent):
            return None
        return reading

    def _refuse_undecided(self, places: list[Site]) -> None:
        certain = {id(noted.node) for noted in self.runner.noted if noted.certain}
        uncertain = {id(noted.node): noted.node for noted in self.runner.noted if not noted.certain}
        for key, node in uncertain.items():
            if key not in certain and node.name == self.name:
                raise CannotEdit(
                    f"{self.name} is set under a condition on line {node.line}: move it out, or edit by hand",
                    node.line,
                )
        for noted in self.runner.noted:
            node = noted.node
            if node.name == self.name and (node.append or node.index or not isinstance(node.value, Word)):
                raise CannotEdit(
                    f"{self.name} is put together from pieces on line {node.line}: edit it by hand", node.line
                )
        prefixes = [site for site in places if site.kind in ("prefix", "word")]
        if len(prefixes) > 1:
            lines = ", ".join(str(site.node.line) for site in prefixes)
            raise CannotEdit(
                f"{self.name} is given to several commands (lines {lines}): edit by hand the one meant",
                prefixes[0].node.line,
            )

    def _reached(self, places: list[Site]) -> list[Site]:
        """Those places that the script comes by; code that is never reached stays as it is."""
        seen = {id(noted.node) for noted in self.runner.noted}
        return [site for site in places if id(site.node) in seen or site.kind == "word"]

    # --- changing -----------------------------------------------------------------------------------

    def _with(self, places: list[Site], value: str) -> str:
        reached = self._reached(places)
        for site in reversed(reached):
            for candidate in self._changed(site, reached, value):
                if self._holds(candidate):
                    return candidate
        if reached:
            line = reached[-1].node.line
            raise CannotEdit(
                f"{self.name} is set on line {line}, but not for every launch: edit it by hand",
                line,
            )
        for candidate in self._inserted(value):
            if self._holds(candidate):
                return candidate
        raise CannotEdit(
            f"no place in the script sets {self.name} for all that it launches: add it by hand",
            self.script.launches[0].line,
        )

    def _changed(self, site: Site, reached: list[Site], value: str) -> list[str]:
        """The text with the value in this place: without the other places if nothing else changes by that."""
        changed = self._in_place(site, value)
        grown = len(changed) - len(self.text)
        alone = changed
        for other in reversed(reached):
            if other is not site:
                moved = _moved(other, grown if other.start > site.start else 0)
                alone = _cut(alone, moved)
        exported = []
        if site.kind == "assigned" and len(site.command.assignments) == 1:
            exported = [replaced(changed, site.command.start, site.command.start, "export ")]
        if alone == changed:
            return [changed, *exported]
        return [alone, changed, *exported] if self._same(alone, changed) else [changed, *exported]

    def _in_place(self, site: Site, value: str) -> str:
        text = to_latin(value)
        if isinstance(site.node, Assignment):
            start = site.node.value_start
            return replaced(self.text, start, site.end, quoted(text, self.text[start : site.end]))
        source = self.text[site.start : site.end]
        if source.startswith(self.name + "="):
            start = site.start + len(self.name) + 1
            return replaced(self.text, start, site.end, quoted(text, self.text[start : site.end]))
        return replaced(self.text, site.start, site.end, quoted(f"{self.name}={text}", source))

    def _same(self, one: str, other: str) -> bool:
        """Whether two texts launch the same."""
        first, second = (run(text.encode("latin-1"))[0] for text in (one, other))
        return first.unread is None and _told(first) == _told(second)

    def _holds(self, candidate: str) -> bool:
        script = run(candidate.encode("latin-1"))[0]
        if script.unread is not None or len(script.launches) != len(self.script.launches):
            return False
        if self.value is None:
            return all(self._given(launch) is None for launch in script.launches)
        # What did not get the knob before need not get it now: a prefix reaches its own command alone.
        before = [self._given(launch) is not None for launch in self.script.launches]
        had = before if any(before) else [True] * len(before)
        return all(
            not wanted or self._reads(launch) for launch, wanted in zip(script.launches, had, strict=True)
        )

    def _reads(self, launch: Launch) -> bool:
        reading = self._given(launch)
        return reading is not None and reading.value == Known(self.value or "") and not reading.default

    # --- adding -------------------------------------------------------------------------------------

    def _inserted(self, value: str) -> list[str]:
        """The text with a new export: after the last one before the launch, or right before the launch."""
        tops = {launch.top for launch in self.script.launches}
        items = [item for line in self.program.lines for item in line.items]
        calls = [item for item in items if item.start in tops]
        if not calls:
            return []
        first = calls[0]
        exports = [item for item in items if item.end <= first.start and _is_export(item)]
        word = quoted(to_latin(value), self._style(exports))
        line = f"export {self.name}={word}"
        candidates = []
        if exports:
            last = exports[-1]
            at = line_end(self.text, last.end)
            glue = "" if self.text[:at].endswith("\n") else "\n"
            candidates.append(replaced(self.text, at, at, f"{glue}{indent(self.text, last.start)}{line}\n"))
        start = line_start(self.text, first.start)
        if not self.text[start : first.start].strip(" \t"):
            candidates.append(replaced(self.text, start, start, f"{indent(self.text, first.start)}{line}\n"))
        candidates.append(replaced(self.text, first.start, first.start, f"{line}; "))
        return candidates

    def _style(self, exports: list[Item]) -> str:
        """The quotes that most of the neighbours have around their values."""
        styles = []
        for item in exports:
            command = item.command
            for word in command.words if isinstance(command, Simple) else ():
                if isinstance(word, Assignment):
                    styles.append(style_of(self.text[word.value_start : word.end]))
        return max(set(styles), key=styles.count) if styles else ""

    # --- removing -----------------------------------------------------------------------------------

    def _without(self, places: list[Site]) -> str:
        text = self.text
        reached = self._reached(places)
        named = [site for site in places if site.kind == "named"]
        for site in sorted([*reached, *named], key=lambda site: -site.start):
            text = _cut(text, site)
        if self._holds(text):
            return text
        line = places[0].node.line if places else 0
        raise CannotEdit(f"{self.name} can't be taken out of the script for certain: remove it by hand", line)


def _moved(site: Site, by: int) -> Site:
    if not by:
        return site
    node, command = site.node, site.command
    shifted = replace(command, start=command.start + by, end=command.end + by)
    return replace(site, node=replace(node, start=node.start + by, end=node.end + by), command=shifted)


def _cut(text: str, site: Site) -> str:
    """The text without the assignment; without its command where nothing else is in it."""
    command = site.command
    words = [
        word
        for word in command.words[1:]
        if not (isinstance(word, Word) and (word.bare or "").startswith("-"))
    ]
    others = len(command.assignments) - 1 if site.kind == "assigned" else len(words) - 1
    if site.kind in ("assigned", "declared", "named") and not others and not command.redirections:
        return without_command(text, command)
    if site.kind in ("prefix", "assigned"):
        after = re.compile(r"[ \t]*(?:\\\r?\n[ \t]*)?").match(text, site.end)
        return replaced(text, site.start, after.end() if after else site.end, "")
    if site.kind == "word" and text[: site.start].rstrip().endswith(
        (" -e", " -x", " -E", " --env", " --setenv")
    ):
        option = re.compile(r"\S+[ \t]+$").search(text, 0, site.start)
        cut = without_word(text, site.start, site.end)
        return (
            without_word(cut, option.start(), option.start() + len(option.group().rstrip()))
            if option
            else cut
        )
    return without_word(text, site.start, site.end)


def _told(script: Script) -> list[object]:
    """What the launches get, without where it is written."""
    return [
        (
            [(word.value, word.default) for word in launch.argv],
            {name: (reading.value, reading.default) for name, reading in launch.env.items()},
            launch.exec,
            launch.conditional,
        )
        for launch in script.launches
    ]


def _is_export(item: Item) -> bool:
    command = item.command
    if not isinstance(command, Simple) or not command.words or item.background:
        return False
    first = command.words[0]
    return (
        isinstance(first, Word)
        and first.bare == "export"
        and any(isinstance(word, Assignment) for word in command.words)
    )
