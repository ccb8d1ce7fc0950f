"""Manifests met with hosts: which apply, what their data breaks, and which get in each other's way."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowngood.manifest import Manifest, ManifestError, check_claims, load_manifests
from knowngood.model import Host

TOP = "version: 1\nname: {name}\nhosts: [decode, lone]\nunit: {unit}\n"
SHA256_OF_A = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
SHA256_OF_B = "0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "a").write_text("a\n", encoding="utf-8")
    (tmp_path / "state" / "b").write_text("b\n", encoding="utf-8")
    return tmp_path


def load(project: Path, **texts: str) -> list[Manifest]:
    for name, text in texts.items():
        (project / "state" / f"{name}.yaml").write_text(text, encoding="utf-8")
    manifests, diagnostics = load_manifests(project)
    assert [d.render() for d in diagnostics] == []
    return manifests


def mistakes(manifest: Manifest, host: Host) -> list[str]:
    with pytest.raises(ManifestError) as raised:
        manifest.resolve(host, {})
    return [f"{d.line}:{d.column}: {d.message}" for d in raised.value.diagnostics]


def test_hosts_are_named_by_group_or_name(project: Path) -> None:
    (manifest,) = load(project, a=TOP.format(name="a", unit="a.service"))
    assert manifest.applies_to(Host("x", ("decode",)))
    assert manifest.applies_to(Host("lone"))
    assert not manifest.applies_to(Host("x", ("prefill",)))


def test_missing_host_data_is_told_where_it_stands(project: Path) -> None:
    text = TOP.format(name="a", unit='"a@{host.gpu}.service"') + 'serve_script: {path: "/srv/{host.dri}/x"}\n'
    (manifest,) = load(project, a=text)
    assert mistakes(manifest, Host("n1", ("decode",), {"dir": "x", "gpu": None})) == [
        "4:7: host n1: its gpu is neither text nor a number but NoneType",
        "5:22: host n1 has no dri, which {host.dri} stands for",
    ]


@pytest.mark.parametrize("value", [True, ["x"], {"a": 1}, b"x", "a\0b", "a\nb", "\x1b[31m"])
def test_host_data_that_is_no_text_is_refused(project: Path, value: object) -> None:
    (manifest,) = load(project, a=TOP.format(name="a", unit="a.service") + 'server: "{host.x}"\n')
    (message,) = mistakes(manifest, Host("n1", data={"x": value}))
    assert message.startswith("5:9: host n1: its x ")


@pytest.mark.parametrize("value", ["../etc", "a/../b", "x/"])
def test_host_data_makes_no_path_into_another(project: Path, value: str) -> None:
    (manifest,) = load(project, a=TOP.format(name="a", unit="a.service") + 'cache_dirs: ["/srv/{host.x}"]\n')
    (message,) = mistakes(manifest, Host("n1", data={"x": value}))
    assert "is no absolute path" in message


@pytest.mark.parametrize("value", ["0 1", "", "../x", "a/b"])
def test_host_data_makes_no_unit_into_another(project: Path, value: str) -> None:
    (manifest,) = load(project, a=TOP.format(name="a", unit='"a@{host.x}.service"'))
    (message,) = mistakes(manifest, Host("n1", data={"x": value}))
    assert "is no service's name" in message


def test_host_data_makes_no_two_files_into_one(project: Path) -> None:
    text = TOP.format(name="a", unit="a.service") + (
        f'files: [{{path: "/{{host.x}}", source: a, sha256: {SHA256_OF_A}}}]\nserve_script: {{path: /a}}\n'
    )
    (manifest,) = load(project, a=text)
    desired = manifest.resolve(Host("n1", data={"x": "b"}), {})
    assert {str(setting) for setting in desired.places} == {"unit:active", "file:/b"}
    (message,) = mistakes(manifest, Host("n2", data={"x": "a"}))
    assert message == "6:22: /a is the serve script, and one of the files too (line 5)"


def test_overrides_that_clash_only_together_are_told_for_the_host(project: Path) -> None:
    text = TOP.format(name="a", unit="a.service") + (
        "overrides:\n"
        "  one: {serve_script: {path: /a, env: {KNOB: 1}}}\n"
        "  two: {systemd: {Environment: {KNOB: 2}}}\n"
    )
    (manifest,) = load(project, a=text)
    manifest.resolve(Host("n1", ("one",)), {})
    manifest.resolve(Host("n2", ("two",)), {})
    (message,) = mistakes(manifest, Host("n3", ("two", "one")))
    assert message.startswith("7:33: KNOB is a knob of the serve script too (line 6)")


def test_resolving_twice_gives_the_same_and_secrets_are_read_each_time(project: Path) -> None:
    text = TOP.format(name="a", unit="a.service") + "systemd: {Environment: {T: {secret: env:T}}}\n"
    (manifest,) = load(project, a=text)
    host = Host("n1", ("decode",))
    assert manifest.resolve(host, {"T": "1"}) == manifest.resolve(host, {"T": "1"})
    assert manifest.resolve(host, {"T": "1"}) != manifest.resolve(host, {"T": "2"})


def test_one_unit_has_one_manifest_on_a_host(project: Path) -> None:
    a, b = load(
        project,
        a=TOP.format(name="a", unit="x.service"),
        b=TOP.format(name="b", unit='"{host.unit}.service"'),
    )
    same, other = Host("n1", data={"unit": "x"}), Host("n2", data={"unit": "y"})
    assert check_claims([a.resolve(other, {}), b.resolve(other, {})]) == []
    (diagnostic,) = check_claims([m.resolve(h, {}) for h in (same, other, same) for m in (a, b)])
    assert (diagnostic.path, diagnostic.line) == ("state/b.yaml", 4)
    assert diagnostic.message == "x.service on n1 is claimed by the manifest a too"


def test_one_file_has_one_content_on_a_host(project: Path) -> None:
    file = "files: [{{path: /k, source: {0}, sha256: {1}}}]\n"
    a, b, c = load(
        project,
        a=TOP.format(name="a", unit="a.service") + file.format("a", SHA256_OF_A),
        b=TOP.format(name="b", unit="b.service") + file.format("b", SHA256_OF_B),
        c=TOP.format(name="c", unit="c.service") + file.format("a", SHA256_OF_A),
    )
    host = Host("n1", ("decode",))
    assert check_claims([a.resolve(host, {}), c.resolve(host, {})]) == []
    (diagnostic,) = check_claims([a.resolve(host, {}), b.resolve(host, {})])
    assert diagnostic.message == "/k on n1 has another content in the manifest a"
