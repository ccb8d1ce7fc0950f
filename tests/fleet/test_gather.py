"""Gathering from real sshds on loopback: answers, and every way in which a node can fail to give one."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .addresses import free_block
from .loopback import ME, PORT, SSHD, Site, site

pytestmark = [
    pytest.mark.fleet,
    pytest.mark.skipif(not Path(SSHD).exists(), reason="no sshd here (apt-get install openssh-server)"),
]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("loopback")
    with site(folder, free_block(())) as made:
        yield made


@pytest.fixture(scope="module")
def node(here: Site) -> str:
    return here.sshd()[0]


def entry(address: str, public_key: Path) -> str:
    return f"[{address}]:{PORT} {' '.join(Path(f'{public_key}.pub').read_text().split()[:2])}\n"


def test_an_answer_comes_as_the_bytes_that_were_printed(here: Site, node: str) -> None:
    inventory = here.inventory("here = ['@local']\n", hosts=[node])
    program = r"import sys; sys.stdout.buffer.write(b'\xff\x00\r\n\x1b[31m\xc3(')"
    run = here.gather(inventory, program)
    assert run[node] == run["@local"] == b"\xff\x00\r\n\x1b[31m\xc3("
    assert run.stderr == ""


def test_the_program_runs_isolated_and_reads_its_own_text_from_stdin(here: Site, node: str) -> None:
    program = "import sys; print(sys.flags.isolated, sys.flags.no_site, sys.argv, repr(sys.stdin.read()))"
    run = here.gather(here.inventory(hosts=[node]), program)
    assert run[node] == b"1 1 ['-'] ''\n"


def test_one_connection_and_one_command_a_node(here: Site) -> None:
    (address,) = here.sshd(more="LogLevel VERBOSE")
    log = here.folder / "sshd.log"
    before = log.read_text()
    here.gather(here.inventory(hosts=[address]))
    after = log.read_text()[len(before) :]
    assert after.count("Accepted publickey") == 1, after
    assert after.count("Starting session") == 1, after


def test_a_python_elsewhere(here: Site, node: str, tmp_path: Path) -> None:
    odd = tmp_path / "a python's"
    odd.symlink_to("/usr/bin/python3")
    run = here.gather(here.inventory(hosts=[node], knowngood_python=str(odd)))
    assert run[node] == b"here\n"


FAKE_DOCKER = r"""#!/bin/sh
echo "$1" >> "$0.log"
case "$1" in
  container) echo "no such container" >&2; exit 1;;
  run) printf 'pulling\n0123456789abcdef\n';;
  exec) shift 2; [ "$1" = 0123456789abcdef ] || exit 9; shift; exec "$@";;
  commit) echo sha256:0123456789abcdef;;
esac
"""


def test_other_connectors_of_pyinfra(here: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    docker = here.folder / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(FAKE_DOCKER)
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{docker.parent}:{os.environ['PATH']}")
    hosts = ["@docker/debian:12", *(["@chroot//"] if os.getuid() == 0 else [])]
    run = here.gather(here.inventory(hosts=hosts), r"import os; os.write(1, b'\xff\n')")
    assert run.answers == dict.fromkeys(hosts, b"\xff\n")
    assert Path(f"{docker}.log").read_text().split() == ["container", "run", "exec", "commit", "rm"]


# --- Failures, each with its reason and within its deadline ------------------------------------------------


def test_a_node_without_python(here: Site, node: str) -> None:
    run = here.gather(here.inventory(hosts=[node], knowngood_python="/opt/no python"), "x = 1\n" * 40_000)
    assert run[node] == (
        "incomplete",
        "no python3: not found (the host data knowngood_python can set its path)",
    )


def test_a_program_that_fails(here: Site, node: str) -> None:
    run = here.gather(here.inventory(hosts=[node]), "raise SystemExit('no \x1b[31mluck\\nat \\x07all')")
    assert run[node] == ("incomplete", "python3 exited 1: at \\x07all")


def test_a_program_that_is_killed(here: Site, node: str) -> None:
    run = here.gather(here.inventory(hosts=[node]), "import os; os.kill(os.getpid(), 9)")
    assert isinstance(run[node], tuple)
    assert run[node][0] == "incomplete"


def test_a_node_that_is_down(here: Site) -> None:
    address = here.address()
    run = here.gather(here.inventory(hosts=[address]))
    assert run[address] == ("unreachable", "ssh: connection refused")


def test_a_name_that_does_not_resolve(here: Site) -> None:
    run = here.gather(here.inventory(hosts=["nobody.invalid"]))
    assert run["nobody.invalid"] == ("unreachable", "name does not resolve")


def test_a_key_that_is_refused(here: Site, node: str) -> None:
    stranger = here.folder / "stranger"
    if not stranger.exists():
        here.new_key("stranger")
    run = here.gather(here.inventory(hosts=[node], ssh_key=str(stranger)))
    assert run[node] == ("unreachable", f"ssh: key refused for user {ME}")


def test_no_key_at_all(here: Site, node: str) -> None:
    inventory = here.inventory(f"bare = [({node!r}, {{'ssh_allow_agent': False}})]\n")
    inventory.write_text(inventory.read_text().replace(f"'ssh_key': '{here.key}', ", ""))
    inventory.write_text(inventory.read_text() + f"bare = ([{node!r}], SITE)\n")
    run = here.gather(inventory)
    assert run[node] == ("unreachable", "ssh: no key to offer")


def test_an_encrypted_key_is_never_asked_for(here: Site, node: str) -> None:
    locked = here.new_key("locked", passphrase="a secret passphrase")
    authorized = here.folder / "authorized_keys"
    authorized.write_text(authorized.read_text() + Path(f"{locked}.pub").read_text())
    run = here.gather(here.inventory(hosts=[node], ssh_key=str(locked)))
    encrypted = "ssh: the private key is encrypted; set ssh_key_password, or use an agent"
    assert run[node] == ("unreachable", encrypted)
    unlocked = here.inventory(hosts=[node], ssh_key=str(locked), ssh_key_password="a secret passphrase")
    assert here.gather(unlocked)[node] == b"here\n"
    wrong = here.inventory(hosts=[node], ssh_key=str(locked), ssh_key_password="wrong")
    run = here.gather(wrong)
    assert isinstance(run[node], tuple)
    assert "wrong" not in run.stdout + run.stderr


def test_a_host_key_that_changed(here: Site, node: str, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    other = here.new_key("other_hostkey")
    filler = "@cert-authority *.example.com ssh-rsa not-base64!\ngarbage\n"
    known.write_text(filler + entry(node, other))
    for strictness in ("yes", "accept-new", "no"):
        inventory = here.inventory(
            hosts=[node], ssh_known_hosts_file=str(known), ssh_strict_host_key_checking=strictness
        )
        run = here.gather(inventory)
        kind, reason = run[node]
        assert kind == "unreachable"
        assert str(reason).startswith("ssh: host key changed (expected ssh-ed25519 SHA256:"), reason
    known.write_text(filler + entry(node, other) + entry(node, here.host_key))
    assert here.gather(here.inventory(hosts=[node], ssh_known_hosts_file=str(known)))[node] == b"here\n"


def test_an_unknown_host_key(here: Site, node: str, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    strict = here.inventory(hosts=[node], ssh_known_hosts_file=str(known), ssh_strict_host_key_checking="yes")
    kind, reason = here.gather(strict)[node]
    assert kind == "unreachable"
    assert str(reason).startswith("ssh: host key not known (ssh-ed25519 SHA256:"), reason
    assert not known.exists()

    never = here.inventory(hosts=[node], ssh_known_hosts_file=str(known), ssh_strict_host_key_checking="no")
    assert here.gather(never)[node] == b"here\n"
    assert not known.exists()

    known.write_text("# no end of line")
    assert here.gather(here.inventory(hosts=[node], ssh_known_hosts_file=str(known)))[node] == b"here\n"
    assert known.read_text() == "# no end of line\n" + entry(node, here.host_key)
    assert here.gather(strict)[node] == b"here\n"


def test_a_revoked_host_key(here: Site, node: str, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    known.write_text("@revoked * " + entry(node, here.host_key).split(" ", 1)[1])
    kind, reason = here.gather(here.inventory(hosts=[node], ssh_known_hosts_file=str(known)))[node]
    assert kind == "unreachable"
    assert str(reason).startswith("ssh: host key is revoked"), reason


def test_nodes_that_hang_or_talk_nonsense_hold_up_nobody(here: Site) -> None:
    good = here.sshd(addresses=4)
    (frozen,) = here.sshd()
    (floods, floods_stderr, stopped, half, nonsense) = here.sshd(addresses=5)
    here.stop(frozen)
    silent = here.impostor(lambda connection: time.sleep(60))
    web = here.impostor(lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9))
    babble = here.impostor(lambda connection: [connection.sendall(b"\xff" * 4096) for _ in range(1 << 20)])
    closed = here.impostor(lambda connection: connection.close())
    stalled = here.impostor(lambda c: (c.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"), time.sleep(60)))
    stop_sshd = "import os, signal, time; os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)"
    programs = {
        floods: "import sys\nwhile True: sys.stdout.write('x' * 65536)",
        floods_stderr: "import sys\nwhile True: sys.stderr.write('x' * 65536)",
        stopped: stop_sshd,
        half: "import time; print('{', flush=True); time.sleep(60)",
        nonsense: "import os; os.write(1, os.urandom(100_000))",
    }
    hosts = [*good, frozen, *programs, silent, web, babble, closed, stalled]
    run = here.gather(here.inventory(hosts=hosts), programs=programs, connect_timeout=6, timeout=12)

    assert [run[host] for host in good] == [b"here\n"] * 4
    assert max(run.at[host] for host in good) < 6
    no_answer = ("unreachable", "ssh: no answer in 6 s")
    assert run[frozen] == run[silent] == run[stalled] == no_answer
    assert run[stopped] == ("unreachable", "answered nothing within 12 s")
    assert run[half] == ("incomplete", "had not finished its answer after 12 s")
    assert run[floods] == run[floods_stderr] == ("incomplete", "more than 8 MB of output")
    assert isinstance(run[nonsense], bytes)
    assert len(run[nonsense]) == 100_000
    assert run[web] == run[babble] == ("unreachable", "ssh: the node's answer is not ssh")
    assert run[closed][0] == "unreachable"
    assert max(run.at.values()) < 15
    assert run.stderr == ""
    assert run.peak_mb < 160


def test_ctrl_c_ends_it_at_once(here: Site) -> None:
    silent = here.impostor(lambda connection: time.sleep(60))
    (slow,) = here.sshd()
    hosts = [silent, slow, "@local"]
    sleep = "import time; time.sleep(50)"
    run = here.gather(here.inventory(hosts=hosts), sleep, timeout=60, connect_timeout=60, interrupt_after=2)
    assert run.exit_code == 130
    assert run.stderr == ""
    assert run.answers == {}
    assert run.after_interrupt < 5


# --- ~/.ssh/config -----------------------------------------------------------------------------------------


def test_ssh_config_gives_address_user_port_key_and_strictness(here: Site, node: str) -> None:
    config = here.folder / "ssh_config"
    config.write_text(
        f"Host alias\n HostName {node}\n Port {PORT}\n User {ME}\n IdentityFile {here.key}\n"
        f" UserKnownHostsFile {here.folder}/none_known\n StrictHostKeyChecking yes\n"
    )
    inventory = here.folder / "by_config.py"
    inventory.write_text(f"alias = (['alias'], {{'ssh_config_file': {str(config)!r}}})\n")
    kind, reason = here.gather(inventory)["alias"]
    assert kind == "unreachable"
    assert str(reason).startswith("ssh: host key not known"), reason

    config.write_text(config.read_text().replace("none_known", "known_by_config"))
    (here.folder / "known_by_config").write_text(entry(node, here.host_key))
    assert here.gather(inventory)["alias"] == b"here\n"


@pytest.fixture(scope="module")
def jump(here: Site) -> tuple[str, Path]:
    """A jump host, and a ssh_config by which every `behind-*` is reached through it."""
    (address,) = here.sshd(more="MaxStartups 2\nLogLevel VERBOSE")
    config = here.folder / "jump_config"
    here.known_hosts.touch()
    config.write_text(
        f"Host *\n User {ME}\n IdentityFile {here.key}\n Port {PORT}\n"
        f" UserKnownHostsFile {here.folder}/jump_known\n"
        f"Host {address}\n StrictHostKeyChecking ask\n"
        f"Host behind-*\n ProxyJump {address}\n"
    )
    return address, config


def behind(here: Site, jump: tuple[str, Path], addresses: list[str]) -> Path:
    inventory = here.folder / "by_jump.py"
    hosts = [(f"behind-{n}", {"ssh_hostname": address}) for n, address in enumerate(addresses)]
    config = jump[1].read_text().split("# nodes")[0]
    nodes = "".join(f"Host behind-{n}\n HostName {address}\n" for n, address in enumerate(addresses))
    jump[1].write_text(f"{config}# nodes\n{nodes}")
    names = [name for name, _ in hosts]
    inventory.write_text(f"behind = ({names!r}, {{'ssh_config_file': {str(jump[1])!r}}})\n")
    return inventory


def test_a_jump_host_whose_key_is_unknown_is_no_prompt(here: Site, node: str, jump: tuple[str, Path]) -> None:
    inventory = behind(here, jump, [node])
    (here.folder / "jump_known").unlink(missing_ok=True)
    kind, reason = here.gather(inventory)["behind-0"]
    assert kind == "unreachable"
    assert str(reason).startswith(f"jump host {jump[0]}: ssh: host key not known"), reason


def test_nodes_behind_a_jump_host_share_one_login_to_it(here: Site, jump: tuple[str, Path]) -> None:
    nodes = here.sshd(addresses=12)
    (here.folder / "jump_known").write_text(entry(jump[0], here.host_key))
    log = here.folder / "sshd.log"
    before = len(log.read_text())
    run = here.gather(behind(here, jump, [*nodes, here.address()]))
    assert [run[f"behind-{n}"] for n in range(12)] == [b"here\n"] * 12
    assert run["behind-12"][0] == "unreachable"
    assert log.read_text()[before:].count(f" on {jump[0]} port {PORT}") == 1


def test_a_jump_host_that_is_down_is_named(here: Site, node: str, jump: tuple[str, Path]) -> None:
    config = jump[1].read_text()
    dead = here.address()
    inventory = behind(here, jump, [node])
    jump[1].write_text(jump[1].read_text().replace(f"ProxyJump {jump[0]}", f"ProxyJump {dead}"))
    run = here.gather(inventory)
    jump[1].write_text(config)
    assert run["behind-0"] == ("unreachable", f"jump host {dead}: ssh: connection refused")


def test_a_connection_lost_while_asking(here: Site, node: str) -> None:
    die = "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(20)"
    run = here.gather(here.inventory(hosts=[node]), die)
    assert run[node] == ("unreachable", "connection lost")


def test_more_nodes_than_files_may_be_open(here: Site) -> None:
    hosts = here.sshd(addresses=16)
    run = here.gather(here.inventory(hosts=hosts), open_files=140)
    assert set(run.answers.values()) == {b"here\n"}


def test_a_proxy_command(here: Site, node: str) -> None:
    relay = here.folder / "relay.py"
    relay.write_text(RELAY)
    config = here.folder / "proxy_config"
    config.write_text(
        f"Host odd\n User {ME}\n IdentityFile {here.key}\n UserKnownHostsFile {here.folder}/proxy_known\n"
        f" ProxyCommand {sys.executable} {relay} {node} {PORT}\n"
    )
    inventory = here.folder / "by_proxy.py"
    inventory.write_text(f"odd = (['odd'], {{'ssh_config_file': {str(config)!r}}})\n")
    assert here.gather(inventory)["odd"] == b"here\n"


RELAY = """
import os, select, socket, sys
node = socket.create_connection((sys.argv[1], int(sys.argv[2])))
while True:
    ready, _, _ = select.select([0, node], [], [])
    if 0 in ready:
        data = os.read(0, 65536)
        if not data:
            break
        node.sendall(data)
    if node in ready:
        data = node.recv(65536)
        if not data:
            break
        os.write(1, data)
"""


def test_host_data_of_a_wrong_kind_is_told_before_anything_is_contacted(here: Site, node: str) -> None:
    inventory = here.inventory(hosts=[node], ssh_port="2222")
    run = here.gather(inventory)
    assert run.answers == {}
    assert f"InventoryError: {inventory}: Invalid connector data `ssh_port`" in run.stderr


# --- Becoming another user ---------------------------------------------------------------------------------

PASSWORD = 'it\'s a $ecret "pass\\word"'
# As root: who runs this, whether the password shows in any process's command line or environment, and
# whether pyinfra's script that would print it lies about.
WHO_AND_LEAKS = f"""
import glob, os
word = {PASSWORD!r}.encode()
leaks = []
for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ"):
    try:
        text = open(path, "rb").read()
    except OSError:
        continue
    if word[:9] in text:
        leaks.append(path)
print(os.getuid(), leaks, glob.glob("/tmp/pyinfra-sudo-askpass*"))
"""


@pytest.fixture(scope="module")
def person(here: Site) -> Iterator[str]:
    """An account that may log in with this site's key; removed at the end."""
    if os.getuid() != 0 or not shutil.which("sudo") or not shutil.which("useradd"):
        pytest.skip("needs root, sudo and useradd, to make an account for a while")
    name = f"kg{os.getpid()}"
    subprocess.run(["useradd", "--create-home", "--shell", "/bin/sh", name], check=True)
    try:
        subprocess.run(["chpasswd"], input=f"{name}:{PASSWORD}\n", text=True, check=True)
        folder = Path(f"/home/{name}/.ssh")
        folder.mkdir(mode=0o755)
        shutil.copy(f"{here.key}.pub", folder / "authorized_keys")
        yield name
    finally:
        sudoers(name, "")
        subprocess.run(["userdel", "--remove", "--force", name], check=True, capture_output=True)


def sudoers(name: str, rule: str) -> None:
    path = Path(f"/etc/sudoers.d/{name}")
    path.unlink(missing_ok=True)
    if rule:
        path.touch(mode=0o440)
        path.write_text(f"Defaults:{name} lecture=always\n{name} ALL=(ALL:ALL) {rule}\n")


@pytest.fixture(scope="module")
def personal(here: Site, person: str) -> str:
    return here.sshd(more="AuthorizedKeysFile .ssh/authorized_keys")[0]


def as_root(here: Site, host: str, person: str, **data: object) -> object:
    inventory = here.inventory(hosts=[host], ssh_user=person, **data)
    run = here.gather(inventory, WHO_AND_LEAKS)
    assert "ecret" not in run.stdout + run.stderr
    return run[host]


def test_sudo_without_a_password(here: Site, personal: str, person: str) -> None:
    sudoers(person, "NOPASSWD: ALL")
    assert as_root(here, personal, person, _sudo=True) == b"0 [] []\n"
    # A password that nobody asks for is no part of the program.
    assert as_root(here, personal, person, _sudo=True, _sudo_password=PASSWORD) == b"0 [] []\n"


def test_sudo_with_a_password_that_no_process_list_shows(here: Site, personal: str, person: str) -> None:
    sudoers(person, "ALL")
    data = {"_sudo": True, "_sudo_password": PASSWORD}
    assert as_root(here, personal, person, **data) == b"0 [] []\n"
    assert as_root(here, personal, person, **data, _use_sudo_login=True) == b"0 [] []\n"
    uid = f"{pwd.getpwnam(person).pw_uid} [] []\n".encode()
    assert as_root(here, personal, person, **data, _sudo_user=person) == uid


def test_sudo_that_needs_a_password_and_gets_none_or_a_wrong_one(
    here: Site, personal: str, person: str
) -> None:
    sudoers(person, "ALL")
    needed = ("incomplete", "sudo: a password is required")
    assert as_root(here, personal, person, _sudo=True) == needed
    wrong = as_root(here, personal, person, _sudo=True, _sudo_password="not the $ecret")
    assert wrong == ("incomplete", "sudo: 3 incorrect password attempts")


def test_sudo_that_is_not_allowed(here: Site, personal: str, person: str) -> None:
    sudoers(person, "")
    refused = as_root(here, personal, person, _sudo=True, _sudo_password=PASSWORD)
    assert isinstance(refused, tuple)
    assert refused[0] == "incomplete"
    assert "sudoers" in refused[1]


def test_su_with_a_password(here: Site, personal: str, person: str) -> None:
    data = {"_su_user": person, "_su_password": PASSWORD}
    uid = f"{pwd.getpwnam(person).pw_uid} [] []\n".encode()
    assert as_root(here, personal, person, **data) == uid
    failed = as_root(here, personal, person, **{**data, "_su_password": "not the $ecret"})
    assert failed == ("incomplete", "su: Authentication failure")


@pytest.mark.slow
def test_two_hundred_nodes(here: Site, person: str, tmp_path: Path) -> None:
    # An account whose shell is sh: a root's .bashrc can cost more than all the rest.
    own_keys = "AuthorizedKeysFile .ssh/authorized_keys"
    with site(tmp_path, free_block(())) as crowd:
        hosts = [address for _ in range(13) for address in crowd.sshd(addresses=16, more=own_keys)][:200]
        run = here.gather(here.inventory(hosts=hosts, ssh_user=person), connect_timeout=60, timeout=120)
    assert set(run.answers) == set(hosts)
    assert set(run.answers.values()) == {b"here\n"}
    assert run.peak_mb < 120
