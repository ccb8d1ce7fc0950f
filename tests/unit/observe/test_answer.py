"""Answers as real nodes gave them, one file a case under tests/cases/answers, and what is read of each."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from knowngood.model import (
    ABSENT,
    Absent,
    Desired,
    DesiredFile,
    DesiredScript,
    Failure,
    Known,
    Secret,
    Unknown,
)
from knowngood.node.written import frame
from knowngood.observe.answer import read_answer
from knowngood.observe.ask import run_of

CASES = Path(__file__).parents[2] / "cases" / "answers"
NONCE = b"nonce of the recorded answers"


def desired(role: dict[str, Any]) -> Desired:
    wants = {
        name: ABSENT
        if want is None
        else Secret(want["secret"], None)
        if isinstance(want, dict)
        else Known(want)
        for name, want in role.get("env", {}).items()
    }
    return Desired(
        manifest=role["manifest"],
        host="node",
        unit=role["unit"],
        files=tuple(DesiredFile(path, "0" * 64, "") for path in role.get("files", ())),
        script=DesiredScript(role["script"]) if "script" in role else None,
        env=wants,
    )


def framed(answer: object) -> bytes:
    return frame(run_of(NONCE), json.dumps(answer))


def plain(value: object) -> Any:
    """A value of the model as JSON would have it: Known as its text, Absent as null, Unknown by reason."""
    if isinstance(value, Known):
        return value.value
    if isinstance(value, Absent):
        return None
    if isinstance(value, Unknown):
        return {"unknown": value.reason}
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value


def at(value: Any, way: str) -> Any:
    """What lies at the end of a dotted way; a name that holds dots itself is taken whole where it fits."""
    if not way:
        return value
    if isinstance(value, dict):
        names = [name for name in value if way == name or way.startswith(name + ".")]
        return at(value[names[0]], way[len(names[0]) + 1 :]) if names else "<none>"
    if isinstance(value, list):
        index, _, rest = way.partition(".")
        return at(value[int(index)], rest) if int(index) < len(value) else "<none>"
    return "<none>"


@pytest.mark.parametrize("case", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_case(case: Path) -> None:
    told = json.loads(case.read_text())
    role = desired(told["role"])
    answer = read_answer("node", framed(told["answer"]), [role], NONCE)
    assert not isinstance(answer, Failure), answer.reason
    seen = plain(answer[role.manifest])
    assert {way: at(seen, way) for way in told["expect"]} == told["expect"]


def clean() -> tuple[Desired, dict[str, Any]]:
    told = json.loads((CASES / "clean.json").read_text())
    return desired(told["role"]), told["answer"]


def test_several_roles_of_a_host_come_in_one_answer() -> None:
    role, answer = clean()
    other = dataclasses.replace(role, manifest="other", unit="web.service", script=None, files=(), env={})
    answer["units"]["web.service"] = json.loads((CASES / "unit-missing.json").read_text())["answer"]["units"][
        role.unit
    ]
    read = read_answer("node", framed(answer), [role, other], NONCE)
    assert not isinstance(read, Failure)
    assert (read["dsv4-decode"].unit.active_state, read["other"].unit.load_state) == ("active", "not-found")


def test_noise_of_a_login_shell_does_not_matter() -> None:
    role, answer = clean()
    noise = b"Welcome!\xff\xfe <<knowngood banner>>\n"
    read = read_answer("node", noise + framed(answer) + b"\nlogout\n", [role], NONCE)
    assert not isinstance(read, Failure)


def failure_of(raw: bytes | str) -> str:
    role, _ = clean()
    read = read_answer("node", raw, [role], NONCE)
    assert isinstance(read, Failure)
    assert read.kind == "incomplete"
    return read.reason


def test_a_cut_answer_is_seen_wherever_it_is_cut() -> None:
    whole = framed(clean()[1])
    reasons = {failure_of(whole[:cut]) for cut in range(0, len(whole) - 1, 7)}
    assert any("the answer is cut" in reason for reason in reasons)


def test_the_answer_to_another_question_does_not_count() -> None:
    other = frame(run_of(b"another nonce"), json.dumps(clean()[1]))
    assert failure_of(other) == "the node answered another question than ours"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "the node answered nothing"),
        (b"bash: python3: command not found\n", "the node's answer is not the probe's"),
        (framed([1]), "no object"),
        (framed({"version": 2}), "version"),
        (frame(run_of(NONCE), "[" * 100_000), "no JSON"),
        (frame(run_of(NONCE), '{"version": NaN}'), "no JSON"),
        (frame(run_of(NONCE), '{"version": 1' + "0" * 5000 + "}"), "no JSON"),
    ],
)
def test_nonsense_is_told_as_such(raw: bytes, reason: str) -> None:
    assert reason in failure_of(raw)


def test_an_answer_that_unpacks_without_end_is_refused() -> None:
    import base64
    import zlib

    body = base64.b64encode(zlib.compress(b" " * (64 << 20), 9))
    mark = b"<<knowngood " + run_of(NONCE).encode()
    bomb = mark + b" zlib %d>>" % len(body) + body + mark + b" end>>"
    assert failure_of(bomb) == "the answer is too large, or cut"


def test_what_was_not_reached_in_time_is_unknown_and_the_rest_is_there() -> None:
    role, answer = clean()
    unit = answer["units"][role.unit]
    answer["problem"] = "not reached in time"
    answer["files"] = {}
    answer["units"][role.unit] = {"properties": unit["properties"]}
    del answer["boot_id"], answer["manager_environment"], answer["manager_has_more"]
    read = read_answer("node", framed(answer), [role], NONCE)
    assert not isinstance(read, Failure)
    seen = read[role.manifest]
    assert seen.unit.active_state == "active"
    assert seen.processes == Unknown("not reached in time")
    assert seen.manager_open
    assert {file.kind for file in seen.files.values()} == {"unreadable"}
    assert seen.script is not None
    assert seen.script.error == seen.unit.fragment.error == "not reached in time"  # type: ignore[union-attr]


def test_a_gap_without_a_reason_is_nonsense() -> None:
    role, answer = clean()
    del answer["units"][role.unit]["processes"]
    assert "processes" in failure_of(framed(answer))


def test_a_secret_that_comes_in_plain_text_is_not_taken() -> None:
    role, answer = clean()
    process = answer["units"][role.unit]["processes"]["value"][0]
    process["environ"]["values"]["HF_TOKEN"] = "hf_plain"
    read = read_answer("node", framed(answer), [role], NONCE)
    assert not isinstance(read, Failure)
    environ = read[role.manifest].processes[0].environ  # type: ignore[index]
    assert environ["HF_TOKEN"] == Unknown("the node sent no digest for this secret")
    assert "hf_plain" not in repr(read)


def test_names_that_no_one_declared_are_not_taken() -> None:
    role, answer = clean()
    answer["units"][role.unit]["processes"]["value"][0]["environ"]["values"]["HOME"] = "/root"
    read = read_answer("node", framed(answer), [role], NONCE)
    assert not isinstance(read, Failure)
    assert "HOME" not in read[role.manifest].processes[0].environ  # type: ignore[index,operator]


def test_a_nodes_sentences_are_bounded_and_printable() -> None:
    role, answer = clean()
    answer["units"][role.unit]["processes"] = {"error": "\x1b[2Jred\u202e" + "x" * 9999}
    read = read_answer("node", framed(answer), [role], NONCE)
    assert not isinstance(read, Failure)
    reason = read[role.manifest].processes.reason  # type: ignore[union-attr]
    assert reason.startswith("?[2Jred?xxx")
    assert len(reason) == 300
