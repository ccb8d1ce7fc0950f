"""Diffs that show what changes, and no secret."""

from __future__ import annotations

import pytest

from knowngood.rollout.diff import masked_diff
from knowngood.syntax.secrets import MASK

SCRIPT = """#!/bin/bash
# the key is to export KNOB last
{}
export KNOB=256
"""


def diff(line: str, *secrets: str) -> list[str]:
    old = SCRIPT.format(line).encode()
    return list(masked_diff(old, old.replace(b"256", b"512"), "/root/serve.sh", secrets))


def test_a_plain_change_with_its_surroundings() -> None:
    assert diff("echo hello") == [
        "--- /root/serve.sh",
        "+++ /root/serve.sh",
        "@@ -2,3 +2,3 @@",
        " # the key is to export KNOB last",
        " echo hello",
        "-export KNOB=256",
        "+export KNOB=512",
    ]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("export HF_TOKEN=hf_abcdefghijklmnop", f"export HF_TOKEN={MASK}"),
        ('export A=1 DB_PASSWORD="x y z" B=2', f"export A=1 DB_PASSWORD={MASK} B=2"),
        ("serve --api-key sk-77f1c0aa42 --tp 4", f"serve --api-key {MASK} --tp 4"),
        ("serve --api-key=sk-77f1c0aa42 --tp 4", f"serve --api-key={MASK} --tp 4"),
        ("curl https://me:hunter2@host/", MASK),
        ("login hf_abcdefghijklmnop", MASK),
        ("say PLANTED and go", f"say {MASK} and go"),
        ("export HF_TOKEN=$FROM_ELSEWHERE", "export HF_TOKEN=$FROM_ELSEWHERE"),
    ],
)
def test_a_secret_beside_the_change_is_masked(line: str, shown: str) -> None:
    assert f" {shown}" in diff(line, "PLANTED")


def test_a_key_of_many_lines_is_masked_to_its_end() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n"
    told = "\n".join(masked_diff(None, (key + "echo done\n").encode(), "/k", ()))
    assert "MIIE" not in told
    assert "+echo done" in told


def test_texts_that_differ_only_in_a_secret_show_nothing() -> None:
    assert masked_diff(b"export HF_TOKEN=one1\n", b"export HF_TOKEN=two2\n", "/s.sh", ()) == ()
