"""The question to a node: one program for any Python since 3.6, which names no more than it must."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from knowngood.model import (
    ABSENT,
    Desired,
    DesiredFile,
    DesiredScript,
    Failure,
    Known,
    Observation,
    Occurrences,
    Secret,
)
from knowngood.observe.answer import read_answer
from knowngood.observe.ask import HINTS, ask, run_of
from knowngood.observe.program import bare, probe_program
from knowngood.syntax.secrets import SECRETIVE_PATTERN

NONCE = bytes(range(32))
FLAG = Known(Occurrences((("4",),)))


def role(manifest: str = "decode", unit: str = "knowngood-none.service", **more: object) -> Desired:
    return Desired(manifest, "node", unit, **more)  # type: ignore[arg-type]


def request_of(program: bytes) -> dict[str, object]:
    call = program.decode("ascii").rstrip("\n").rpartition("\n")[2]
    return ast.literal_eval(call.partition(".main(")[2][:-1])  # type: ignore[no-any-return]


def test_the_question_is_one_ascii_text_that_fits_one_packet_of_ssh() -> None:
    program = ask([role(files=(DesiredFile("/käse/\udcff", "0" * 64, ""),))], NONCE)
    assert program.isascii()
    assert len(program) < 32 << 10


def test_names_go_to_the_node_and_no_values() -> None:
    asked = role(
        env={"KNOB": Known("wanted-value"), "HF_TOKEN": Known("wanted-value"), "GONE": ABSENT},
        unit_env={"PLAIN": Secret("PLAIN", "planted-secret")},
        args={"--tp": FLAG, "--api-key": FLAG, "--auth": Secret("X", "planted-secret")},
        aliases=(("--tp", "--tensor-parallel-size"),),
        script=DesiredScript("/root/serve.sh"),
        files=(DesiredFile("/a", "0" * 64, ""),),
    )
    program = ask([asked], NONCE)
    assert b"planted-secret" not in program
    assert b"wanted-value" not in program
    request = request_of(program)
    assert request["files"] == ["/a", "/root/serve.sh"]
    assert request["roles"] == [
        {
            "manifest": "decode",
            "unit": "knowngood-none.service",
            "script": "/root/serve.sh",
            "env": {"KNOB": False, "HF_TOKEN": True, "GONE": False, "PLAIN": True},
            "sealed_flags": ["--api-key", "--auth"],
            "plain_flags": ["--tp", "--tensor-parallel-size"],
        }
    ]


def test_the_roles_of_a_host_go_in_one_question() -> None:
    both = [
        role("a", "a.service", script=DesiredScript("/s")),
        role("b", "b.service", script=DesiredScript("/s")),
    ]
    request = request_of(ask(both, NONCE))
    assert request["files"] == ["/s"]
    assert [each["unit"] for each in request["roles"]] == ["a.service", "b.service"]  # type: ignore[attr-defined]


def test_properties_can_be_limited_to_those_that_are_needed() -> None:
    limited = request_of(ask([role()], NONCE, properties=["LimitNOFILE"]))["properties"]
    assert {"LimitNOFILE", "MainPID", "LoadState"} <= set(limited)  # type: ignore[call-overload]
    assert request_of(ask([role()], NONCE))["properties"] is None


def test_the_runs_name_does_not_tell_the_nonce() -> None:
    assert NONCE.hex()[:16] not in run_of(NONCE)
    assert run_of(NONCE) != run_of(NONCE + b"x")


def test_every_secretive_word_ends_with_a_hint() -> None:
    words = re.search(r"\(\?i:(.*?)\)\)", SECRETIVE_PATTERN)
    assert words is not None
    for word in re.sub(r"\[_-\]\?", "", words[1]).split("|"):
        assert word.endswith(tuple(HINTS.split())), word


def test_comments_and_docstrings_stay_at_home_and_lines_do_not_move() -> None:
    source = '''"""A.

B."""
x = 1  # one
class C:
    """C."""
    def f(self):
        # of
        """F
        g."""
        return "#s"
'''
    short = """0


x = 1
class C:
    0
    def f(self):

        0

        return "#s"
"""
    assert bare(source) == short


_PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
_FOUND = [
    shutil.which(f"python3{minor}", path="/usr/bin:/usr/local/bin")
    for minor in ("", *map(".{}".format, range(6, 20)))
]
PYTHONS = sorted(
    {
        os.path.realpath(path)
        for path in (sys.executable, *_PYENV.glob("3.*/bin/python3"), *filter(None, _FOUND))
    }
)


@pytest.mark.parametrize("python", PYTHONS)
def test_a_node_answers_whatever_its_python(python: str, tmp_path: Path) -> None:
    kernel = tmp_path / "kérnel.py"
    kernel.write_text("NUM_WARPS = 4\n")
    subprocess.run([python, "-m", "py_compile", str(kernel)], check=True)
    kernel.chmod(0o600)
    script = tmp_path / "serve.sh"
    script.write_bytes(b"export A=1 # \xff\n")
    asked = role(
        files=(DesiredFile(str(kernel), "0" * 64, ""), DesiredFile("/none", "0" * 64, "")),
        script=DesiredScript(str(script)),
        env={"HF_TOKEN": Known("x")},
    )
    ran = subprocess.run(
        [python, "-I", "-S", "-"],
        input=ask([asked], NONCE),
        capture_output=True,
        check=True,
        env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
    )
    assert ran.stderr == b""
    read = read_answer("node", ran.stdout, [asked], NONCE)
    assert not isinstance(read, Failure), read.reason
    seen: Observation = read["decode"]
    assert {path: state.kind for path, state in seen.files.items()} == {
        str(kernel): "regular",
        "/none": "missing",
        str(script): "regular",
    }
    (pyc,) = seen.files[str(kernel)].pycs
    assert (pyc.source_size, pyc.matches_source) == (14, True)
    assert seen.script is not None
    assert seen.script.data == b"export A=1 # \xff\n"
    # Here runs no systemd, or none that knows the unit; both are told, and neither is silence.
    assert seen.unit.error or seen.unit.load_state == "not-found"


def test_the_program_needs_the_standard_library_alone() -> None:
    source = probe_program()
    assert "import binascii" in source
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-"], input=source.encode(), capture_output=True, check=True
    )
    assert (ran.stdout, ran.stderr) == (b"", b"")


def test_a_node_that_is_out_of_time_says_so_at_once() -> None:
    asked = role(files=(DesiredFile("/etc/hostname", "0" * 64, ""),))
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-"],
        input=ask([asked], NONCE, deadline=0),
        capture_output=True,
        check=True,
    )
    read = read_answer("node", ran.stdout, [asked], NONCE)
    assert not isinstance(read, Failure), read.reason
    assert read["decode"].files["/etc/hostname"].error == "not reached in time"


def test_a_part_that_hangs_in_the_kernel_costs_its_own_answer_alone() -> None:
    hang = "import time\nsys.modules['knowngood.node.probe'].unit_texts = lambda *_: time.sleep(60)\n"
    program = probe_program() + hang + ask([role()], NONCE, deadline=0.1).decode()[len(probe_program()) :]
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-"], input=program.encode(), capture_output=True, timeout=20, check=True
    )
    read = read_answer("node", ran.stdout, [role()], NONCE)
    assert not isinstance(read, Failure), read.reason
    unit = read["decode"].unit
    assert unit.fragment is not None
    assert unit.fragment.error == "not reached in time"
    assert unit.error != "not reached in time"


def test_a_part_that_breaks_costs_its_own_answer_alone() -> None:
    broken = "sys.modules['knowngood.node.probe'].unit_texts = lambda *_: 1 // 0\n"
    program = probe_program() + broken + ask([role()], NONCE).decode()[len(probe_program()) :]
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-"], input=program.encode(), capture_output=True, check=True
    )
    read = read_answer("node", ran.stdout, [role()], NONCE)
    assert not isinstance(read, Failure), read.reason
    fragment = read["decode"].unit.fragment
    assert fragment is not None
    assert fragment.error == "ZeroDivisionError: integer division or modulo by zero"
    assert read["decode"].boot_id
