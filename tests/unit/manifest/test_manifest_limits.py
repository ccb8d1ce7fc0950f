"""Input that is too much, or made to hurt: an answer in bounded time, and never a crash."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowngood.manifest import ManifestError, load_manifests
from knowngood.model import Host

GOOD = sorted((Path(__file__).parents[2] / "cases" / "manifests" / "good").glob("*.yaml"))
TOP = "version: 1\nname: decode\nhosts: [decode]\nunit: sglang.service\n"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


def messages(state: Path) -> list[str]:
    return [diagnostic.message for diagnostic in load_manifests(state.parent)[1]]


def test_fifty_megabytes_are_not_read(state: Path) -> None:
    with (state / "large.yaml").open("wb") as file:
        file.truncate(50_000_000)
    started = time.process_time()
    assert messages(state) == ["the file is larger than 1 MB: no manifest is"]
    assert time.process_time() - started < 1


def test_a_megabyte_of_mistakes_is_answered_in_time(state: Path) -> None:
    (state / "wrong.yaml").write_text(
        TOP + "".join(f"wrong{i}: [x]\n" for i in range(12_000)), encoding="utf-8"
    )
    started = time.process_time()
    assert len(messages(state)) == 12_000
    assert time.process_time() - started < 10


def test_a_pipe_is_no_manifest_and_holds_nobody_up(state: Path) -> None:
    os.mkfifo(state / "pipe.yaml")
    assert messages(state) == ["pipe.yaml is not a regular file"]


def test_a_manifest_that_leads_out_of_the_project_is_refused(
    state: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "decode.yaml"
    elsewhere.write_text(TOP, encoding="utf-8")
    (state / "decode.yaml").symlink_to(elsewhere)
    (message,) = messages(state)
    assert message.startswith("decode.yaml is outside the project, it leads to /")


@pytest.mark.parametrize(
    ("target", "told"), [("/etc/hostname", "outside"), ("loop", "loop"), ("gone", "not exist")]
)
def test_a_source_that_is_a_link(state: Path, target: str, told: str) -> None:
    (state / "loop").symlink_to("loop")
    (state / "source").symlink_to(target)
    (state / "decode.yaml").write_text(TOP + "serve_script: {path: /a, source: source}\n", encoding="utf-8")
    (message,) = messages(state)
    assert told in message


def test_a_large_serve_script_is_refused(state: Path) -> None:
    (state / "serve.sh").write_bytes(b"#" * 1_000_001)
    (state / "decode.yaml").write_text(TOP + "serve_script: {path: /a, source: serve.sh}\n", encoding="utf-8")
    assert messages(state) == ["serve.sh is larger than 1 MB: no serve script is"]


def test_all_files_are_told_of_and_names_are_taken_once(state: Path) -> None:
    (state / "a.yaml").write_text("x: 1\n", encoding="utf-8")
    (state / "b.yml").write_text(TOP, encoding="utf-8")
    (state / "c.yaml").write_text(TOP, encoding="utf-8")
    (state / "notes.txt").write_text("x", encoding="utf-8")
    manifests, diagnostics = load_manifests(state.parent)
    assert [manifest.path for manifest in manifests] == ["state/b.yml", "state/c.yaml"]
    assert [(d.path, d.line, d.column) for d in diagnostics][-1] == ("state/c.yaml", 2, 7)
    assert diagnostics[-1].message == "the name decode is taken by state/b.yml"
    assert {d.path for d in diagnostics} == {"state/a.yaml", "state/c.yaml"}


def test_a_secret_stands_in_no_diagnostic(state: Path) -> None:
    planted = "hf_PLANTED"
    texts = [
        f"serve_script: {{path: /a, env: {{HF_TOKEN: [{planted}, {planted}]}}}}\n",
        f"serve_script:\n  path: /a\n  env:\n    HF_TOKEN:\n      - {planted}\n      - b: {planted}\n",
        f"serve_script:\n  path: /a\n  args:\n    --api-key={planted}: true\n",
        f"serve_script:\n  path: /a\n  env: {{A: {{secret: {planted}}}}}\n",
        f'serve_script:\n  path: /a\n  env:\n    API_KEY: "{planted}\\0 {planted}"\n',
        f"serve_script:\n  path: /a\n  env:\n    API_KEY: {planted} {planted}: x\n",
        f"serve_script:\n  path: /a\n  env:\n    API_KEY: |\n      {planted}\n     {planted}\n",
        f"serve_script:\n  path: /a\n  env:\n    API_KEY: '{planted}\n",
        f"serve_script:\n  path: /a\n  env:\n    API_KEY: {{{planted}}}\n",
        f"serve_script:\n  path: /a\n  env:\n    API_KEY: *{planted}\n",
        f"serve_script:\n  path: /a\n  env:\n    API_KEY: !{planted} x\n",
        f"serve_script:\n  path: /a\n  env:\n    API_KEY: @{planted}\n",
        f"serve_script:\n  path: /a\n  args: {{--api-key={planted}: 1, --api-key={planted}: 2}}\n",
    ]
    for text in texts:
        (state / "decode.yaml").write_text(TOP + text, encoding="utf-8")
        diagnostics = load_manifests(state.parent)[1]
        assert diagnostics, text
        assert planted not in "".join(d.render() + d.source for d in diagnostics), text


@settings(max_examples=300, deadline=None)
@given(case=st.sampled_from(GOOD), data=st.data())
def test_no_edit_of_a_manifest_crashes_its_reader(
    tmp_path_factory: pytest.TempPathFactory, case: Path, data: st.DataObject
) -> None:
    text = case.read_text(encoding="utf-8")
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 8)))
        piece = data.draw(
            st.sampled_from([*"{}[]:,&*!|>'\"%@#-~?\t\n \\", "no", "null", "<<: *a", "{host.x}", ""])
        )
        text = text[:start] + piece + text[end:]
    project = tmp_path_factory.mktemp("fuzzed")
    (project / "state").mkdir()
    (project / "state" / "decode.yaml").write_bytes(text.encode("utf-8"))
    manifests, diagnostics = load_manifests(project)
    assert len(manifests) + len(diagnostics) >= 1
    for diagnostic in diagnostics:
        assert diagnostic.line >= 1
        assert diagnostic.column >= 1
        assert diagnostic.render().isprintable() or "\n" in diagnostic.render()
    for manifest in manifests:
        try:
            assert manifest.resolve(Host("node", ("decode", "canary"), {"head": "x", "gpu": 1}), {}).unit
        except ManifestError as error:
            assert error.diagnostics
