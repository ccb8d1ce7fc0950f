"""Choosing hosts of an inventory by name, group and glob."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from knowngood.model import Host


class NoMatchError(ValueError):
    """A pattern chose no host. The text says which, and what may have been meant."""


def choose(hosts: Sequence[Host], patterns: Iterable[str]) -> tuple[Host, ...]:
    """The hosts that any of the patterns chooses, in their own order; all of them without a pattern.

    A pattern is a host's name, a group's name, or a glob over both; it may hold several, separated by
    commas. `all` is the group of all hosts. NoMatchError when one of them chooses nothing.
    """
    groups: dict[str, set[str]] = {"all": {host.name for host in hosts}}
    for host in hosts:
        for group in host.groups:
            groups.setdefault(group, set()).add(host.name)

    words = [word.strip() for pattern in patterns for word in _split(pattern, hosts)]
    if not words:
        return tuple(hosts)
    chosen: set[str] = set()
    for word in words:
        names = _named(word, hosts, groups)
        if not names:
            raise NoMatchError(_no_match(word, hosts, groups))
        chosen |= names
    return tuple(host for host in hosts if host.name in chosen)


def _split(pattern: str, hosts: Sequence[Host]) -> list[str]:
    # A name may hold a comma itself (a Terraform or Docker identifier): the whole counts first.
    return [pattern] if any(host.name == pattern for host in hosts) else pattern.split(",")


def _named(word: str, hosts: Sequence[Host], groups: dict[str, set[str]]) -> set[str]:
    exact = {host.name for host in hosts if host.name == word} | groups.get(word, set())
    if exact:
        return exact
    names = {host.name for host in hosts if fnmatchcase(host.name, word)}
    return names.union(*(members for group, members in groups.items() if fnmatchcase(group, word)))


def _no_match(word: str, hosts: Sequence[Host], groups: dict[str, set[str]]) -> str:
    if not word:
        return "an empty pattern chooses no host"
    known = [*(host.name for host in hosts), *groups]
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"no host and no group is called {word!r}{hint}"
