"""How each kind of directive is read, and what several lines of it come to.

A kind says how one line is spelled canonically, what an empty assignment does, and whether lines add up.
Source: the man pages that `directives.py` names; src/core/load-fragment.c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from knowngood.syntax.systemd import spellings
from knowngood.syntax.systemd.cpus import cpus
from knowngood.syntax.systemd.directives import KIND_OF
from knowngood.syntax.systemd.specifiers import Expand, escape_specifiers
from knowngood.syntax.systemd.wordlists import (
    RefusedError,
    assignments,
    command_line,
    merged_assignments,
    names,
    names_or_assignments,
    several_words,
    unit_names,
)


@dataclass(frozen=True, slots=True)
class Kind:
    """`spell` gives the canonical text of one line, or raises ValueError for what systemd ignores or refuses.

    `empty`: what an empty assignment does: reset all lines before it, nothing (kept), or what depends on
    systemd's version (unsure). `adds`: lines add up; else the last one counts.
    """

    spell: Spell
    empty: Literal["reset", "kept", "unsure"] = "unsure"
    adds: bool = False
    joined_by: str = "\n"


# (the directive's name without its section, the text, how specifiers expand)
Spell: TypeAlias = Callable[[str, str, Expand], str]


def _plain(spell: Callable[[str, str], str]) -> Spell:
    """Where systemd expands no specifiers."""
    return lambda name, text, expand: spell(name, text)


def _whole(spell: Callable[[str, str], str]) -> Spell:
    """Where specifiers are expanded in the text as a whole; what is spelled is a unit's text again."""
    return lambda name, text, expand: escape_specifiers(spell(name, expand(text)))


def kind_of(directive: str) -> Kind | None:
    """The kind of `Section.Directive`; None for one that no systemd from 245 to 257 knows there."""
    name = KIND_OF.get(directive)
    return None if name is None else KINDS[name]


def _fatal(spell: Spell) -> Spell:
    """Where systemd does not just ignore a value that it can't read, but gives up the file."""

    def spell_or_refuse(name: str, text: str, expand: Expand) -> str:
        try:
            return spell(name, text, expand)
        except ValueError as bad:
            raise RefusedError(str(bad)) from None

    return spell_or_refuse


def _folder(name: str, text: str, expand: Expand) -> str:
    """Only where a - allows the folder to be missing, systemd does without it; else it gives up."""
    mark = "-" if text.startswith("-") else ""
    rest = text[len(mark) :]
    if rest == "~":
        return text
    spell = _whole(spellings.spell_path)
    return mark + (spell if mark else _fatal(spell))(name, rest, expand)


KINDS: dict[str, Kind] = {
    "truth": Kind(_plain(spellings.spell_truth), empty="kept"),
    "fatal_truth": Kind(_fatal(_plain(spellings.spell_truth)), empty="kept"),
    "optional_truth": Kind(_plain(spellings.spell_truth), empty="reset"),
    "truth_or_word": Kind(_plain(spellings.spell_truth_or_word)),
    "span": Kind(_plain(spellings.spell_span), empty="kept"),
    "span_or_never": Kind(_plain(spellings.spell_span_or_never), empty="kept"),
    "abort_span": Kind(_plain(spellings.spell_abort_span), empty="reset"),
    "optional_span": Kind(_plain(spellings.spell_span), empty="reset"),
    "nanoseconds": Kind(_plain(spellings.spell_blanks)),
    "mode": Kind(_plain(spellings.spell_mode), empty="kept"),
    "count": Kind(_plain(spellings.spell_count), empty="kept"),
    "nice": Kind(_plain(spellings.spell_nice), empty="reset"),
    "oom": Kind(_plain(spellings.spell_oom), empty="reset"),
    "limit": Kind(_plain(spellings.spell_limit), empty="kept"),
    "memory": Kind(_plain(spellings.spell_memory), empty="reset"),
    "memory_or_none": Kind(_plain(spellings.spell_memory_or_none), empty="reset"),
    "tasks": Kind(_plain(spellings.spell_tasks), empty="reset"),
    "quota": Kind(_plain(spellings.spell_quota), empty="reset"),
    "weight": Kind(_plain(spellings.spell_weight), empty="reset"),
    "user": Kind(_fatal(_whole(spellings.spell_user)), empty="reset"),
    "type": Kind(
        _plain(spellings.one_of("simple exec forking oneshot dbus notify notify-reload idle")), empty="kept"
    ),
    "restart": Kind(
        _plain(spellings.one_of("no always on-success on-failure on-abnormal on-watchdog on-abort")),
        empty="kept",
    ),
    "kill_mode": Kind(_plain(spellings.one_of("control-group mixed process none"))),
    "exit_type": Kind(_plain(spellings.one_of("main cgroup")), empty="kept"),
    "notify_access": Kind(_plain(spellings.one_of("none main exec all")), empty="kept"),
    "oom_policy": Kind(_plain(spellings.one_of("continue stop kill")), empty="kept"),
    "restart_mode": Kind(_plain(spellings.one_of("normal direct debug")), empty="kept"),
    "failure_mode": Kind(_plain(spellings.one_of("terminate abort kill")), empty="kept"),
    "signal": Kind(_plain(spellings.spell_signal), empty="kept"),
    "folder": Kind(_folder, empty="reset"),
    "path": Kind(_whole(spellings.spell_path), empty="reset"),
    "fatal_path": Kind(_fatal(_whole(spellings.spell_path)), empty="reset"),
    "pid_file": Kind(_whole(spellings.spell_pid_file), empty="reset"),
    "text": Kind(_whole(spellings.spell_text), empty="reset"),
    "word": Kind(_plain(spellings.spell_blanks)),
    "cpus": Kind(_whole(spellings.spell_cpus), empty="reset", adds=True),
    "cpu_list": Kind(_whole(spellings.spell_cpus), empty="reset", adds=True),
    "command": Kind(command_line, empty="reset", adds=True),
    "environment": Kind(assignments, empty="reset", adds=True),
    "environment_file": Kind(_whole(spellings.spell_environment_file), empty="reset", adds=True),
    "names": Kind(names, empty="reset", adds=True, joined_by=" "),
    "names_or_pairs": Kind(names_or_assignments, empty="reset", adds=True, joined_by=" "),
    "words": Kind(several_words, empty="reset", adds=True, joined_by=" "),
    "units": Kind(unit_names, empty="kept", adds=True, joined_by=" "),
    "kept_words": Kind(several_words, empty="kept", adds=True, joined_by=" "),
    "set": Kind(_plain(spellings.spell_blanks), empty="reset", adds=True),
    "lines": Kind(_whole(spellings.spell_text), empty="reset", adds=True),
    "obsolete": Kind(_plain(spellings.spell_blanks)),
}


def joined(directive: str, spelled: list[str]) -> str:
    """One text of several lines in force, each already spelled."""
    if KIND_OF.get(directive) in ("cpus", "cpu_list"):
        words = [text for text in spelled if text in ("numa", "all")]
        if spelled[-1:] == words[-1:]:
            return spelled[-1]
        return cpus(spelled[len(spelled) - spelled[::-1].index(words[-1]) :] if words else spelled)
    if KIND_OF.get(directive) == "environment":
        return merged_assignments(spelled)
    kind = kind_of(directive)
    if kind is None or not kind.adds:
        return spelled[-1]
    text = kind.joined_by.join(spelled)
    if kind.joined_by == "\n" or '"' in text:
        return text
    return " ".join(dict.fromkeys(text.split(" ")))  # no word counts twice
