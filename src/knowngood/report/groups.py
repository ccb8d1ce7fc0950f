"""Nodes that are alike, told once: the same findings, or the same reason for none."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from knowngood.model import DriftReport, Finding, HostResult, Known, ManifestInfo, Unknown, Value
from knowngood.report.meaning import nameless


@dataclass(frozen=True, slots=True)
class Section:
    """One manifest's part of a report, its hosts in inventory order."""

    manifest: ManifestInfo
    hosts: tuple[HostResult, ...]


def sections(report: DriftReport) -> list[Section]:
    """The report by manifest, in the report's order; a manifest that has no host has no section."""
    by_name: dict[str, list[HostResult]] = {manifest.name: [] for manifest in report.manifests}
    for host in report.hosts:
        by_name.setdefault(host.manifest, []).append(host)
    infos = {manifest.name: manifest for manifest in report.manifests}
    return [
        Section(infos.get(name, ManifestInfo(name, "")), tuple(hosts))
        for name, hosts in by_name.items()
        if hosts
    ]


def alike(hosts: Iterable[HostResult], *, apart: bool = False) -> list[tuple[HostResult, ...]]:
    """Hosts with the same findings together, in the order of each group's first; `apart`: each by itself."""
    groups: dict[Hashable, list[HostResult]] = {}
    for number, host in enumerate(hosts):
        key: Hashable = number if apart else tuple(_finding_key(finding) for finding in host.findings)
        groups.setdefault(key, []).append(host)
    return [tuple(group) for group in groups.values()]


def _finding_key(finding: Finding) -> Hashable:
    layers = (finding.layers.manifest, finding.layers.disk, finding.layers.loaded, finding.layers.running)
    return (finding.setting, finding.verdict, finding.cause, finding.accepted, *map(_value_key, layers))


def _value_key(value: Value | None) -> Hashable:
    if isinstance(value, Unknown):
        return ("unknown", nameless(value.reason))
    return ("known", value.value) if isinstance(value, Known) else value
