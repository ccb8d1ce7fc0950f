"""A captured role as text: it loads as the very same settings, whatever they hold."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowngood.manifest import load_manifests
from knowngood.manifest.captured import Capture, render, unwritable
from knowngood.model import (
    ABSENT,
    Absent,
    Desired,
    DesiredFile,
    DesiredScript,
    Host,
    Known,
    Occurrences,
    Secret,
    Setting,
    Want,
)
from knowngood.syntax.systemd import canonical

HOST = Host("node-1", ("decode",), {})
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n"), min_size=1)
WORDS = st.lists(TEXT, min_size=1, max_size=3).map(tuple)
SECRET = st.just(Secret("TOKEN", "hunter2"))
KNOB = TEXT.map(Known) | st.just(ABSENT) | SECRET
FLAG = (
    st.just(Known(Occurrences(((),))))
    | TEXT.map(lambda text: Known(Occurrences(((text,),))))
    | WORDS.map(lambda words: Known(Occurrences((words,), listed=True)))
    | st.lists(WORDS, min_size=2, max_size=3).map(lambda times: Known(Occurrences(tuple(times))))
    | st.just(ABSENT)
    | SECRET
)
NAMES = st.from_regex(r"[A-Z][A-Z0-9_]{0,8}", fullmatch=True)
FLAGS = st.from_regex(r"--[a-z][a-z0-9-]{0,8}", fullmatch=True)
DIRECTIVES = st.sampled_from(["Service.ExecStart", "Service.ExecStartPre", "Service.ExecReload"])


def _is_taken(text: str) -> bool:
    try:
        canonical("Service.ExecStart", text)
    except ValueError:
        return False
    return True


LINES = st.lists(LINE.map(lambda text: f"/bin/x {text}").filter(_is_taken), min_size=1, max_size=3).map(tuple)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captured")
    (folder / "state").mkdir()
    return folder


def loaded(project: Path, text: str) -> Desired:
    (project / "state" / "decode.yaml").write_bytes(text.encode())
    manifests, mistakes = load_manifests(project)
    assert [mistake.render() for mistake in mistakes] == []
    return manifests[0].resolve(HOST, {"TOKEN": "hunter2"})


@settings(deadline=None)
@given(
    env=st.dictionaries(NAMES, KNOB, max_size=4),
    unit_env=st.dictionaries(NAMES.map(lambda name: f"U_{name}"), KNOB, max_size=4),
    args=st.dictionaries(FLAGS, FLAG, max_size=4),
    directives=st.dictionaries(DIRECTIVES, LINES),
    scripted=st.booleans(),
    active=st.booleans(),
    enabled=st.sampled_from([None, True, False]),
    comment=st.text(),
)
def test_what_is_rendered_loads_as_it_was(
    project: Path,
    env: dict[str, Want],
    unit_env: dict[str, Want],
    args: dict[str, Want],
    directives: dict[str, tuple[str, ...] | Absent],
    scripted: bool,
    active: bool,
    enabled: bool | None,
    comment: str,
) -> None:
    desired = Desired(
        manifest="decode",
        host="node-1",
        unit="decode.service",
        active=active,
        enabled=enabled,
        server="serve" if active else None,
        script=DesiredScript("/root/serve.sh") if scripted else None,
        env={name: want for name, want in env.items() if scripted and not name.startswith("U_")},
        args=args if scripted else {},
        unit_env=unit_env,
        directives=directives,
    )
    notes = {Setting("env", "GONE"): comment, Setting("systemd", "Service.Gone"): comment}
    beside = {Setting("env", name): comment for name in env} | {
        Setting("arg", name): comment for name in args
    }
    text = render(Capture(desired, ["node-1"], {}, [comment], beside, notes, [comment]))
    assert "hunter2" not in text or comment == "hunter2"
    again = loaded(project, text)
    for name in ("active", "enabled", "server", "env", "args", "unit_env", "directives", "script"):
        assert getattr(again, name) == getattr(desired, name)


def test_files_and_an_own_script_come_with_their_sources(project: Path) -> None:
    files = project / "state" / "files"
    files.mkdir()
    (files / "x").write_text("x\n")
    (files / "serve.sh").write_text("exec serve\n")
    sha256 = hashlib.sha256(b"x\n").hexdigest()
    desired = Desired(
        manifest="decode",
        host="node-1",
        unit="decode.service",
        files=(DesiredFile("/etc/x", sha256, "", "0640", "root", "redis", loaded=False),),
        script=DesiredScript("/root/serve.sh", mode="0755", owner="root", group="root"),
    )
    sources = {"/etc/x": "files/x", "/root/serve.sh": "files/serve.sh"}
    reason = {Setting("file", "/etc/x"): "edited after the start"}
    text = render(Capture(desired, ["node-1"], sources, comments=reason, schema="manifest.schema.json"))
    assert text.startswith("# yaml-language-server: $schema=manifest.schema.json\n")
    assert "    loaded: false  # edited after the start\n" in text
    again = loaded(project, text)
    (file,) = again.files
    assert (file.path, file.sha256, file.mode, file.owner, file.group, file.loaded) == (
        ("/etc/x", sha256, "0640", "root", "redis", False)
    )
    assert again.script is not None
    assert (again.script.source_text, again.script.mode) == (b"exec serve\n", "0755")


def test_what_was_left_out_stands_at_its_place_and_can_not_break_out_of_its_comment() -> None:
    desired = Desired("decode", "node-1", "decode.service", unit_env={"A": Known("1")})
    left_out = {
        Setting("env", "B"): "it is\nversion: 2",
        Setting("unit", "enabled"): "it is static",
        Setting("mode", "/x"): "no file",
    }
    lines = render(Capture(desired, ["node-1"], {}, left_out=left_out)).splitlines()
    assert lines[4] == "# unit:enabled is left out: it is static"
    assert lines[-3:] == ["  Environment:", "    A: 1", r"    # env:B is left out: it is\nversion: 2"]


def test_what_no_manifest_can_hold_is_told() -> None:
    desired = Desired(
        "decode",
        "node-1",
        "decode.service",
        env={"A": Known("\udce9"), "B": Known("ok"), "C": ABSENT},
        args={"--x": Known(Occurrences((("ok", "\udce9"),)))},
        directives={"Service.ExecStart": ("\udce9",), "Service.Restart": ABSENT},
    )
    assert {str(setting) for setting in unwritable(desired)} == {
        "env:A",
        "arg:--x",
        "systemd:Service.ExecStart",
    }


def test_the_hosts_own_address_becomes_host_data(project: Path) -> None:
    address = "10.0.0.11"
    args = {
        "--host": Known(Occurrences(((address,),))),
        "--head": Known(Occurrences(((f"{address}:5000",),))),
        "--odd": Known(Occurrences((("{host.address}",),))),
    }
    desired = Desired("decode", "node-1", "decode.service", script=DesiredScript("/root/serve.sh"), args=args)
    text = render(Capture(desired, ["node-1"], {}, address=address))
    assert '--host: "{host.address}"' in text
    assert f"--head: {address}:5000" in text
    (project / "state" / "decode.yaml").write_text(text)
    (manifest,), _ = load_manifests(project)
    other = manifest.resolve(Host("node-1", data={"ssh_hostname": "10.0.0.12"}), {})
    assert other.args == {**args, "--host": Known(Occurrences((("10.0.0.12",),)))}
    assert manifest.resolve(Host("node-1", data={"ssh_hostname": address}), {}).args == args
