"""`knowngood explain` on the screen, the text with its values at its side, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from knowngood.model import Absent, Known, Occurrences, Reading, Unknown
from knowngood.report.escape import clean
from knowngood.report.values import json_text
from knowngood.syntax.argv import Arg
from knowngood.syntax.explanation import Explained, Explanation
from knowngood.syntax.secret_texts import holds_secret, untelling
from knowngood.syntax.secrets import MASK, looks_secret, mask

_LEFT = 64  # columns for the text itself
_SHORTEST_SECRET = 4  # a shorter text would blot out half the screen


def explained_json(explanation: Explanation) -> str:
    """The explanation as indented JSON, ASCII, a newline at its end; secret-looking values are masked."""
    secrets = secrets_in(explanation)
    document: dict[str, Any] = {
        "kind": explanation.kind,
        "launches": [_launch(launch, secrets) for launch in explanation.launches],
        "lint": [
            {"line": remark.line, "code": remark.code, "message": json_text(mask(remark.message, secrets))}
            for remark in explanation.lint
        ],
    }
    if explanation.unread is not None:
        reason, line = explanation.unread
        document["unread"] = {"line": line, "reason": json_text(mask(reason, secrets))}
    return json.dumps(document, indent=2) + "\n"


def _launch(launch: Explained, secrets: list[str]) -> dict[str, Any]:
    return {
        "argv0": json_text(mask(launch.argv0, secrets)),
        "exec": launch.exec,
        "line": launch.line,
        "env": {json_text(name): _value(value, secrets) for name, value in launch.env.items()},
        "args": [_arg(arg, secrets) for arg in launch.args],
        "positionals": [_value(word, secrets) for word in launch.positionals],
        "env_open": None if launch.env_open is None else json_text(launch.env_open),
        "conditional": launch.conditional,
    }


def _arg(arg: Arg, secrets: list[str]) -> dict[str, Any]:
    value = None if arg.value is None else _value(arg.value, secrets)
    return {"flag": json_text(mask(arg.flag, secrets)), "value": value, "line": arg.line}


def _value(reading: Reading, secrets: list[str]) -> dict[str, Any]:
    value = reading.value
    if isinstance(value, Known):
        text = json_text(mask(_text(value), secrets))
        return {"state": "known", "value": text, "line": reading.line, "default": reading.default}
    if isinstance(value, Unknown):
        return {
            "state": "unknown",
            "reason": json_text(untelling(mask(value.reason, secrets))),
            "line": reading.line,
        }
    return {"state": "absent"}


def _text(value: Known) -> str:
    plain = value.value
    return plain if isinstance(plain, str) else _words(plain)


def _words(plain: Occurrences) -> str:
    return " ".join(word for words in plain.words for word in words)


def secrets_in(explanation: Explanation) -> list[str]:
    """The known values of secret-looking knobs and flags."""
    found = []
    for launch in explanation.launches:
        found += [reading for name, reading in launch.env.items() if looks_secret(name)]
        found += [arg.value for arg in launch.args if arg.value is not None and looks_secret(arg.flag)]
    texts = [_text(reading.value) for reading in found if isinstance(reading.value, Known)]
    return [text for text in texts if len(text) >= _SHORTEST_SECRET]


def render_explained(explanation: Explanation, name: str, text: bytes) -> str:
    """The text, line by line, with what each line gives beside it; then launches and remarks."""
    secrets = secrets_in(explanation)
    beside = _beside(explanation, secrets)
    lines = []
    source = text.decode("utf-8", "surrogateescape").splitlines()
    for number, line in enumerate(source, 1):
        shown = clean(_masked_line(line.expandtabs(4), secrets), _LEFT)
        notes = beside.get(number, [])
        lines.append(f"{number:>4}  {shown:<{_LEFT}}  {notes[0] if notes else ''}".rstrip())
        lines += [f"{'':>4}  {'':<{_LEFT}}  {note}" for note in notes[1:]]
    lines += ["", *_launch_lines(explanation, secrets), *_remark_lines(explanation, name, secrets)]
    return "\n".join(lines) + "\n"


def _masked_line(line: str, secrets: list[str]) -> str:
    """The line without secrets: those that were read; a line that seems to hold another is not shown."""
    line = mask(line, secrets)
    # A comment, a chore or a branch not taken can hold a secret that no launch gets.
    if not holds_secret(line):
        return line
    head, equals, _ = line.partition("=")
    name = head.split()[-1] if head.split() else ""
    return f"{head}={MASK}" if equals and looks_secret(name) else f"{MASK} (the line seems to hold one)"


def _beside(explanation: Explanation, secrets: list[str]) -> Mapping[int, list[str]]:
    notes: dict[int, list[str]] = {}
    for launch in explanation.launches:
        for line, note in _notes(launch, secrets):
            if note not in notes.setdefault(line, []):
                notes[line].append(note)
    return notes


def _notes(launch: Explained, secrets: list[str]) -> Iterator[tuple[int, str]]:
    for name, reading in launch.env.items():
        if not isinstance(reading.value, Absent):
            yield reading.line, f"{clean(name, 60)} {_shown(reading, secrets)}"
    for arg in launch.args:
        value = "" if arg.value is None else f" {_shown(arg.value, secrets)}"
        yield arg.line, f"{clean(mask(arg.flag, secrets), 60)}{value}"
    for word in launch.positionals:
        if isinstance(word.value, Unknown):
            yield word.line or launch.line, f"more words {_shown(word, secrets)}"


def _shown(reading: Reading, secrets: list[str]) -> str:
    value = reading.value
    if isinstance(value, Known):
        return f"= {clean(mask(_text(value), secrets), 60)}" + (" (default)" if reading.default else "")
    if isinstance(value, Absent):
        return "is not set"
    return f"? {clean(untelling(mask(value.reason, secrets)), 80)}"


def _launch_lines(explanation: Explanation, secrets: list[str]) -> Iterator[str]:
    if not explanation.launches:
        yield "launches nothing that could be a server"
    for launch in explanation.launches:
        how = "takes the script's place (exec)" if launch.exec else "runs as a child"
        yield f"line {launch.line}: {clean(mask(launch.argv0, secrets), 60)} {how}" + (
            ", under a condition" if launch.conditional else ""
        )
        if launch.env_open is not None:
            yield f"  other names of its environment are not known: {clean(launch.env_open)}"
    if explanation.unread is not None:
        reason, line = explanation.unread
        yield f"not read beyond line {line}: {clean(mask(reason, secrets))}"


def _remark_lines(explanation: Explanation, name: str, secrets: list[str]) -> Iterator[str]:
    for remark in explanation.lint:
        message = clean(mask(remark.message, secrets))
        yield f"{clean(name)}:{remark.line}: {remark.code}: {message}"
