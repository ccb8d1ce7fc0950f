"""`knowngood explain` as a user calls it: its JSON, its side-by-side screen, and no secret in either."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from knowngood.cli import main

SCRIPT = """\
#!/bin/bash
MODEL=${MODEL:-/models/ds}
export HF_TOKEN=hf_PLANTED1234
export DEVICES=$(nvidia-smi -L)
SGLANG_KNOB=1
unset NCCL_DEBUG
exec numactl --cpunodebind=0 python3 -m sglang.launch_server \\
  --model-path "$MODEL" --tp=4 --disable-overlap-schedule --port "$1"
"""
UNIT = """\
[Service]
Environment=A=1 PATH=/opt/bin:$PATH
ExecStart=/usr/bin/server --tp 4
LimitNOFLIE=1
"""


def explain(path: Path, text: str, *words: str) -> str:
    path.write_text(text)
    result = CliRunner().invoke(main, ["explain", str(path), *words])
    assert result.exit_code == 0, result.output
    assert "hf_PLANTED1234" not in result.output
    return result.output


def launch_of(tmp_path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    document = json.loads(explain(tmp_path / "serve.sh", SCRIPT, "--json"))
    (launch,) = document["launches"]
    return document, launch


def test_the_json_of_a_script(tmp_path: Path) -> None:
    document, launch = launch_of(tmp_path)
    assert document["kind"] == "script"
    assert (launch["argv0"], launch["exec"], launch["line"]) == ("python3", True, 7)
    flags = {arg["flag"]: arg["value"] for arg in launch["args"]}
    assert flags["--model-path"] == {"state": "known", "value": "/models/ds", "line": 8, "default": True}
    assert flags["--tp"] == {"state": "known", "value": "4", "line": 8, "default": False}
    assert flags["--disable-overlap-schedule"] is None
    assert (flags["--port"]["state"], flags["--port"]["line"]) == ("unknown", 8)
    assert launch["env"]["DEVICES"]["state"] == "unknown"
    assert launch["env"]["DEVICES"]["line"] == 4
    assert launch["env"]["NCCL_DEBUG"] == {"state": "absent"}
    assert launch["env"]["HF_TOKEN"]["value"] == "‹secret›"
    assert "SGLANG_KNOB" not in launch["env"]
    assert launch["positionals"] == []


def test_an_assignment_that_reaches_nobody_is_remarked(tmp_path: Path) -> None:
    document, _ = launch_of(tmp_path)
    assert [(remark["line"], "SGLANG_KNOB" in remark["message"]) for remark in document["lint"]] == [
        (5, True)
    ]


def test_the_json_of_a_unit(tmp_path: Path) -> None:
    document = json.loads(explain(tmp_path / "x.service", UNIT, "--json"))
    (launch,) = document["launches"]
    assert document["kind"] == "unit"
    assert (launch["argv0"], launch["line"]) == ("/usr/bin/server", 3)
    assert launch["env"]["A"] == {"state": "known", "value": "1", "line": 2, "default": False}
    assert launch["args"][0]["flag"] == "--tp"
    assert {remark["line"] for remark in document["lint"]} == {2, 4}


def test_an_environment_file_that_was_not_read_may_change_anything_before_it(tmp_path: Path) -> None:
    unit = "[Service]\nEnvironment=A=1\nEnvironmentFile=-/etc/default/x\nExecStart=/bin/server --port ${A}\n"
    (launch,) = json.loads(explain(tmp_path / "x.service", unit, "--json"))["launches"]
    assert launch["env"]["A"]["state"] == "unknown"
    assert launch["args"][0]["value"]["state"] == "unknown"
    assert "/etc/default/x" in launch["env_open"]


def test_the_screen_has_values_at_the_side(tmp_path: Path) -> None:
    lines = explain(tmp_path / "serve.sh", SCRIPT).splitlines()
    assert lines[2].split() == ["3", "export", "HF_TOKEN=‹secret›", "HF_TOKEN", "=", "‹secret›"]
    assert lines[3].endswith("DEVICES ? the output of $(nvidia-smi …)")
    assert any(line.endswith("--model-path = /models/ds (default)") for line in lines)


@pytest.mark.parametrize(
    "line",
    [
        "# python3 -m sglang.launch_server --api-key hf_PLANTED1234",
        "huggingface-cli login --token hf_PLANTED1234",
        "export A=1 HF_TOKEN=hf_PLANTED1234",
        'if [ -f /x ]; then EXTRA="--api-key hf_PLANTED1234"; fi',
    ],
)
def test_a_secret_that_no_launch_gets_is_not_shown_either(tmp_path: Path, line: str) -> None:
    shown = explain(tmp_path / "serve.sh", f"{line}\nsource /opt/env.sh\nexec vllm serve m\n")
    assert "‹secret›" in shown


def test_words_that_are_not_known_are_told(tmp_path: Path) -> None:
    script = 'A=(--tp 4)\nif [ "$(nproc)" = 4 ]; then A+=(--x); fi\nexec vllm serve "${A[@]}"\n'
    assert "more words ?" in explain(tmp_path / "serve.sh", script)


@pytest.mark.parametrize("name", ["nothing.sh", "."])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    result = CliRunner().invoke(main, ["explain", str(tmp_path / name)])
    assert result.exit_code == 2
    assert str(tmp_path) in result.stderr
