"""The cases of tests/cases/manifests: good/NAME.yaml → NAME.json, bad/NAME.yaml → NAME.txt.

With UPDATE_GOLDEN=1 in the environment the expected files are written anew, for reading in a diff.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from pathlib import Path

import pytest

from knowngood.manifest import load_manifests
from knowngood.model import Absent, Desired, Host, Known, Occurrences, Secret

CASES = Path(__file__).parents[2] / "cases" / "manifests"
ENVIRON = {"API_KEY": "planted-secret", "TOKEN": "planted-secret", "D": "planted-secret"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(CASES / "project", folder, dirs_exist_ok=True)
    return folder


def put(project: Path, case: Path) -> None:
    for former in (project / "state").glob("*.yaml"):
        former.unlink()
    shutil.copy(case, project / "state" / case.name)


def golden(path: Path, actual: str) -> str:
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(actual, encoding="utf-8")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", sorted((CASES / "bad").glob("*.yaml")), ids=lambda case: case.stem)
def test_every_mistake_is_told_at_its_place(case: Path, project: Path) -> None:
    put(project, case)
    manifests, diagnostics = load_manifests(project)
    told = "".join(f"{diagnostic.render()}\n" for diagnostic in diagnostics)
    assert not manifests
    assert told == golden(case.with_suffix(".txt"), told)


@pytest.mark.parametrize("case", sorted((CASES / "good").glob("*.yaml")), ids=lambda case: case.stem)
def test_each_host_gets_what_the_manifest_says(case: Path, project: Path) -> None:
    put(project, case)
    (manifest,), diagnostics = load_manifests(project)
    assert diagnostics == []
    hosts = [
        Host(host["name"], tuple(host["groups"]), host["data"])
        for host in json.loads((CASES / "good" / "hosts.json").read_text(encoding="utf-8"))
    ]
    answer = {
        "name": manifest.name,
        "hosts": manifest.hosts,
        "sources": manifest.sources,
        "overrides": manifest.overrides,
        "rollout": manifest.rollout,
        "accept": manifest.accept,
        "desired": {
            host.name: shown(manifest.resolve(host, ENVIRON), project)
            for host in hosts
            if manifest.applies_to(host)
        },
    }
    told = json.dumps(answer, indent=1, ensure_ascii=False) + "\n"
    assert "planted-secret" not in told
    assert told == golden(case.with_suffix(".json"), told)


def shown(desired: Desired, project: Path) -> dict[str, object]:
    fields = {
        field.name: plain(getattr(desired, field.name), project) for field in dataclasses.fields(desired)
    }
    fields["places"] = {
        str(setting): f"{place.line}:{place.column}" for setting, place in desired.places.items()
    }
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])}


def plain(value: object, project: Path) -> object:
    match value:
        case Known(Occurrences(words=words)):
            return [list(occurrence) for occurrence in words]
        case Known(text):
            return text
        case Absent():
            return {"absent": True}
        case Secret(source=source, text=text):
            return {"secret": source, "set": text is not None}
        case bytes():
            return value.decode()
        case str():
            return value.replace(str(project), "PROJECT")
        case dict():
            return {
                key if isinstance(key, str) else str(key): plain(item, project) for key, item in value.items()
            }
        case list() | tuple():
            return [plain(item, project) for item in value]
        case _ if dataclasses.is_dataclass(value):
            pairs = {f.name: plain(getattr(value, f.name), project) for f in dataclasses.fields(value)}
            return {name: item for name, item in pairs.items() if item not in (None, "")}
        case _:
            return value
