"""What a node answered, as Observations. A node is not trusted: each value has its type, or none counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from knowngood.model import Desired, Failure, Observation, Receipt, Text, UnitState
from knowngood.observe.answer_files import SHA256, file_state, text_file
from knowngood.observe.answer_frame import FrameError, unframe
from knowngood.observe.answer_parts import NonsenseError, Part
from knowngood.observe.answer_processes import processes_of
from knowngood.observe.ask import paths_of, run_of


def read_answer(
    host: str, raw: bytes | str, roles: Sequence[Desired], nonce: bytes
) -> dict[str, Observation] | Failure:
    """The answer to `ask(roles, nonce)`, by manifest name; or why it can't be used. Never raises.

    What one source could not tell stands in its place: as Unknown, as an error beside the value, or as a
    file of the kind `unreadable`.
    """
    data = raw.encode("latin-1", "replace") if isinstance(raw, str) else raw
    try:
        value = unframe(data, run_of(nonce))
        answer = Part(value, "answer")
        answer = Part(value, "answer", answer.reason("problem"))
        if answer.number("version") != 1:
            raise NonsenseError("answer.version: not one that we know")
        return {role.manifest: _observation(host, answer, role, nonce) for role in roles}
    except FrameError as error:
        return Failure("incomplete", str(error))
    except NonsenseError as error:
        return Failure("incomplete", f"the node's answer makes no sense ({error})")


def _observation(host: str, answer: Part, role: Desired, nonce: bytes) -> Observation:
    unit = answer.part("units").part(role.unit)
    files = answer.part("files")
    script, sourced = _script(unit, role)
    environment, no_environment = answer.source("manager_environment")
    more, no_more = answer.source("manager_has_more")
    boot_id, no_boot_id = answer.source("boot_id")
    return Observation(
        host=host,
        unit=_unit(role.unit, unit),
        processes=processes_of(unit, role),
        files={path: file_state(path, files) for path in paths_of(role)},
        script=script,
        sourced=sourced,
        receipt=_receipt(unit),
        activated=_activated(unit),
        nonce=nonce,
        manager_environment={} if no_environment else environment.word_map("value"),
        manager_open=bool(no_environment or no_more or more.truth("value") is not False),
        now_ns=answer.number("now_ns"),
        boot_id="" if no_boot_id else boot_id.word("value"),
    )


def _script(unit: Part, role: Desired) -> tuple[Text | None, Mapping[str, Text]]:
    """The serve script, and what it sources, by path."""
    if role.script is None:
        return None, {}
    source, error = unit.source("script")
    if error is not None:
        return Text(role.script.path, None, error), {}
    texts = source.part("value")
    sourced = texts.parts_by_word("sourced")
    return text_file(texts.part("script")), {path: text_file(part) for path, part in sourced.items()}


def _unit(name: str, unit: Part) -> UnitState:
    source, error = unit.source("properties")
    properties = {} if error is not None else source.word_map("value")
    fragment, dropins, environment_files = _texts(name, unit)
    cgroup, no_cgroup = unit.source("cgroup")
    return UnitState(
        name=name,
        load_state=properties.get("LoadState", ""),
        active_state=properties.get("ActiveState", ""),
        sub_state=properties.get("SubState", ""),
        unit_file_state=properties.get("UnitFileState", ""),
        main_pid=_number(properties.get("MainPID", "")),
        n_restarts=_number(properties.get("NRestarts", "")),
        need_daemon_reload=properties.get("NeedDaemonReload") == "yes",
        invocation_id=properties.get("InvocationID", ""),
        properties=properties,
        fragment=fragment,
        dropins=dropins,
        environment_files=environment_files,
        cgroup={} if no_cgroup is not None else cgroup.word_map("value"),
        error=error,
    )


def _texts(name: str, unit: Part) -> tuple[Text | None, tuple[Text, ...], tuple[Text, ...]]:
    """Fragment, drop-ins and environment files; the fragment says so where they could not be sought."""
    source, error = unit.source("texts")
    if error is not None:
        return Text(name, None, error), (), ()
    texts = source.part("value")
    fragment = texts.part_or_none("fragment")
    return (
        None if fragment is None else text_file(fragment),
        tuple(text_file(part) for part in texts.parts("dropins")),
        tuple(text_file(part) for part in texts.parts("environment_files")),
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def _receipt(unit: Part) -> Receipt | None:
    """The start's receipt; a damaged one proves nothing, and counts as none."""
    source, error = unit.source("receipt")
    if error is not None or "value" not in source:
        return None
    try:
        receipt = source.part("value")
        files = receipt.parts_by_word("files")
        return Receipt(
            receipt.word("invocation_id"),
            {path: (_hash(part), part.number("ctime_ns")) for path, part in files.items()},
        )
    except NonsenseError:
        return None


def _hash(part: Part) -> str:
    text = part.word("sha256")
    if not SHA256.fullmatch(text):
        raise NonsenseError("a hash that is none")
    return text


def _activated(unit: Part) -> Mapping[str, str]:
    source, error = unit.source("activated")
    try:
        return {} if error is not None else source.word_map("value")
    except NonsenseError:
        return {}
