"""`docker run -e A=1 IMAGE words`: what a container's command line says of words and environment.

Docker's options are those of `docker run --help` (24); podman and nerdctl take the same. An image brings an
environment and an entrypoint of its own, which nothing here can know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from knowngood.model import Known, Reading, Unknown
from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.fields import Field, Gap, Item, Items
from knowngood.syntax.bash.state import from_latin
from knowngood.syntax.bash.surroundings import Surroundings, text_reading

ENGINES = ("docker", "podman", "nerdctl")
_FLAG_NAMES = """
--detach --interactive --tty --rm --init --privileged --publish-all --read-only --no-healthcheck
--oom-kill-disable --quiet --disable-content-trust --sig-proxy --replace --tls-verify
"""
_FLAGS = frozenset(_FLAG_NAMES.split())
_SHORT_FLAGS = "ditPq"
_SHORT_VALUED = "acehlmpuvw"
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def container(
    items: Items, around: Surroundings, files: Mapping[str, bytes]
) -> tuple[Items, Surroundings] | None:
    """The words that run in a container and their environment; None when this starts none.

    `items` begin with the engine's name. The first word is unknown where the image's entrypoint runs.
    """
    words = [texts.known(item.text) if isinstance(item, Field) else None for item in items]
    at = 1
    if words[at : at + 1] == ["container"]:
        at += 1
    action = words[at] if at < len(words) else None
    if action not in ("run", "exec"):
        return None
    parsed = _options(items, words, at + 1)
    if parsed is None or parsed[0] >= len(items):
        return None
    at, options = parsed
    inner = _environment(around, options, files)
    entry = next((value for name, value in reversed(options) if name == "--entrypoint"), None)
    rest = items[at + 1 :]
    first = rest[0] if rest else None
    runs_image = not rest or (first is not None and _begins(first).startswith("-"))
    if entry is not None:
        rest = (entry, *rest)
    elif action == "run" and runs_image:
        rest = (Field(texts.unknown("the image's entrypoint", items[at].line), items[at].line), *rest)
    return rest, inner


def _options(items: Items, words: list[str | None], at: int) -> tuple[int, list[tuple[str, Item]]] | None:
    """(where the image stands, options with their values); None where an option is not understood."""
    options: list[tuple[str, Item]] = []
    while at < len(items):
        item, word = items[at], words[at]
        begins = _begins(item)
        if begins.startswith("--"):
            name, equals, _ = begins.partition("=")
            if equals:
                options.append((name, _cut(item, len(name) + 1)))
            elif word is None:
                return None
            elif word not in _FLAGS:
                at += 1
                if at < len(items):
                    options.append((word, items[at]))
            at += 1
        elif begins.startswith("-") and len(begins) > 1:
            taken = _short(items, begins, word, at)
            if taken is None:
                return None
            at, found = taken
            options += found
        elif isinstance(item, Gap) and not begins:
            # Options kept in a variable: their number is unknown, and the image stands after them.
            options.append(("?", item))
            at += 1
        else:
            return at, options
    return None


def _short(items: Items, begins: str, word: str | None, at: int) -> tuple[int, list[tuple[str, Item]]] | None:
    for offset, letter in enumerate(begins[1:], 1):
        if letter in _SHORT_VALUED:
            name = {"e": "--env"}.get(letter, "-" + letter)
            if len(begins) > offset + 1 or word is None:
                cut = offset + 1 + (begins[offset + 1 : offset + 2] == "=")
                return at + 1, [(name, _cut(items[at], cut))]
            return (at + 2, [(name, items[at + 1])]) if at + 1 < len(items) else None
        if letter not in _SHORT_FLAGS:
            return None
    return (at + 1, []) if word is not None else None


def _environment(
    around: Surroundings, options: list[tuple[str, Item]], files: Mapping[str, bytes]
) -> Surroundings:
    reason = "the container's image has an environment of its own"
    given: dict[str, Reading] = {}
    for name, value in options:
        if name == "--env-file":
            path = texts.known(value.text) if isinstance(value, Field) else None
            data = None if path is None else files.get(from_latin(path))
            if data is None:
                reason = f"{from_latin(path) if path else 'an environment file'} could not be read"
            given.update(_env_file(data or b"", around, value.line))
    for name, value in options:
        if name == "--env":
            found = _one(value, around)
            if found is None:
                reason = "a name that is given to the container is not known"
            else:
                given[found[0]] = found[1]
        elif name == "?":
            return Surroundings(open="options of the container are not known", inherits=False)
    return Surroundings(given, {}, reason, False)


def _one(value: Item, around: Surroundings) -> tuple[str, Reading] | None:
    """`-e NAME=value`, or `-e NAME` which passes on what the script has."""
    if not isinstance(value, Field) or not value.text or not isinstance(value.text[0], str):
        return None
    name, equals, first = value.text[0].partition("=")
    if not _NAME.fullmatch(name) or (not equals and len(value.text) > 1):
        return None
    if equals:
        reading = text_reading(texts.concat(texts.plain(first), value.text[1:]), value.line)
        if not isinstance(reading.value, Known):
            reading = Reading(reading.value, value.line)
        return name, reading
    return name, _passed(name, around, value.line)


def _passed(name: str, around: Surroundings, line: int) -> Reading:
    if name in around.given:
        reading = around.given[name]
        if isinstance(reading.value, Known):
            return reading
    # Where the script has no such name, the image's own value stays.
    return Reading(Unknown("passed on from the script's caller, or the image's own"), line)


def _env_file(data: bytes, around: Surroundings, line: int) -> dict[str, Reading]:
    """Docker's own format: NAME=value as it stands, `#` comments, NAME alone is passed on."""
    given: dict[str, Reading] = {}
    for raw in data.decode("utf-8", "surrogateescape").split("\n"):
        text = raw.lstrip().removesuffix("\r")
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        given[name] = Reading(Known(value), line) if equals else _passed(name, around, line)
    return given


def _begins(item: Item) -> str:
    return item.start if isinstance(item, Gap) else texts.starts_with(item.text)


def _cut(item: Item, cut: int) -> Item:
    if isinstance(item, Gap):
        return Gap(item.reason, item.line, item.start[cut:])
    return Field(texts.concat(texts.plain(str(item.text[0])[cut:]), item.text[1:]), item.line)
