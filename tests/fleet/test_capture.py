"""Capture on real nodes: what is written validates, drifts 0, and holds no secret."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import CHECKOUT, Cli, Run
from .contents import KERNEL, SCRIPT, UNIT
from .faults.knobs import SECRETS
from .fleet import Fleet

NODE = "decode-01"
NAME = UNIT.removesuffix(".service")
SERVICES = "redis-server nginx webapp"
SECRET_VARIABLES = {"HF_TOKEN": SECRETS[0], "API_KEY": SECRETS[1]}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project with the fleet's inventory."""
    (tmp_path / "state").mkdir()
    (tmp_path / "inventory").mkdir()
    shutil.copy(CHECKOUT / "inventory" / "fleet.py", tmp_path / "inventory")
    return tmp_path


@pytest.fixture
def cli(fleet: Fleet, project: Path) -> Cli:
    return Cli(fleet, project)


@pytest.fixture
def services(fleet: Fleet) -> Iterator[None]:
    """Debian's redis and nginx, and a gunicorn unit, running on the node."""
    fleet[NODE].run(f"systemctl start {SERVICES}")
    yield
    fleet[NODE].run(f"systemctl stop {SERVICES}")


def manifest(project: Path, name: str = NAME) -> str:
    return (project / "state" / f"{name}.yaml").read_text()


def in_sync(cli: Cli, **environ: str) -> None:
    """What was captured validates, and drifts 0."""
    assert cli("validate").exit_code == 0
    run = cli("drift", "--json", env=environ)
    assert (run.exit_code, run.findings(NODE)) == (0, set()), run.stdout + run.stderr


def everything(project: Path, *runs: Run) -> str:
    """All that was said and written."""
    files = [path.read_bytes().decode("latin-1") for path in project.rglob("*") if path.is_file()]
    return "\n".join([*files, *(run.stdout + run.stderr for run in runs)])


def written(project: Path) -> set[str]:
    return {str(path.relative_to(project)) for path in (project / "state").rglob("*") if path.is_file()}


def test_the_decode_server(cli: Cli, project: Path, fleet: Fleet) -> None:
    run = cli("capture", NODE, "--unit", UNIT, "--file", KERNEL, "--own-script")
    assert run.exit_code == 0, run.stderr
    text = manifest(project)
    for line in (
        "SGLANG_SM120_MMA_TARGET_CTAS: 512",
        "--disable-overlap-schedule: true",
        "--cuda-graph-bs: [1, 2, 4]",
        "--mem-fraction-static: 0.90",
        "LimitNOFILE: 16384",
        "PYTHONUNBUFFERED: 1",
        "enabled: true",
        '--host: "{host.address}"',
    ):
        assert line in text
    assert "NCCL_DEBUG" not in text
    for path in (KERNEL, SCRIPT):
        fetched = project / "state" / "files" / Path(path).name
        assert fetched.read_bytes() == (fleet[NODE].root / path.lstrip("/")).read_bytes()
    assert f"next: knowngood drift --limit {NODE}" in run.stdout
    in_sync(cli)


@pytest.mark.parametrize(
    ("unit", "files", "expected"),
    [
        ("redis-server", ["/etc/redis/redis.conf"], "User: redis"),
        ("nginx", ["/etc/nginx/nginx.conf", "/etc/nginx/sites-available/default"], "PIDFile: /run/nginx.pid"),
        ("webapp", ["/srv/webapp/webapp.py", "/etc/default/webapp"], "WorkingDirectory: /srv/webapp"),
    ],
)
def test_services_that_nobody_here_wrote(
    cli: Cli, project: Path, services: None, unit: str, files: list[str], expected: str
) -> None:
    named = [word for path in files for word in ("--file", path)]
    run = cli("capture", NODE, "--unit", unit, *named)
    assert run.exit_code == 0, run.stderr
    assert expected in manifest(project, unit)
    in_sync(cli)


def test_what_a_process_can_not_confirm_is_a_comment(cli: Cli, project: Path, services: None) -> None:
    """gunicorn calls setproctitle, so its environment can't be read."""
    assert cli("capture", NODE, "--unit", "webapp.service").exit_code == 0
    text = manifest(project, "webapp")
    assert "# env:WEBAPP_GREETING is left out: can't tell: overwritten by the process" in text
    assert "\n    WEBAPP_GREETING" not in text


def test_a_limit_that_the_process_does_not_have_is_left_out(cli: Cli, project: Path, services: None) -> None:
    run = cli("capture", NODE, "--unit", "redis-server")
    assert "systemd:Service.LimitNOFILE" in run.stdout
    assert "# systemd:Service.LimitNOFILE is left out" in manifest(project, "redis-server")


def test_a_unit_that_does_not_run(cli: Cli, project: Path) -> None:
    run = cli("capture", NODE, "--unit", "webapp", "--file", "/srv/webapp/webapp.py")
    assert run.exit_code == 0, run.stderr
    text = manifest(project, "webapp")
    assert "unit: {name: webapp.service, active: false, enabled: false}" in text
    assert "# env:BIND is left out: no process runs that could confirm it" in text
    assert "loaded: false" in text
    in_sync(cli)


def test_secrets_are_named_and_never_written(cli: Cli, project: Path, broken: Any) -> None:
    broken("secrets-planted", NODE)
    captured = cli("capture", NODE, "--unit", UNIT)
    assert captured.exit_code == 0, captured.stderr
    text = manifest(project)
    assert "HF_TOKEN: {secret: env:HF_TOKEN}" in text
    assert "--api-key: {secret: env:API_KEY}" in text
    assert "API_KEY, HF_TOKEN" in captured.stdout
    in_sync(cli, **SECRET_VARIABLES)
    others = cli("drift", "--json", env={**SECRET_VARIABLES, "API_KEY": "another"})
    assert others.findings(NODE) == {("arg:--api-key", "edited_and_live")}
    told = everything(project, captured, others)
    assert not any(secret in told for secret in SECRETS)


def test_a_script_with_secrets_is_not_fetched(cli: Cli, project: Path, broken: Any) -> None:
    broken("secrets-planted", NODE)
    run = cli("capture", NODE, "--unit", UNIT, "--own-script")
    assert run.exit_code == 2
    assert "seems to hold a secret" in run.stderr
    assert written(project) == set()
    assert not any(secret in everything(project, run) for secret in SECRETS)


def test_a_file_with_a_secret_is_not_fetched(cli: Cli, project: Path, fleet: Fleet) -> None:
    node = fleet[NODE]
    node.run("echo 'requirepass correct-horse-9' > /root/redis.conf")
    try:
        run = cli("capture", NODE, "--unit", UNIT, "--file", "/root/redis.conf")
        assert (run.exit_code, written(project)) == (2, set())
        assert "line 1 (requirepass)" in run.stderr
        assert "correct-horse-9" not in run.stdout + run.stderr
        files = project / "state" / "files"
        files.mkdir()
        (files / "redis.conf").write_text("requirepass correct-horse-9\n")
        assert cli("capture", NODE, "--unit", UNIT, "--file", "/root/redis.conf").exit_code == 0
    finally:
        node.run("rm /root/redis.conf")


def test_a_kernel_edited_after_the_start_is_not_called_loaded(cli: Cli, project: Path, broken: Any) -> None:
    broken("kernel-edited", NODE)
    assert cli("capture", NODE, "--unit", UNIT, "--file", KERNEL).exit_code == 0
    assert "loaded: false  #" in manifest(project)
    in_sync(cli)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("knob-on-disk", "# env:SGLANG_SM120_MMA_TARGET_CTAS is left out: "),
        ("dropin-nofile", "# systemd:Service.LimitNOFILE is left out: "),
        ("environ-zeroed", "# env:SGLANG_SM120_MMA_TARGET_CTAS is left out: "),
        ("no-exec", "SGLANG_SM120_MMA_TARGET_CTAS: 512"),
        ("knob-live", "SGLANG_SM120_MMA_TARGET_CTAS: 256"),
        ("script-missing", "LimitNOFILE: 16384"),
    ],
)
def test_only_what_is_in_sync_is_captured(
    cli: Cli, project: Path, broken: Any, fault: str, expected: str
) -> None:
    broken(fault, NODE)
    run = cli("capture", NODE, "--unit", UNIT)
    assert run.exit_code == 0, run.stderr
    assert expected in manifest(project)
    in_sync(cli)


SECRET_SERVICE = """\
[Service]
Environment=HF_TOKEN=hunter2-token PLAIN=1 DATABASE_URL=postgres://u:hunter2-db@h/d
EnvironmentFile=/etc/default/secretive
ExecStart=/usr/bin/python3 -c "import time; time.sleep(1e6)" --api-key hunter2-arg --port 1
Nice=3
"""


def test_secrets_of_a_unit_and_its_environment_file(cli: Cli, project: Path, fleet: Fleet) -> None:
    node = fleet[NODE]
    node.run("cat > /etc/systemd/system/secretive.service", input=SECRET_SERVICE)
    node.run("cat > /etc/default/secretive", input="SESSION_KEY=hunter2-file\nVISIBLE='a b'\n")
    node.run("systemctl daemon-reload; systemctl start secretive")
    try:
        run = cli("capture", NODE, "--unit", "secretive")
        assert run.exit_code == 0, run.stderr
        refused = cli("capture", NODE, "--unit", "secretive", "--force", "--file", "/etc/default/secretive")
        assert (refused.exit_code, "SESSION_KEY" in refused.stderr) == (2, True)
        secrets = {
            "HF_TOKEN": "hunter2-token",
            "DATABASE_URL": "postgres://u:hunter2-db@h/d",
            "SESSION_KEY": "hunter2-file",
        }
        text = manifest(project, "secretive")
        assert all(f"{name}: {{secret: env:{name}}}" in text for name in secrets)
        assert "# systemd:Service.ExecStart is left out: it holds what looks like a secret" in text
        assert "VISIBLE: a b" in text.replace('"', "")
        in_sync(cli, **secrets)
        assert "hunter2" not in everything(project, run, refused)
    finally:
        node.run("systemctl stop secretive; rm /etc/systemd/system/secretive.service /etc/default/secretive")
        node.run("systemctl daemon-reload")


def test_a_user_who_needs_sudo(cli: Cli, project: Path, fleet: Fleet) -> None:
    with (project / "inventory" / "fleet.py").open("a") as inventory:
        inventory.write("\nfor _, _data in decode:\n    _data.update(ssh_user='ops', _sudo=True)\n")
    run = cli("capture", NODE, "--unit", UNIT, "--file", KERNEL)
    assert run.exit_code == 0, run.stderr
    assert "SGLANG_SM120_MMA_TARGET_CTAS: 512" in manifest(project)
    in_sync(cli)


def test_nothing_is_overwritten_without_force(cli: Cli, project: Path) -> None:
    words = ("capture", NODE, "--unit", UNIT, "--file", KERNEL)
    place = project / "state" / f"{NAME}.yaml"
    place.write_text("mine")
    run = cli(*words)
    assert (run.exit_code, place.read_text()) == (2, "mine")
    assert "--force" in run.stderr
    kernel = project / "state" / "files" / Path(KERNEL).name
    kernel.parent.mkdir()
    kernel.write_text("mine too")
    assert (cli(*words, "--name", "other").exit_code, kernel.read_text()) == (2, "mine too")
    assert cli(*words, "--force").exit_code == 0
    in_sync(cli)
    assert written(project) == {f"state/{NAME}.yaml", f"state/files/{kernel.name}"}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("decode-99", "--unit", UNIT), 2, "decode-99"),
        (("decode", "--unit", UNIT), 2, "3 hosts"),
        ((NODE, "--unit", "nothing.service"), 2, "no such unit: nothing.service"),
        ((NODE, "--unit", "a b"), 2, "no service's name"),
        ((NODE, "--unit", "ssh.socket"), 2, "no service's name"),
        ((NODE, "--unit", UNIT, "--file", "relative"), 2, "no absolute path"),
        ((NODE, "--unit", UNIT, "--file", "/no/such/file"), 2, "no such file"),
        ((NODE, "--unit", UNIT, "--file", "/etc"), 2, "not a regular file"),
        ((NODE, "--unit", UNIT, "--file", SCRIPT), 2, "--own-script"),
        ((NODE, "--unit", "ssh", "--own-script"), 2, "starts no serve script"),
        ((NODE, "--unit", UNIT, "--name", "a/b"), 2, "a name is letters"),
    ],
)
def test_bad_input_writes_nothing(
    cli: Cli, project: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    run = cli("capture", *words)
    assert (run.exit_code, written(project)) == (code, set())
    assert message in run.stderr


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("sshd-dead", "connection refused"), ("python-missing", "python3"), ("key-refused", "key refused")],
)
def test_a_node_that_can_not_be_observed(
    cli: Cli, project: Path, broken: Any, fault: str, reason: str
) -> None:
    broken(fault, NODE)
    run = cli("capture", NODE, "--unit", UNIT, "--timeout", "8", "--connect-timeout", "3")
    assert (run.exit_code, written(project)) == (3, set())
    assert reason in run.stderr


def test_a_file_that_another_manifest_needs_is_never_replaced(
    cli: Cli, project: Path, fleet: Fleet, services: None
) -> None:
    node = fleet[NODE]
    node.run("echo other > /root/nginx.conf")
    try:
        assert cli("capture", NODE, "--unit", "nginx", "--file", "/etc/nginx/nginx.conf").exit_code == 0
        run = cli("capture", NODE, "--unit", UNIT, "--file", "/root/nginx.conf", "--force")
        assert run.exit_code == 2
        assert "state/files/nginx.conf is a source of state/nginx.yaml" in run.stderr
        in_sync(cli)
    finally:
        node.run("rm /root/nginx.conf")


def test_a_unit_that_another_manifest_claims(cli: Cli, project: Path) -> None:
    assert cli("capture", NODE, "--unit", UNIT).exit_code == 0
    run = cli("capture", NODE, "--unit", UNIT, "--name", "again")
    assert run.exit_code == 2
    assert f"state/{NAME}.yaml claims {UNIT} on {NODE} already" in run.stderr
