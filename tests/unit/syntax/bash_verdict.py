"""Compares what was read of a script with what bash did: every contradiction is a fault of the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bash_oracle import SERVERS, Started

from knowngood.model import Absent, Known, Reading, Value
from knowngood.syntax.argv import Partial
from knowngood.syntax.bash import Launch, Script

Caller = Mapping[str, Value] | None
_BASH_OWN = frozenset(["_", "SHLVL", "PWD", "OLDPWD"])


def contradictions(
    script: Script, started: Sequence[Started], caller: Caller, *, defaults_hold: bool = True
) -> list[str]:
    """Every way in which the reading says something else than bash did; empty when it is sound.

    `defaults_hold`: nothing came from a caller, so that what is marked as a default must be right too.
    """
    problems = []
    for start in started:
        if script.unread is None and not any(_fits(x, start, caller, defaults_hold) for x in script.launches):
            problems.append(f"bash started {start.argv}: {_why_not(script, start, caller, defaults_hold)}")
    for launch in script.launches:
        # Without a caller, `set -u` may end a script before it gets there.
        certain = not launch.conditional and script.unread is None and has_stub(launch) and caller is not None
        if certain and not any(_fits(launch, start, caller, defaults_hold) for start in started):
            problems.append(f"line {launch.line} launches {launch.joined!r}, which bash did not start")
    return problems


def has_stub(launch: Launch) -> bool:
    """Whether bash would find the program in the sandbox."""
    value = launch.argv[0].value
    return isinstance(value, Known) and str(value.value).rsplit("/", 1)[-1] in SERVERS


def unresolved(script: Script, caller: Caller) -> tuple[set[str], int]:
    """What stays unknown of the launches (names, and words by their known beginning), and of how many."""
    missing: set[str] = set()
    total = 0
    for launch in script.launches:
        for word in launch.argv:
            total += 1
            if not isinstance(word.value, Known) and not (isinstance(word, Partial) and word.default):
                missing.add(f"word {word.start if isinstance(word, Partial) else ''}")
        for name in set(launch.env) - _BASH_OWN:
            total += 1
            if not isinstance(launch.env_of(name, caller).value, Known | Absent):
                missing.add(name)
        if launch.env_open is not None:
            missing.add("open")
    return missing, total


def _why_not(script: Script, start: Started, caller: Caller, defaults_hold: bool) -> str:
    reasons = []
    for launch in script.launches:
        if _words_fit(launch.argv, start.argv, defaults_hold):
            wrong = _wrong_names(launch, start, caller, defaults_hold)
            wrong += ["exec"] if launch.exec and not start.exec else []
            reasons += [f"line {launch.line}: {name}" for name in wrong]
    return "; ".join(reasons) or "no words fit: " + " | ".join(x.joined for x in script.launches)


def _fits(launch: Launch, start: Started, caller: Caller, defaults_hold: bool) -> bool:
    return (
        _words_fit(launch.argv, start.argv, defaults_hold)
        and not _wrong_names(launch, start, caller, defaults_hold)
        and (start.exec or not launch.exec)
    )


def _words_fit(words: Sequence[Reading], argv: Sequence[str], defaults_hold: bool) -> bool:
    if not words:
        return not argv
    first, rest = words[0], words[1:]
    if isinstance(first, Partial) and first.default:
        if defaults_hold:
            return _words_fit((*(first.choices or ((),))[0], *rest), argv, True)
        return any(_words_fit(rest, argv[taken:], False) for taken in range(len(argv) + 1))
    if isinstance(first, Partial) and first.choices is not None:
        return any(_words_fit((*choice, *rest), argv, defaults_hold) for choice in first.choices)
    if isinstance(first, Partial) and first.may_split:
        if first.start and not (argv and argv[0].startswith(first.start)):
            return False
        fewest = 1 if first.start else 0
        return any(_words_fit(rest, argv[taken:], defaults_hold) for taken in range(fewest, len(argv) + 1))
    if isinstance(first.value, Known) and first.default and not defaults_hold:
        return any(_words_fit(rest, argv[taken:], False) for taken in range(len(argv) + 1))
    return bool(argv) and _word_fits(first, argv[0]) and _words_fit(rest, argv[1:], defaults_hold)


def _word_fits(word: Reading, text: str) -> bool:
    if isinstance(word.value, Known):
        return text in (word.value.value, str(word.value.value).rsplit("/", 1)[-1])
    return not isinstance(word, Partial) or text.startswith(word.start)


def _wrong_names(launch: Launch, start: Started, caller: Caller, defaults_hold: bool) -> list[str]:
    found = []
    for name in sorted((set(launch.env) | set(launch.unexported) | set(start.env)) - _BASH_OWN):
        if name.startswith("BASH_FUNC_"):
            continue
        reading = launch.env_of(name, caller)
        given = start.env.get(name)
        if reading.default and not defaults_hold:
            continue
        if isinstance(reading.value, Known) and reading.value.value != given:
            found.append(f"{name} is {given!r}, read as {reading.value.value!r}")
        if isinstance(reading.value, Absent) and given is not None:
            found.append(f"{name} is {given!r}, read as absent")
    return found
