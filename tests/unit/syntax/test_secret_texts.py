"""Secrets in texts: found by the names they are given to; references, prose and code are none."""

from __future__ import annotations

import pytest

from knowngood.syntax.secret_texts import holds_secret, secret_lines, untelling


@pytest.mark.parametrize(
    "text",
    [
        "--api-key sk1",
        "--api-key=sk1",
        "API_KEY=abc",
        "-e HF_TOKEN=abc",
        '{"api_key": "abc"}',
        "https://u:pw@host/",
        "model hf_PLANTEDqXvJ81kTzW",
        "Authorization: Bearer abc",
        "--header 'X-Token: abc'",
        "PASSWORD='$x'",
        "-----BEGIN RSA PRIVATE KEY-----",
        "TOKEN=${TOKEN:-abc}",
    ],
)
def test_a_value_with_a_secret(text: str) -> None:
    assert holds_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "512",
        "expandable_segments:True",
        "http://127.0.0.1:30000/health",
        "$HF_TOKEN",
        "TOKEN=$HF_TOKEN",
        "TOKEN=",
        "--api-key ${API_KEY:?unset}",
        "--api-key $(cat /run/key)",
        "https://u:$PASSWORD@host/",
        "-m sglang.launch_server --tokenizer-path /x --max-total-tokens 5",
        "/bin/bash /root/serve.sh",
    ],
)
def test_a_value_without_one(text: str) -> None:
    assert not holds_secret(text)


@pytest.mark.parametrize(
    ("path", "line", "name"),
    [
        ("/x.sh", "export HF_TOKEN=abc", "HF_TOKEN"),
        ("/x.sh", "# export HF_TOKEN=abc", "HF_TOKEN"),
        ("/x.sh", "KEY=${KEY:-abc}", "KEY"),
        ("/x.sh", "serve --api-key abc", "api-key"),
        ("/etc/default/x", "SESSION_KEY=abcdef123456", "SESSION_KEY"),
        ("/x.conf", "requirepass foobared", "requirepass"),
        ("/x.conf", "password = hunter2", "password"),
        ("/x.json", '"access_token": "abcdef123456"', "access_token"),
        ("/x.py", 'password = "hunter2"', "password"),
        ("/x.py", 'API_TOKEN = "abcdef123456"', "API_TOKEN"),
        ("/x.py", 'url = "https://u:hunter2@host/"', "a password in a URL"),
        ("/x.pem", "-----BEGIN PRIVATE KEY-----", "a token"),
    ],
)
def test_a_line_of_a_file_with_a_secret(path: str, line: str, name: str) -> None:
    assert (2, name) in secret_lines(b"first\n" + line.encode() + b"\nlast\n", path)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/x.sh", 'export HF_TOKEN="${HF_TOKEN:?unset}"'),
        ("/x.sh", "export HF_TOKEN=$(cat /run/hf)"),
        ("/x.sh", 'serve --api-key "$KEY"'),
        ("/x.py", 'key = "abcdefghijk1"'),
        ("/x.py", "password = get()"),
        ("/x.py", "sorted(x, key=lambda y: y)"),
        ("/x.py", "q, key, value = heads"),
        ("/x.py", 'eos_token = "</s>"'),
        ("/x.json", '"bos_token": "<s>"'),
        ("/x.json", '"max_token_length": 4096'),
        ("/x.conf", "# The requirepass option is old"),
        ("/x.conf", "ssl_certificate_key /etc/ssl/key.pem;"),
        ("/x.conf", "tls-key-file redis.key"),
    ],
)
def test_a_line_of_a_file_without_one(path: str, line: str) -> None:
    assert secret_lines(line.encode(), path) == []


def test_bytes_of_any_kind_are_read() -> None:
    assert secret_lines(bytes(range(256)) * 4, "/x.bin") == []


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("bash sets RANDOM by itself (line 4)", "bash sets RANDOM by itself (line 4)"),
        ("the output of $(hostname)", "the output of $(hostname)"),
        ("the output of $(mysql -phunter2)", "the output of $(mysql …)"),
        ("the output of $(a $(b hunter2) hunter2) and", "the output of $(a …) and"),
        ("the output of $(curl -H 'hunter2…", "the output of $(curl …)"),
        ("the output of `cat hunter2`", "the output of $(cat …)"),
        ("the output of $(mysql …) (line 4)", "the output of $(mysql …) (line 4)"),
        ("(pids 1, 2): name it with `server:`", "(pids 1, 2): name it with `server:`"),
        ("it says --api-key hunter2", "the reason quotes what looks like a secret"),
    ],
)
def test_a_sentence_tells_no_secret(sentence: str, told: str) -> None:
    assert untelling(sentence) == told
    assert untelling(told) == told
