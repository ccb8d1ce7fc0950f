"""Names that fit: settings without their long paths, and long lists of hosts as ranges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    """A name for each setting, clean and different from all others: files by as little path as that takes."""
    wanted = list(dict.fromkeys(settings))
    short = _short_paths({setting.name for setting in wanted if setting.kind in _PATH_KINDS})
    return {setting: f"{setting.kind} {clean(short.get(setting.name, setting.name))}" for setting in wanted}


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

    Ranges are written as bash expands them: decode-{01..40}.
    """
    names = every_host(hosts)
    if ranges and width(names) > cells:
        names = ", ".join(name for name, _ in fold(hosts))
    return names if width(names) <= cells else None


def host_list(hosts: Sequence[str], cells: int) -> str:
    """All names, else the first ones and how many more there are, else their number alone."""
    everyone = all_hosts(hosts, cells)
    if everyone is not None:
        return everyone
    folded = fold(hosts)
    for kept in range(min(len(folded), cells) - 1, 0, -1):
        more = sum(count for _, count in folded[kept:])
        text = ", ".join(name for name, _ in folded[:kept]) + f" and {more} more"
        if width(text) <= cells:
            return text
    return clean(hosts[0]) if len(hosts) == 1 else f"{len(hosts)} nodes"


def fold(hosts: Sequence[str]) -> list[tuple[str, int]]:
    """Runs of three and more numbered hosts as one range, with how many each entry stands for."""
    runs: list[list[str]] = []
    for host in hosts:
        if runs and _follows(runs[-1][-1], host):
            runs[-1].append(host)
        else:
            runs.append([host])
    folded = []
    for run in runs:
        folded += [(_range(run), len(run))] if len(run) > 2 else [(clean(host), 1) for host in run]
    return folded


def _parts(host: str) -> tuple[str, str, str]:
    """What stands before the number that counts nodes, the number or "", and what stands after it."""
    pattern = _LAST_OCTET if _ADDRESS.fullmatch(host) else _NUMBERED
    match = pattern.fullmatch(host)
    if match is None or len(match["number"]) > _LONGEST_NUMBER:
        return host, "", ""
    return match["before"], match["number"], match["after"]


def _follows(host: str, following: str) -> bool:
    (before, number, after), other = _parts(host), _parts(following)
    if not number or (before, after) != (other[0], other[2]):
        return False
    # Counting on gives the very same digits: 09 → 10 and 9 → 10, and never 9 → 010.
    return other[1] == str(int(number) + 1).zfill(len(number))


def _range(run: Sequence[str]) -> str:
    (before, first, after), (_, last, _) = _parts(run[0]), _parts(run[-1])
    return f"{clean(before)}{{{first}..{last}}}{clean(after)}"
