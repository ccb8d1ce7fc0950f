"""Manifests that get in each other's way on one host."""

from __future__ import annotations

from collections.abc import Iterable

from knowngood.manifest.diagnostic import Diagnostic
from knowngood.model import Desired, Place, Setting

_UNIT = Setting("unit", "active")
_NOWHERE = Place("state", 1, 1)


def check_claims(desireds: Iterable[Desired]) -> list[Diagnostic]:
    """Units that two manifests claim on one host, and files that they want there with different contents.

    One diagnostic for each pair of manifests and thing, at the later one; it names the first host.
    """
    units: dict[tuple[str, str], Desired] = {}
    contents: dict[tuple[str, str], tuple[str, Desired]] = {}
    found: dict[tuple[str, str, str], Diagnostic] = {}
    for desired in desireds:
        other = units.setdefault((desired.host, desired.unit), desired)
        if other.manifest != desired.manifest:
            clash = f"{desired.unit} on {desired.host} is claimed by the manifest {other.manifest} too"
            _add(found, other, desired, _UNIT, clash)
        for file in desired.files:
            sha256, other = contents.setdefault((desired.host, file.path), (file.sha256, desired))
            if sha256 != file.sha256:
                clash = f"{file.path} on {desired.host} has another content in the manifest {other.manifest}"
                _add(found, other, desired, Setting("file", file.path), clash)
    return list(found.values())


def _add(
    found: dict[tuple[str, str, str], Diagnostic],
    other: Desired,
    desired: Desired,
    setting: Setting,
    clash: str,
) -> None:
    place = desired.places.get(setting, _NOWHERE)
    first = other.places.get(setting, _NOWHERE)
    hint = f"see {first.path}:{first.line}:{first.column}"
    key = (other.manifest, desired.manifest, desired.unit if setting == _UNIT else setting.name)
    found.setdefault(key, Diagnostic(place.path, place.line, place.column, clash, hint=hint))
