"""The processes of an answer: argv, the declared names of the environment, and traits."""

from __future__ import annotations

import re

from knowngood.model import ABSENT, Desired, Known, Process, Unknown, Value
from knowngood.observe.answer_parts import Part
from knowngood.syntax.secrets import compared_by_digest

_DIGEST = re.compile(r"hmac:[0-9a-f]{64}")


def processes_of(unit: Part, role: Desired) -> tuple[Process, ...] | Unknown:
    """The processes of the role's unit, by pid; Unknown where the node could not list them."""
    source, error = unit.source("processes")
    if error is not None:
        return Unknown(error)
    sealed = {name: compared_by_digest(name, want) for name, want in {**role.env, **role.unit_env}.items()}
    return tuple(_process(part, sealed) for part in source.parts("value"))


def _process(part: Part, sealed: dict[str, bool]) -> Process:
    return Process(
        pid=part.number("pid"),
        ppid=part.number("ppid"),
        start_ticks=part.number("start_ticks"),
        started_ns=part.number("started_ns"),
        exe=part.word_or_none("exe"),
        argv=_argv(part),
        environ=_environ(part.part("environ"), sealed),
        traits=part.word_map("traits"),
    )


def _argv(part: Part) -> tuple[str, ...] | Unknown:
    source, error = part.source("argv")
    return Unknown(error) if error is not None else source.words("value")


def _environ(part: Part, sealed: dict[str, bool]) -> dict[str, Value] | Unknown:
    error = part.reason("error")
    if error is not None:
        return Unknown(error)
    values = part.word_map("values")
    missing = part.reason("missing")
    absent: Value = ABSENT if missing is None else Unknown(missing)
    return {
        name: _value(values[name], digest) if name in values else absent for name, digest in sealed.items()
    }


def _value(text: str, sealed: bool) -> Value:
    if sealed and not _DIGEST.fullmatch(text):
        return Unknown("the node sent no digest for this secret")
    return Known(text)
