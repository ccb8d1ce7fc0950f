"""What a manifest would say of a node: every setting that its texts state, secrets by their names alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from knowngood.model import (
    ABSENT,
    Desired,
    DesiredFile,
    DesiredScript,
    FileState,
    Known,
    Observation,
    Occurrences,
    Process,
    Secret,
    Setting,
    Text,
    UnitState,
    Unknown,
    Want,
)
from knowngood.observe.captured import asked_with, propose, unconfirmed
from knowngood.observe.captured_script import is_shell_script, script_candidates, server_text
from knowngood.observe.proposal import Proposal
from knowngood.observe.see import see

UNIT = "decode.service"
FRAGMENT = f"/etc/systemd/system/{UNIT}"
SCRIPT = "/root/serve.sh"
EXEC = f"ExecStart=/bin/bash {SCRIPT}"


def unit(service: str = EXEC, *dropins: str, files: tuple[Text, ...] = ()) -> UnitState:
    texts = [
        Text(f"{FRAGMENT}.d/{number}.conf", f"[Service]\n{text}\n".encode())
        for number, text in enumerate(dropins)
    ]
    return UnitState(
        name=UNIT,
        load_state="loaded",
        active_state="active",
        sub_state="running",
        unit_file_state="enabled",
        main_pid=7,
        n_restarts=0,
        need_daemon_reload=False,
        invocation_id="i",
        properties={},
        fragment=Text(FRAGMENT, f"[Unit]\nDescription=x\n[Service]\n{service}\n".encode()),
        dropins=tuple(texts),
        environment_files=files,
    )


def process(pid: int, *argv: str, ppid: int = 1, exe: str = "/usr/bin/python3.11") -> Process:
    return Process(pid, ppid, pid, pid * 10**9, exe, argv, {}, {})


def observed(
    script: str | None = None, state: UnitState | None = None, *processes: Process, files: str = ""
) -> Observation:
    text = None if script is None else Text(SCRIPT, script.encode())
    known = FileState(files, "regular", None, "a" * 64, 1, "0640", "root", "redis")
    return Observation(
        "node-1",
        state or unit(),
        processes,
        files={files: known},
        script=text,
        nonce=b"n",
        manager_environment={"PATH": "/bin"},
        manager_open=False,
    )


def role(*paths: str, script: str | None = SCRIPT) -> Desired:
    files = tuple(DesiredFile(path, "", "") for path in paths)
    return Desired("decode", "node-1", UNIT, files=files, script=DesiredScript(script) if script else None)


def proposed(script: str, state: UnitState | None = None) -> Proposal:
    return propose(role(), observed(script, state))


def flag(*words: str) -> Want:
    return Known(Occurrences((words,)))


# --- knobs ---


def test_knobs_of_the_script_with_their_lines() -> None:
    state = unit(f"Environment=GONE=1\n{EXEC}")
    proposal = proposed("export A=1 B='two words'\nunset GONE\nexec serve --tp 4\n", state)
    assert proposal.desired.env == {"A": Known("1"), "B": Known("two words"), "GONE": ABSENT}
    assert proposal.comments[Setting("env", "A")] == "line 1"


def test_a_knob_that_can_not_be_read_is_left_out_with_its_line() -> None:
    proposal = proposed("export SEED=$(date)\nexec serve\n")
    assert "SEED" not in proposal.desired.env
    assert "(line 1)" in proposal.left_out[Setting("env", "SEED")]


def test_a_default_counts_where_nobody_gives_the_name() -> None:
    assert proposed("export A=${A:-512}\nexec serve\n").desired.env == {"A": Known("512")}
    given = unit(f"Environment=A=256\n{EXEC}")
    assert proposed("export A=${A:-512}\nexec serve\n", given).desired.env == {"A": Known("256")}


def test_a_name_that_systemds_manager_may_set_is_asked_for() -> None:
    observation = replace(observed("export A=${A:-512}\nexec serve\n"), manager_open=True)
    proposal = propose(role(), observation)
    assert "A" not in proposal.desired.env
    asked = asked_with(role(), proposal)
    assert propose(asked, observation).desired.env == {"A": Known("512")}


def test_knobs_of_the_unit_and_of_its_files() -> None:
    settings = Text("/etc/default/x", b'BIND=1:2\nGREETING="hello there"\n')
    state = unit(f"Environment=A=1\nEnvironmentFile=/etc/default/x\n{EXEC}", files=(settings,))
    desired = proposed("export A=2\nexec serve\n", state).desired
    assert desired.env == {"A": Known("2")}
    assert desired.unit_env == {"BIND": Known("1:2"), "GREETING": Known("hello there")}
    assert not any("Environment" in name for name in desired.directives)


@pytest.mark.parametrize(
    ("line", "name"),
    [("HF_TOKEN=hf_abc", "HF_TOKEN"), ("DATABASE=postgres://u:pw@h/d", "DATABASE"), ("MY_KEY=7", "MY_KEY")],
)
def test_a_secret_is_named_and_not_said(line: str, name: str) -> None:
    proposal = proposed(f"export {line}\nexec serve\n")
    text = line.partition("=")[2]
    assert proposal.desired.env == {name: Secret(name, text)}
    assert proposal.secrets == {name: text}
    assert text not in repr(proposal)


@pytest.mark.parametrize("command", ["mysql -phunter2", "a $(b) hunter2", "curl http://u:hunter2@h/"])
def test_a_command_that_is_quoted_tells_no_secret(command: str) -> None:
    proposal = proposed(f"export A=$({command})\nexec serve --tp $({command}) --x\n")
    assert set(map(str, proposal.left_out)) == {"env:A", "arg:--tp"}
    assert "hunter2" not in repr(proposal)


# --- flags ---


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--bare", {"--bare": flag()}),
        ("--one 1 --bare", {"--one": flag("1"), "--bare": flag()}),
        ("--one=1", {"--one": flag("1")}),
        ("--bs 1 2 4 --x", {"--bs": flag("1", "2", "4"), "--x": flag()}),
        ("--bs 1 2 4", {"--bs": flag("1", "2", "4")}),
        ("--bs a b --x", {"--bs": flag("a", "b"), "--x": flag()}),
        ("--bind a:1 app:main", {"--bind": flag("a:1")}),
        ("--set a --set b", {"--set": Known(Occurrences((("a",), ("b",))))}),
        ("--foo_bar 1", {"--foo_bar": flag("1")}),
        ("-c /x", {"-c": flag("/x")}),
        ("--empty ''", {"--empty": flag("")}),
        ("--api-key abc", {"--api-key": Secret("API_KEY", "abc")}),
        ('--json \'{"token": "abc"}\'', {"--json": Secret("JSON", '{"token": "abc"}')}),
        ("--offset -1", {"--offset": flag("-1")}),
    ],
)
def test_flags_with_the_shape_of_their_words(words: str, expected: dict[str, Want]) -> None:
    assert proposed(f"exec python3 -m serve.it {words}\n").desired.args == expected


@pytest.mark.parametrize(
    ("words", "flag_name"),
    [("--tp $(nproc)", "--tp"), ("--x --x 1", "--x"), ("--api-key a --api-key b", "--api-key")],
)
def test_a_flag_that_can_not_be_told_is_left_out(words: str, flag_name: str) -> None:
    proposal = proposed(f"exec serve {words}\n")
    assert flag_name not in proposal.desired.args
    assert proposal.left_out[Setting("arg", flag_name)]


def test_words_without_a_flag_are_told_but_not_their_secrets() -> None:
    (remark,) = proposed("exec vllm serve /model https://u:hunter2@h --tp 4\n").remarks
    assert remark == "words without a flag are not compared: serve /model ‹secret›"


def test_one_variable_for_each_secret() -> None:
    proposal = proposed("export API_KEY=one\nexec serve --api-key two --other-api-key one\n")
    assert proposal.secrets == {"API_KEY": "one", "API_KEY_2": "two", "OTHER_API_KEY": "one"}
    assert proposal.desired.args["--api-key"] == Secret("API_KEY_2", "two")


# --- the unit ---


def test_directives_of_fragment_and_dropins() -> None:
    proposal = proposed("exec serve\n", unit(f"LimitNOFILE=1\nRestart=always\n{EXEC}", "LimitNOFILE=2"))
    directives = proposal.desired.directives
    assert directives["Service.LimitNOFILE"] == ("2",)
    assert directives["Service.Restart"] == ("always",)
    assert "Unit.Description" not in directives
    assert proposal.comments[Setting("systemd", "Service.LimitNOFILE")] == f"{FRAGMENT}.d/0.conf:2"


def test_a_directive_with_a_secret_is_left_out_without_it() -> None:
    proposal = propose(role(script=None), observed(None, unit("ExecStart=/bin/serve --api-key hunter2")))
    assert "Service.ExecStart" not in proposal.desired.directives
    assert "hunter2" not in repr(proposal)
    assert proposal.left_out[Setting("systemd", "Service.ExecStart")] == "it holds what looks like a secret"


@pytest.mark.parametrize(
    ("state", "enabled"), [("enabled", True), ("disabled", False), ("static", None), ("", None)]
)
def test_enabled_is_a_setting_where_systemd_says_one_of_two_words(state: str, enabled: bool | None) -> None:
    proposal = proposed("exec serve\n", replace(unit(), unit_file_state=state))
    assert proposal.desired.enabled is enabled
    assert (Setting("unit", "enabled") in proposal.left_out) == (state == "static")


def test_a_file_with_its_attributes() -> None:
    (file,) = propose(role("/etc/x"), observed("exec serve\n", files="/etc/x")).desired.files
    assert (file.sha256, file.mode, file.owner, file.group) == ("a" * 64, "0640", "root", "redis")


# --- confirming, and leaving out ---


def test_without_a_process_no_knob_and_no_file_is_confirmed() -> None:
    observation = observed("export A=1\nexec serve --tp 4\n", files="/etc/x")
    stopped = replace(observation.unit, active_state="inactive", sub_state="dead", main_pid=0)
    observation = replace(observation, unit=stopped)
    desired = propose(role("/etc/x"), observation).desired
    told = unconfirmed(desired, see(desired, observation))
    assert {str(setting) for setting in told if setting.kind != "systemd"} == {
        "env:A",
        "arg:--tp",
        "file:/etc/x",
    }


@pytest.mark.parametrize(
    "address",
    ["env:A", "arg:--tp", "systemd:Service.Restart", "unit:enabled", "file:/etc/x", "mode:/etc/x"],
)
def test_a_setting_that_is_left_out_is_gone_and_told(address: str) -> None:
    state = unit(f"Restart=always\n{EXEC}")
    observation = observed("export A=1\nexec serve --tp 4\n", state, files="/etc/x")
    proposal = propose(role("/etc/x"), observation)
    setting = Setting.parse(address)
    less = proposal.without(setting, "why not")
    assert less.left_out[setting] == "why not"
    assert setting not in less.comments
    assert less.desired != proposal.desired
    assert less.desired == less.without(setting, "again").desired


def test_the_units_state_can_not_be_left_out() -> None:
    with pytest.raises(ValueError, match="unit:active"):
        proposed("exec serve\n").without(Setting("unit", "active"), "why not")


# --- script and server ---


@pytest.mark.parametrize(
    ("command", "candidates"),
    [
        (f"/bin/bash {SCRIPT}", (SCRIPT,)),
        (f"/bin/bash -eu {SCRIPT} decode", (SCRIPT,)),
        (SCRIPT, (SCRIPT,)),
        (f"/usr/bin/env bash {SCRIPT}", ("/usr/bin/env", SCRIPT)),
        (f"/usr/bin/numactl --cpunodebind=0 {SCRIPT}", ("/usr/bin/numactl", SCRIPT)),
        (f"/bin/bash -lc '{SCRIPT} decode'", (SCRIPT,)),
        (f"/bin/bash -c 'exec {SCRIPT}'", (SCRIPT,)),
        ("/bin/bash -c 'echo x'", ()),
        ("/usr/bin/redis-server /etc/redis.conf", ("/usr/bin/redis-server",)),
    ],
)
def test_where_the_serve_script_may_be(command: str, candidates: tuple[str, ...]) -> None:
    found = script_candidates(role(script=None), observed(None, unit(f"ExecStart={command}")))
    assert found == candidates


@pytest.mark.parametrize(
    ("data", "path", "expected"),
    [
        (b"#!/bin/bash\n", "/x", True),
        (b"#!/usr/bin/env -S bash -eu\n", "/x", True),
        (b"#! /bin/sh -e\n", "/x", True),
        (b"#!/usr/bin/python3\n", "/x", False),
        (b"exec serve\n", "/x.sh", True),
        (b"exec serve\n", "/x", True),
        (b"#!/bin/sh\n\0ELF", "/x", False),
        (None, "/x.sh", False),
    ],
)
def test_what_a_shell_script_is(data: bytes | None, path: str, expected: bool) -> None:
    assert is_shell_script(Text(path, data)) is expected


SERVER = process(7, "python3", "-m", "sglang.launch_server", "--tp", "4")
EXPORTER = process(8, "node_exporter", "--port", "1", exe="/usr/bin/node_exporter")


def test_an_obvious_server_is_not_named() -> None:
    observation = observed("exec python3 -m sglang.launch_server --tp 4\n", None, SERVER)
    assert server_text(role(), observation) is None


def test_a_server_among_others_is_named_by_its_module() -> None:
    script = "node_exporter --port 1 &\npython3 -m serve.it --tp 4 &\nwait\n"
    server = process(9, "python3", "-m", "serve.it", "--tp", "4", ppid=7)
    shell = process(7, "/bin/bash", SCRIPT, exe="/usr/bin/bash")
    exporter = replace(EXPORTER, ppid=7)
    assert isinstance(server_text(role(), observed(script, None, shell, server, exporter)), Unknown)
    alone = observed("true\npython3 -m serve.it --tp 4\n", None, shell, server)
    assert server_text(role(), alone) is None


def test_the_main_process_decides_which_of_two_launches_is_named() -> None:
    script = "python3 -m a.exporter --port 1 &\nexec python3 -m b.serve --tp 4\n"
    server = process(7, "python3", "-m", "b.serve", "--tp", "4")
    exporter = process(8, "python3", "-m", "a.exporter", "--port", "1", ppid=7)
    found = server_text(role(), observed(script, None, server, exporter))
    assert found in ("b.serve", None)
