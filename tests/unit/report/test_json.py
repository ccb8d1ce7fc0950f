"""The JSON holds to its published schema, whatever stands in a report."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given, settings
from report_cases import FOLDER, load_case
from report_strategies import reports

from knowngood.model import (
    ABSENT,
    DriftReport,
    Finding,
    HostResult,
    Known,
    Layers,
    Occurrences,
    Setting,
    Status,
    Unknown,
    Verdict,
)
from knowngood.report.json import drift_json, drift_schema

VALIDATOR = jsonschema.Draft202012Validator(drift_schema())


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(drift_schema())
    assert drift_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize(
    "spoilt",
    [
        {"schema_version": 2},
        {"exit_code": 2},
        {"summary": {"in_sync": 1}},
        {
            "hosts": [
                {
                    "host": "h",
                    "manifest": "m",
                    "status": "fine",
                    "error": None,
                    "server": None,
                    "findings": [],
                }
            ]
        },
        {"hosts": [{"host": "h", "manifest": "m", "status": "in_sync", "error": None, "server": None}]},
    ],
)
def test_the_schema_refuses(spoilt: dict[str, object]) -> None:
    document = json.loads(drift_json(load_case("clean")[0]))
    assert VALIDATOR.is_valid(document)
    assert not VALIDATOR.is_valid(document | spoilt)


def test_the_schema_lets_fields_be_added() -> None:
    document = json.loads(drift_json(load_case("fleet")[0]))
    document["later"] = 1
    document["hosts"][7]["findings"][0]["later"] = {"more": True}
    assert VALIDATOR.is_valid(document)


@pytest.mark.parametrize("golden", sorted(FOLDER.glob("*.json")), ids=lambda path: path.name)
def test_golden_files_are_valid(golden: object) -> None:
    assert list(VALIDATOR.iter_errors(json.loads(golden.read_text("ascii")))) == []  # type: ignore[attr-defined]


@settings(deadline=None, max_examples=40)
@given(reports())
def test_every_report_is_valid_and_plain_ascii(report: DriftReport) -> None:
    text = drift_json(report)
    document = json.loads(text)
    VALIDATOR.validate(document)
    assert text.isascii()
    assert not any("\ud800" <= letter <= "\udfff" for letter in json.dumps(document, ensure_ascii=False))
    assert document["exit_code"] == report.exit_code
    assert sum(document["summary"].values()) == len(document["hosts"]) == len(report.hosts)
    assert [host["host"] for host in document["hosts"]] == [
        host.host.encode("utf-8", "backslashreplace").decode() for host in report.hosts
    ]


def test_fields_stand_in_the_order_of_the_document() -> None:
    report, _ = load_case("fleet")
    document = json.loads(drift_json(report))
    assert list(document) == [
        "schema_version", "manifests", "started_at", "duration_s", "summary", "exit_code", "hosts",
    ]  # fmt: skip
    host = next(host for host in document["hosts"] if host["findings"])
    assert list(host) == ["host", "manifest", "status", "error", "server", "findings"]
    assert list(host["findings"][0]) == [
        "setting", "verdict", "manifest", "disk", "loaded", "running",
        "evidence", "mend", "accepted", "cause",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Known("4"), {"state": "known", "value": "4"}),
        (Known("byte \udc80"), {"state": "known", "value": "byte \\udc80"}),
        (Known(Occurrences(((),))), {"state": "known", "value": True}),
        (Known(Occurrences((("true",),))), {"state": "known", "value": "true"}),
        (Known(Occurrences((("1", "2", "4"),))), {"state": "known", "value": ["1", "2", "4"]}),
        (
            Known(Occurrences((("a",), ("b", "c"), ()))),
            {"state": "known", "value": {"repeat": ["a", ["b", "c"], True]}},
        ),
        (ABSENT, {"state": "absent"}),
        (Unknown("not read", not_value="4"), {"state": "unknown", "reason": "not read"}),
        (None, None),
    ],
)  # fmt: skip
def test_layers(value: object, expected: object) -> None:
    layers = Layers(Known("x"), disk=value)  # type: ignore[arg-type]
    finding = Finding(Setting("arg", "--x"), Verdict.SPLIT, layers)
    host = HostResult("h", "m", Status.DRIFTED, findings=(finding,))
    document = json.loads(drift_json(DriftReport((), "2026-03-01T02:00:00Z", 1.0, (host,))))
    assert document["hosts"][0]["findings"][0]["disk"] == expected
