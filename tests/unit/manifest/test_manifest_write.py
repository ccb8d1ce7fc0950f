"""What write_manifest writes reads back as the very same values, whatever the text."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from knowngood.manifest import Block, Blocks, Line, Note, can_hold, load_manifests, write_manifest
from knowngood.model import Absent, Host, Known, Occurrences, Secret

HOST = Host("node-1", ("decode",), {"x": "FILLED"})
TRICKY = st.sampled_from(
    [
        "",
        "no",
        "~",
        "null",
        "0.90",
        "010",
        "22:30",
        "- a",
        "a: b",
        "a #b",
        "{host.x}",
        "{{host.x}}",
        "{ host.a-b }",
        "'",
    ]
)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")) | TRICKY
WORDS = st.lists(TEXT, min_size=1, max_size=4)


def head() -> list[Line | Note]:
    return [
        Note("yaml-language-server: $schema=manifest.schema.json"),
        Line("version", 1),
        Line("name", "decode"),
        Line("hosts", ["decode"]),
        Line("unit", "decode@0.service"),
    ]


def resolve(project: Path, text: str):  # type: ignore[no-untyped-def]
    (project / "state").mkdir(exist_ok=True)
    (project / "state" / "decode.yaml").write_bytes(text.encode("utf-8"))
    manifests, diagnostics = load_manifests(project)
    assert [diagnostic.render() for diagnostic in diagnostics] == []
    return manifests[0].resolve(HOST, {})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


@given(
    env=st.lists(TEXT, max_size=5),
    comment=st.text(),
    words=WORDS,
    times=st.lists(WORDS, min_size=1, max_size=3),
)
@example(
    env=["{host.x}", "x{{host.x}}", "{{{host.x}}}", "\x85", "\u2028", "\ufeff"],
    comment="\n",
    words=[""],
    times=[["-"]],
)
def test_any_text_comes_back(
    project: Path, env: list[str], comment: str, words: list[str], times: list[list[str]]
) -> None:
    script = Block(
        [
            Line("path", "/root/serve.sh"),
            Line("env", Block([Line(f"KNOB_{i}", value, comment) for i, value in enumerate(env)])),
            Line("args", Block([Line("--words", words), Line("--times", {"repeat": times})])),
        ]
    )
    desired = resolve(
        project, write_manifest([*head(), Line("serve_script", script if env else Block(script.lines[::2]))])
    )
    assert desired.env == {f"KNOB_{i}": Known(value) for i, value in enumerate(env)}
    assert desired.args["--words"] == Known(Occurrences((tuple(words),)))
    assert desired.args["--times"] == Known(Occurrences(tuple(map(tuple, times))))


@given(TEXT)
def test_every_reading_of_yaml_sees_text_where_quotes_are_needed(text: str) -> None:
    """PyYAML's own types: whatever is no number by its looks must come back as a str."""
    (value,) = yaml.safe_load(write_manifest([Line("key", text)])).values()
    assert isinstance(value, str)


def test_a_captured_role_reads_as_it_was_written(project: Path) -> None:
    text = write_manifest(
        [
            *head(),
            Line("server", "redis-server"),
            Note(),
            Line(
                "files",
                Blocks([Block([Line("path", "/etc/x"), Line("source", "files/x"), Line("mode", "0644")])]),
                "fetched",
            ),
            Line(
                "serve_script",
                Block(
                    [
                        Line("path", "/root/serve.sh"),
                        Line(
                            "env",
                            Block(
                                [
                                    Line("HF_TOKEN", {"secret": "env:HF_TOKEN"}, "line 3"),
                                    Note("env B: left out: \x1b[31m"),
                                ]
                            ),
                        ),
                        Line("args", Block([Line("--bare", True), Line("--gone", {"absent": True})])),
                        Line("aliases", [["--tp", "--tp-size"]]),
                    ]
                ),
            ),
            Line(
                "systemd",
                Block([Line("Service", Block([Line("Restart", "no"), Line("LimitNOFILE", "16384")]))]),
            ),
        ]
    )
    golden = Path(__file__).parents[2] / "cases" / "manifests" / "written.yaml"
    assert text == golden.read_text(encoding="utf-8")
    (project / "state" / "files").mkdir(parents=True)
    (project / "state" / "files" / "x").write_text("x\n", encoding="utf-8")
    desired = resolve(project, text.replace("source: files/x", "source: files/x\n    sha256: " + SHA256_OF_X))
    assert desired.env == {"HF_TOKEN": Secret("HF_TOKEN", None)}
    assert desired.args == {"--bare": Known(Occurrences(((),))), "--gone": Absent()}
    assert desired.directives == {"Service.Restart": ("no",), "Service.LimitNOFILE": ("16384",)}
    assert desired.files[0].mode == "0644"


SHA256_OF_X = "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac"


@pytest.mark.parametrize("text", ["a\0b", "\udce9"])
def test_what_no_manifest_can_hold_is_refused(text: str) -> None:
    assert not can_hold(text)
    with pytest.raises(ValueError, match="can't hold"):
        write_manifest([Line("key", text)])


def test_a_name_of_digits_is_quoted_at_the_top_and_plain_as_a_knob() -> None:
    text = write_manifest([Line("name", "123"), Line("env", Block([Line("A", "123"), Line("B", "0123")]))])
    assert text == 'name: "123"\nenv:\n  A: 123\n  B: "0123"\n'
