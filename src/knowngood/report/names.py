"""Names that fit: settings without their long paths, and long lists of hosts as ranges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import PurePosixPath

from knowngood.model import Setting
from knowngood.report.cells import width
from knowngood.report.escape import clean

_PATH_KINDS = ("file", "mode", "owner", "group")
_ADDRESS = re.compile(r"[\d.]+")
# The number that counts nodes is the last one of the first label: gpu07 in gpu07.rack3.dc1.
_NUMBERED = re.compile(r"(?P<before>[^.]*?)(?P<number>\d+)(?P<after>[^\d.]*(?:\..*)?)", re.DOTALL)
_LONGEST_NUMBER = 9  # digits
_LAST_OCTET = re.compile(r"(?P<before>.*?)(?P<number>\d+)(?P<after>)", re.DOTALL)


def setting_names(settings: Iterable[Setting]) -> dict[Setting, str]:
    """A name for each setting, clean and different from all others.

    Files are named by as little of their path as that takes, directives without their section.
    """
    wanted = dict.fromkeys(settings)
    paths = _short_paths({setting.name for setting in wanted if setting.kind in _PATH_KINDS})
    directives = Counter(_directive(setting.name) for setting in wanted if setting.kind == "systemd")

    def name(setting: Setting) -> str:
        if setting.kind in _PATH_KINDS:
            return paths[setting.name]
        if setting.kind == "systemd" and directives[_directive(setting.name)] == 1:
            return _directive(setting.name)
        return setting.name

    return {setting: f"{setting.kind} {clean(name(setting))}" for setting in wanted}


def _directive(name: str) -> str:
    return name.partition(".")[2] or name


def _short_paths(paths: Iterable[str]) -> Mapping[str, str]:
    """Each path by its last part without suffix where no other path has the same, else by more of it."""
    short: dict[str, str] = {}
    left = set(paths)
    depth = 0
    while left:
        forms = {path: _form(path, depth) for path in left}
        count = Counter(forms.values())
        done = {path for path in left if count[forms[path]] == 1 or forms[path] == path}
        short |= {path: forms[path] for path in done}
        left -= done
        depth += 1
    return short


def _form(path: str, depth: int) -> str:
    """0: stem; 1: last part; 2: the last two parts; and so on, up to the path itself."""
    if depth == 0:
        return PurePosixPath(path).stem or path
    parts = path.split("/")
    return "/".join(parts[-depth:]) if depth < len(parts) else path


def every_host(hosts: Sequence[str]) -> str:
    """All names, however long that gets."""
    return ", ".join(map(clean, hosts))


def all_hosts(hosts: Sequence[str], cells: int, *, ranges: bool = True) -> str | None:
    """All names in at most so many cells, as `ranges` if need be; None where they do not fit.

    Ranges are written as bash expands them: decode-{01..40}, decode-{01,05,{10..19}}.
    """
    forms = [every_host]
    if ranges:
        forms += [lambda hosts: ", ".join(map(str, runs(hosts))), _in_braces]
    texts = (form(hosts) for form in forms)
    return next((text for text in texts if width(text) <= cells), None)


def host_list(hosts: Sequence[str], cells: int) -> str:
    """All names, else the first ones and how many more there are, else their number alone."""
    everyone = all_hosts(hosts, cells)
    if everyone is not None:
        return everyone
    found = runs(hosts)
    for kept in range(min(len(found), cells) - 1, 0, -1):
        more = sum(run.count for run in found[kept:])
        text = ", ".join(map(str, found[:kept])) + f" and {more} more"
        if width(text) <= cells:
            return text
    return clean(hosts[0]) if len(hosts) == 1 else f"{len(hosts)} nodes"


@dataclass(frozen=True, slots=True)
class Run:
    """Hosts whose numbers count on from first to last; a host without a number has "" for both."""

    before: str
    first: str
    last: str
    after: str
    count: int = 1

    def numbers(self) -> str:
        return self.first if self.count == 1 else f"{{{self.first}..{self.last}}}"

    def __str__(self) -> str:
        return clean(self.before) + self.numbers() + clean(self.after)

    def then(self, host: Run) -> Run | None:
        """This run with the host, where the host is the next one: 09 → 10 and 9 → 10, never 9 → 010."""
        alike = (self.before, self.after) == (host.before, host.after) and self.last
        if not alike or host.first != str(int(self.last) + 1).zfill(len(self.last)):
            return None
        return replace(self, last=host.last, count=self.count + 1)


def runs(hosts: Iterable[str]) -> list[Run]:
    """The hosts in their order, those that count on from one to the next as one; never just two."""
    found: list[Run] = []
    for host in map(_single, hosts):
        longer = found[-1].then(host) if found else None
        if longer is not None:
            found[-1] = longer
        else:
            found.append(host)
    return [each for run in found for each in _pair_apart(run)]


def _pair_apart(run: Run) -> list[Run]:
    if run.count != 2:
        return [run]
    return [replace(run, last=run.first, count=1), replace(run, first=run.last, count=1)]


def _in_braces(hosts: Sequence[str]) -> str:
    """Runs that differ in their numbers alone written as one."""
    texts = []
    for (before, after, numbered), group in groupby(
        runs(hosts), lambda run: (run.before, run.after, bool(run.first))
    ):
        numbers = [run.numbers() for run in group]
        if not numbered or len(numbers) == 1:
            texts += [clean(before) + number + clean(after) for number in numbers]
        else:
            texts.append(f"{clean(before)}{{{','.join(numbers)}}}{clean(after)}")
    return ", ".join(texts)


def _single(host: str) -> Run:
    pattern = _LAST_OCTET if _ADDRESS.fullmatch(host) else _NUMBERED
    match = pattern.fullmatch(host)
    if match is None or len(match["number"]) > _LONGEST_NUMBER:
        return Run(host, "", "", "")
    return Run(match["before"], match["number"], match["number"], match["after"])
