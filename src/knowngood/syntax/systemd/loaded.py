"""What systemd's manager holds of a directive, told by the properties that `systemctl show` prints.

Source: org.freedesktop.systemd1(5); src/shared/bus-print-properties.c, src/systemctl/systemctl-show.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from knowngood.model import ABSENT, Known, Unknown, Value
from knowngood.syntax.systemd.canonical import canonical
from knowngood.syntax.systemd.command import shown_commands
from knowngood.syntax.systemd.defaults import default_of
from knowngood.syntax.systemd.directives import KIND_OF, SAME_AS
from knowngood.syntax.systemd.limits import join_limit, limit_of_kernel
from knowngood.syntax.systemd.numbers import INFINITY, MOST, show_share
from knowngood.syntax.systemd.shown import shown_words
from knowngood.syntax.systemd.specifiers import escape_specifiers
from knowngood.syntax.systemd.timespans import timespan
from knowngood.syntax.systemd.wordlists import quoted

_RENAMED = {
    "CPUQuota": "CPUQuotaPerSecUSec",
    "EnvironmentFile": "EnvironmentFiles",
    "TimerSlackNSec": "TimerSlackNSec",
    "StartLimitIntervalSec": "StartLimitIntervalUSec",
    "LogRateLimitIntervalSec": "LogRateLimitIntervalUSec",
    "CPUQuotaPeriodSec": "CPUQuotaPeriodUSec",
}
_NOT_SET = ("[not set]", "[no data]", "18446744073709551615")
_UNLIMITED = ("memory", "memory_or_none", "tasks")
_INDIRECT = "the manager shows this directive in another form, which can't be compared"
_EXEC = re.compile(
    r"\{ path=.*? ; argv\[\]=(?P<argv>.*?) ; ignore_errors=(?P<ignore>yes|no) ; start_time=", re.DOTALL
)


def property_of(directive: str) -> str:
    """The name of the property that tells a directive."""
    name = SAME_AS.get(directive, directive).partition(".")[2]
    if name in _RENAMED:
        return _RENAMED[name]
    kind = KIND_OF.get(directive)
    if kind in ("span", "span_or_never", "abort_span") and name.endswith("Sec"):
        return name[:-3] + "USec"
    return name


def properties_for(directives: Iterable[str]) -> list[str]:
    """The properties that `systemctl show -p` must be asked for to know these directives, sorted."""
    names: set[str] = set()
    for directive in directives:
        name = property_of(directive)
        names.add(name)
        if KIND_OF.get(directive) == "limit":
            names.add(f"{name}Soft")
        elif KIND_OF.get(directive) == "command":
            names.add(f"{name}Ex")
    return sorted(names)


def loaded_value(directive: str, properties: Mapping[str, str], like: Iterable[str] = ()) -> Value:
    """What the manager holds of `Section.Directive`, in canonical spelling.

    `properties` are the raw texts by name. Absent where the manager shows that nothing sets it and no default
    is certain; Unknown where the property is not shown, or does not tell. `like` are canonical values that it
    may be: for directives that the manager shows in a lossy way (the words of commands run together), one of
    these is taken where it would be shown just so.
    """
    own = SAME_AS.get(directive, directive)
    name = property_of(directive)
    if name not in properties:
        return Unknown(f"systemd does not show {name}")
    kind, text = KIND_OF.get(own), properties[name]
    try:
        if kind == "limit":
            return _limit(own, text, properties)
        if kind == "command":
            return _commands(text, like)
        if text in ("", *_NOT_SET) and not (kind in _UNLIMITED and text):
            return _unset(own, text)
        return _plain(own, kind, text, like)
    except ValueError:
        return Unknown(f"systemd shows {name} in a form that can't be compared")


def _unset(directive: str, text: str) -> Value:
    default = default_of(directive)
    return ABSENT if default is None else Known(default)


def _limit(directive: str, hard: str, properties: Mapping[str, str]) -> Value:
    soft = properties.get(f"{property_of(directive)}Soft")
    if soft is None:
        return Unknown(f"systemd does not show {property_of(directive)}Soft")
    resource = directive.partition("Limit")[2]
    return Known(join_limit(*(limit_of_kernel(resource, _number(each)) for each in (soft, hard))))


def _number(text: str) -> str:
    return INFINITY if text in _NOT_SET else text


def _plain(directive: str, kind: str | None, text: str, like: Iterable[str]) -> Value:
    if kind == "quota":
        span = timespan(text)
        return Known(INFINITY if span is None else show_share(span // 100))
    if kind in _UNLIMITED and any(candidate.endswith("%") for candidate in like):
        return Unknown("systemd shows a share as the number that it comes to")
    if kind in _UNLIMITED and text.isdigit() and int(text) >= MOST:
        return Known(INFINITY)
    if directive == "Service.WatchdogSec":
        return _watchdog(canonical(directive, text), like)
    if kind == "folder":
        text = text.replace("!", "-", 1) if text.startswith("!") else text
        return Known(canonical(directive, escape_specifiers(text)))
    if kind in ("environment", "names", "names_or_pairs"):
        return Known(canonical(directive, _requoted(text)))
    if kind in ("words", "kept_words", "units"):
        return _words(canonical(directive, escape_specifiers(text)), like, may_have_more=kind != "words")
    if kind in ("set", "lines", "cpu_list", "environment_file", "nanoseconds"):
        return _environment_files(directive, text) if kind == "environment_file" else Unknown(_INDIRECT)
    if kind in ("text", "path", "user", "cpus"):
        return Known(canonical(directive, escape_specifiers(text)))
    return Known(canonical(directive, text))


def _watchdog(shown: str, like: Iterable[str]) -> Value:
    """systemd shows the time that counted when the service last started, not the one it holds by now."""
    if shown in like:
        return Known(shown)
    return Unknown("systemd shows the watchdog's time of the last start alone")


def _words(shown: str, like: Iterable[str], *, may_have_more: bool) -> Value:
    """Some lists are shown in another order; to dependencies systemd adds its own."""
    there = {_bare(word) for word in shown.split(" ")}
    for candidate in like:
        wanted = {_bare(word) for word in candidate.split(" ")}
        if wanted == there or (may_have_more and wanted < there):
            return Known(candidate)
    return Known(shown)


def _bare(word: str) -> str:
    """A word of a list as systemd shows it: signals without SIG."""
    return word.removeprefix("SIG")


def _requoted(text: str) -> str:
    return " ".join(quoted(escape_specifiers(word)) for word in shown_words(text))


def _environment_files(directive: str, text: str) -> Value:
    """A line for each file: `/path (ignore_errors=yes)`."""
    spelled = []
    for line in text.split("\n"):
        match = re.fullmatch(r"(.*) \(ignore_errors=(yes|no)\)", line)
        if match is None:
            return Unknown(_INDIRECT)
        spelled.append(("-" if match[2] == "yes" else "") + escape_specifiers(match[1]))
    return Known(canonical(directive, "\n".join(spelled)))


def _commands(text: str, like: Iterable[str]) -> Value:
    if not text:
        return ABSENT
    told = [(match["argv"], match["ignore"] == "yes") for match in _EXEC.finditer(text)]
    for candidate in like:
        if told and told == _as_shown(candidate):
            return Known(candidate)
    return Unknown("systemd shows commands without telling where their words begin and end")


def _as_shown(candidate: str) -> list[tuple[str, bool]]:
    return [each for line in candidate.split("\n") for each in shown_commands(line)]


def loaded_environment(properties: Mapping[str, str]) -> Mapping[str, str]:
    """Environment= as the manager holds it: name → value. Empty where the property is not shown."""
    pairs = (word.partition("=") for word in shown_words(properties.get("Environment", "")))
    return {name: value for name, equals, value in pairs if equals}
