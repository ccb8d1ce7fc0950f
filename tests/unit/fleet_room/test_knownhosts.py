"""known_hosts files as sshd(8) describes them; ssh-keygen is asked for a second opinion."""

from __future__ import annotations

import base64
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowngood.fleet.knownhosts import HostKey, KnownHosts, fingerprint, matches


def key(letter: str, kind: str = "ssh-ed25519") -> HostKey:
    name = kind.encode()
    return HostKey(kind, struct.pack(">I", len(name)) + name + struct.pack(">I", 32) + letter.encode() * 32)


def line(names: str, of: HostKey, mark: str = "") -> str:
    return f"{mark} {names} {of.kind} {base64.b64encode(of.blob).decode()} a comment".strip()


def known(*lines: str) -> KnownHosts:
    read = KnownHosts()
    read.read(lines)
    return read


A, B, RSA = key("a"), key("b"), key("r", "ssh-rsa")


@pytest.mark.parametrize(
    ("names", "host", "found"),
    [
        ("web", "web", True),
        ("web", "WEB", True),
        ("Web", "web", True),
        ("web", "web2", False),
        ("db,web,10.0.0.1", "10.0.0.1", True),
        ("[web]:2222", "[web]:2222", True),
        ("[web]:2222", "web", False),
        ("web", "[web]:2222", False),
        ("*.example.com", "a.example.com", True),
        ("*.example.com", "example.com", False),
        ("web?", "web1", True),
        ("web?", "web", False),
        ("*.example.com,!bad.example.com", "a.example.com", True),
        ("*.example.com,!bad.example.com", "bad.example.com", False),
        ("[*.example.com]:2222", "[a.example.com]:2222", True),
        ("[*.example.com]:2222", "a.example.com", False),
        ("!web", "web", False),
    ],
)
def test_names_and_patterns(names: str, host: str, found: bool) -> None:
    assert (A in known(line(names, A)).keys(host).trusted) is found


def test_a_host_may_have_several_keys_also_of_one_type() -> None:
    keys = known(line("web", A), line("web", B), line("web", RSA)).keys("web")
    assert keys.trusted == {A, B, RSA}


def test_a_revoked_key_is_never_trusted() -> None:
    keys = known(line("web", A), line("*", A, "@revoked"), line("web", B)).keys("web")
    assert keys.trusted == {B}
    assert keys.revoked == {A}


def test_an_authority_is_no_hosts_key_and_ends_nothing() -> None:
    read = known(line("*", B, "@cert-authority"), line("web", A))
    assert read.keys("web").trusted == {A}
    assert read.keys("db").trusted == set()


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "# a comment",
        "web",
        "web ssh-ed25519",
        "web ssh-ed25519 not-base64!",
        "@unknown web ssh-ed25519 AAAA",
        line("web", key("x"))[:-60],
        line("web", HostKey("ssh-rsa", A.blob)),
        "|1|only-two ssh-ed25519 " + base64.b64encode(A.blob).decode(),
        "|1|!!!|!!! ssh-ed25519 " + base64.b64encode(A.blob).decode(),
        "\udcff\udcfe",
    ],
)
def test_a_line_that_says_nothing_is_left_out_alone(bad: str) -> None:
    assert known(bad, line("web", A), bad).keys("web").trusted == {A}


def test_a_key_that_was_accepted_meanwhile() -> None:
    read = known()
    read.add("[web]:2222", A)
    assert read.keys("[web]:2222").trusted == {A}


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="no ssh-keygen here")
def test_hashed_names_and_fingerprints_as_ssh_keygen_makes_them(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"{line('web,10.0.0.1', A)}\n{line('[web]:2222', B)}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(file)], check=True, capture_output=True)
    hashed = file.read_text()
    assert "web" not in hashed

    read = known(*hashed.splitlines())
    for _ in range(2):  # a found name is entered anew
        assert read.keys("web").trusted == {A}
        assert read.keys("10.0.0.1").trusted == {A}
        assert read.keys("[web]:2222").trusted == {B}
        assert read.keys("web2").trusted == set()
    listed = subprocess.run(["ssh-keygen", "-l", "-f", str(file)], capture_output=True, text=True, check=True)
    assert fingerprint(A.blob) in listed.stdout


names = st.text("ab.*?![]:1", max_size=8)


@given(st.lists(names, max_size=4), names)
def test_any_pattern_list_has_an_answer(patterns: list[str], name: str) -> None:
    assert matches(name, [*patterns, f"!{name}"]) is False
    assert matches(name, [item for item in patterns if not item.startswith("!")] + ["*"]) is True
