"""What of a command line leaves a node: digests of declared secrets, masks for others, the rest as it is."""

from __future__ import annotations

import hmac
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowngood.node.seals import Argv, Seals
from knowngood.observe.ask import HINTS
from knowngood.syntax.secrets import MASK, SECRETIVE_PATTERN, digest, looks_secret

NONCE = b"n" * 32


def seals(nonce: bytes = NONCE) -> Seals:
    return Seals(nonce, SECRETIVE_PATTERN, HINTS.split(), MASK)


def sealed(line: str, *secrets: bytes) -> str:
    argv = Argv(seals(), sealed=["--hf-token", "--password"], plain=["--tp", "-tp", "--key-bits", "-x"])
    return " ".join(argv.words([word.encode() for word in line.split(" ")], list(secrets)))


@given(st.binary(max_size=100), st.binary(max_size=200))
def test_digests_are_those_of_the_controller(nonce: bytes, data: bytes) -> None:
    expected = "hmac:" + hmac.new(nonce, data, sha256).hexdigest()
    assert seals(nonce).digest(data) == expected == digest(nonce, data.decode("utf-8", "surrogateescape"))


_NAMES = st.text("aAkKeEyYtToOnNpPwWdD_-.1", max_size=12) | st.sampled_from(
    [
        "HF_TOKEN",
        "dbPassword",
        "--api-key",
        "MONKEY",
        "PATH",
        "TOKENIZER",
        "max_tokens",
        "myPat",
        "PWD",
        "APIKEY",
    ]
)


@given(_NAMES)
def test_a_node_judges_names_as_the_controller_does(name: str) -> None:
    assert seals().looks_secret(name) == looks_secret(name)


@given(st.text(max_size=20))
def test_no_name_looks_secret_without_a_hint(name: str) -> None:
    assert seals().may_name_secrets(name) or not looks_secret(name)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("python3 -m server --tp 4 --port=30000", "python3 -m server --tp 4 --port=30000"),
        ("s --api-key abc --tp 4", f"s --api-key {MASK} --tp 4"),
        ("s --api-key=abc --tp 4", f"s --api-key={MASK} --tp 4"),
        ("s --api-key a b --tp 4", f"s --api-key {MASK} {MASK} --tp 4"),
        ("s --api-key -a1b2 --tp 4", f"s --api-key {MASK} --tp 4"),
        ("s --api-key -tp 4", "s --api-key -tp 4"),
        ("s --api-key -m server", "s --api-key -m server"),
        ("s --api-key --verbose x", "s --api-key --verbose x"),
        ("s --key-bits 256", "s --key-bits 256"),
        ("env HF_TOKEN=abc A=1 s", f"env HF_TOKEN={MASK} A=1 s"),
        (
            "docker run -e HF_TOKEN=abc --env=API_KEY=def x",
            f"docker run -e HF_TOKEN={MASK} --env=API_KEY={MASK} x",
        ),
        ("s http://u:pw@host/x", f"s http://u:{MASK}@host/x"),
        ("s http://host:80/x@y", "s http://host:80/x@y"),
        ('s {"api_key":"abc","tp":4}', f's {{"api_key":{MASK},"tp":4}}'),
        ("s --json={'password':'abc'}", f"s --json={{'password':{MASK}}}"),
        ("s --max-tokens 5 --tokenizer-path /t", "s --max-tokens 5 --tokenizer-path /t"),
    ],
)
def test_what_leaves_the_node(line: str, shown: str) -> None:
    assert sealed(line) == shown


def test_one_word_may_be_a_whole_shell_command() -> None:
    argv = Argv(seals(), sealed=[], plain=[])
    word = b"export HF_TOKEN='a b' X=1; curl -H 'Authorization: Bearer abc' && s --api-key abc --tp 4"
    shown = argv.words([b"bash", b"-c", word], [])[2]
    assert shown == (
        f"export HF_TOKEN={MASK} X=1; curl -H 'Authorization: Bearer {MASK}' && s --api-key {MASK} --tp 4"
    )


def test_declared_secrets_are_digests_in_every_spelling_of_the_flag() -> None:
    abc = digest(NONCE, "abc")
    assert sealed("s --hf-token abc --password=abc --tp 4") == f"s --hf-token {abc} --password={abc} --tp 4"


def test_a_value_of_the_environment_that_is_secret_is_masked_wherever_it_stands() -> None:
    assert sealed("s --model /m/longsecret/x", b"longsecret") == f"s --model /m/{MASK}/x"
    assert sealed("s --tp longsecret", b"longsecret") == "s --tp longsecret"  # declared, and no secret
    assert sealed("s --model short", b"short") == "s --model short"  # too short to be told from chance


def test_bytes_that_are_no_text_survive() -> None:
    assert Argv(seals(), [], []).words([b"a\xff", b"--x=\xfe"], []) == ["a\udcff", "--x=\udcfe"]


@given(st.lists(st.text("-=abKEYkey_ :'\"{}/@", max_size=8), max_size=8))
def test_sealing_never_fails_and_keeps_the_number_of_words(words: list[str]) -> None:
    argv = Argv(seals(), ["--key"], ["-a"])
    assert len(argv.words([word.encode() for word in words], [b"kkkkkkkk"])) == len(words)
