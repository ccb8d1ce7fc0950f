"""A drift report as JSON: what docs/drift-json.md and drift.schema.json promise.

The text is plain ASCII, so it is valid UTF-8 whatever the locale and whatever bytes a node sent.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from knowngood.model import (
    Absent,
    DriftReport,
    Finding,
    HostResult,
    Known,
    ManifestInfo,
    Status,
    Unknown,
    Value,
)
from knowngood.report.values import json_plain, json_text

SCHEMA_VERSION = 1


def drift_json(report: DriftReport) -> str:
    """The report as indented JSON, with a newline at its end. Fields are only ever added."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "manifests": [_manifest(manifest) for manifest in report.manifests],
        "started_at": json_text(report.started_at),
        "duration_s": report.duration_s,
        "summary": {status.value: report.count(status) for status in _SUMMARY},
        "exit_code": int(report.exit_code),
        "hosts": [_host(host) for host in report.hosts],
    }
    return json.dumps(document, indent=2) + "\n"


def drift_schema() -> dict[str, Any]:
    """The published JSON Schema (draft 2020-12) of what drift_json writes."""
    text = files("knowngood.report").joinpath("drift.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


_SUMMARY = (Status.IN_SYNC, Status.DRIFTED, Status.INCOMPLETE, Status.UNREACHABLE)


def _manifest(manifest: ManifestInfo) -> dict[str, Any]:
    return {
        "name": json_text(manifest.name),
        "path": json_text(manifest.path),
        "commit": _optional(manifest.commit),
        "dirty": manifest.dirty,
    }


def _host(host: HostResult) -> dict[str, Any]:
    return {
        "host": json_text(host.host),
        "manifest": json_text(host.manifest),
        "status": host.status.value,
        "error": _optional(host.error),
        "server": _server(host),
        "findings": [_finding(finding) for finding in host.findings],
    }


def _server(host: HostResult) -> dict[str, Any] | None:
    server = host.server
    if server is None:
        return None
    argv = None if server.argv is None else [json_text(word) for word in server.argv]
    return {"pid": server.pid, "argv": argv, "started_at": json_text(server.started_at)}


def _finding(finding: Finding) -> dict[str, Any]:
    layers = finding.layers
    return {
        "setting": json_text(str(finding.setting)),
        "verdict": finding.verdict.value,
        "manifest": _layer(layers.manifest),
        "disk": _layer(layers.disk),
        "loaded": _layer(layers.loaded),
        "running": _layer(layers.running),
        "evidence": [json_text(line) for line in finding.evidence],
        "mend": [json_text(step) for step in finding.mend],
        "accepted": finding.accepted,
        "cause": _optional(finding.cause),
    }


def _layer(value: Value | None) -> dict[str, Any] | None:
    match value:
        case None:
            return None
        case Known(plain):
            return {"state": "known", "value": json_plain(plain)}
        case Absent():
            return {"state": "absent"}
        case Unknown(reason):
            return {"state": "unknown", "reason": json_text(reason)}


def _optional(text: str | None) -> str | None:
    return None if text is None else json_text(text)
