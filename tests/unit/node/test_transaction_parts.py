"""The parts of the node's transaction, each with real files in a folder."""

from __future__ import annotations

import base64
import json
import os
import shutil
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from stage_of_transactions import Stage

from knowngood.node.ground import Problem
from knowngood.node.transaction import attributes, clock, lock
from knowngood.node.transaction.bytecode_files import drop_bytecode
from knowngood.node.transaction.caches import check_cache, empty
from knowngood.node.transaction.collect import collect
from knowngood.node.transaction.durable import Mutex
from knowngood.node.transaction.generations import Generations
from knowngood.node.transaction.installed import install
from knowngood.node.transaction.journal import Journal
from knowngood.node.transaction.lock import Lock, NotYours
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.prepare import Mismatch
from knowngood.node.transaction.receipts import record
from knowngood.node.transaction.staging import need
from knowngood.node.transaction.store import Store
from knowngood.node.transaction.transaction import Transaction

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="files change owners: needs root")


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage(tmp_path)
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    return made


def activated(stage: Stage, files: dict[str, str | None], **more: Any) -> Journal:
    journal = stage.prepared(files, **more)
    Transaction(stage.home, journal.number).run()
    return journal


def confirmed(stage: Stage, files: dict[str, str | None], keep: int = 5, **more: Any) -> int:
    journal = activated(stage, files, **more)
    assert Transaction(stage.home, journal.number).confirm(keep), journal.read()
    return journal.number


DID_NOT_START = "decode.service did not start: failed (success)"


# --- Generations -------------------------------------------------------------------------------------------


def test_generation_0_is_what_was_found(stage: Stage) -> None:
    stage.write({"a": "found\n"})
    journal = stage.prepared({"a": "new\n", "b": "added\n"})
    found = stage.generation(0)
    assert (journal.number, journal.read()["former"], found["state"]) == (1, 0, "found")
    assert [entry["sha256"] is None for entry in found["entries"]] == [False, True]
    assert Store(stage.home).is_sound(found["entries"][0]["sha256"])


def test_the_present_generation_is_the_former_one_where_nobody_edited(stage: Stage) -> None:
    stage.write({"a": "found\n"})
    assert confirmed(stage, {"a": "1\n"}) == 1
    assert stage.prepared({"a": "2\n"}).read()["former"] == 1


def test_an_edit_by_hand_is_a_generation_of_its_own(stage: Stage) -> None:
    stage.write({"a": "found\n"})
    confirmed(stage, {"a": "1\n"})
    stage.write({"a": "by hand\n"})
    journal = activated(stage, {"a": "2\n"})
    assert (journal.number, journal.read()["former"], stage.generation(2)["origin"]) == (3, 2, "found")
    Transaction(stage.home, 3).turn_back("red", refuse=True)
    assert stage.seen() == {"a": "by hand\n"}


def test_another_content_than_the_asker_saw_writes_nothing(stage: Stage) -> None:
    stage.write({"a": "found\n", "b": "found\n"})
    with pytest.raises(Mismatch) as refused:
        stage.prepared(
            {"a": "1\n", "b": "1\n", "c": "1\n"}, entries={"b": {"expect": "0" * 64}, "c": {"expect": None}}
        )
    assert refused.value.more == {"paths": [stage.path("b")]}
    assert stage.seen() == {"a": "found\n", "b": "found\n"}
    assert Generations(stage.home).numbers() == []


def test_generations_and_contents_that_nobody_needs_go(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.write({"a": "found\n"})
    for text in "12345":
        confirmed(stage, {"a": text}, keep=2)
    assert Generations(stage.home).numbers() == [4, 5]
    assert len(Store(stage.home).names()) == 6, "fresh contents may be staged for somebody"
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 7200)
    collect(stage.home, 1)
    assert Generations(stage.home).numbers() == [4, 5], "the way back from the confirmed one stays"
    kept = {stage.generation(number)["entries"][0]["sha256"] for number in (4, 5)}
    assert set(Store(stage.home).names()) == kept


# --- Forward and back --------------------------------------------------------------------------------------


def test_a_change_is_told_to_systemd_once_and_restarts_once(stage: Stage) -> None:
    stage.write({"a": "found\n"})
    activated(stage, {"a": "new\n"}, options={"reload": True})
    assert len(stage.calls("daemon-reload")) == 1
    assert [call.split()[1] for call in stage.calls("decode.service") if "show" not in call] == [
        "reset-failed",
        "restart",
    ]


def test_the_switch_is_armed_before_the_first_live_change(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.write({"a": "found\n"})
    seen: list[str] = []
    real = os.rename

    def rename(source: Any, target: Any, **folders: Any) -> None:
        if folders:
            seen.extend(stage.calls("systemd-run"))
        real(source, target, **folders)

    monkeypatch.setattr(os, "rename", rename)
    activated(stage, {"a": "new\n"})
    assert len(seen) == 1
    assert "--unit=knowngood-revert-1.service" in seen[0]
    assert "AccuracySec=1s" in seen[0]
    assert "--on-active=60" in seen[0]


def test_a_start_that_fails_goes_back_and_blames_the_content(stage: Stage) -> None:
    stage.write({"a": "found\n"})
    (stage.folder / "refuse-start").write_text("")
    journal = activated(stage, {"a": "new\n"})
    told = journal.read()
    assert (told["state"], told["why"], stage.seen()) == (
        "restored",
        DID_NOT_START,
        {"a": "found\n"},
    )
    assert told["error"] == DID_NOT_START, "it did not start with the former content either"
    assert (stage.folder / "state/refused/c1.json").exists()


def test_a_hand_edit_after_staging_is_not_overwritten(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.write({"a": "found\n"})
    journal = stage.prepared({"a": "new\n"})
    stage.write({"a": "by hand\n"})
    Transaction(stage.home, journal.number).run()
    assert journal.read()["state"] == "failed"
    assert "changed meanwhile" in journal.read()["why"]
    assert stage.seen() == {"a": "by hand\n"}


def test_a_hand_edit_after_activation_goes_and_is_kept(stage: Stage) -> None:
    stage.write({"a": "found\n"})
    journal = activated(stage, {"a": "new\n"})
    stage.write({"a": "by hand\n"})
    Transaction(stage.home, journal.number).turn_back("red", refuse=True)
    assert stage.seen() == {"a": "found\n"}
    (overwrote,) = journal.read()["overwrote"]
    assert (stage.folder / "state/store/sha256" / overwrote["sha256"]).read_text() == "by hand\n"


def test_going_back_needs_no_space(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.write({"a": "found\n"})
    journal = activated(stage, {"a": "new\n"})
    inode = next(stage.live.glob(".knowngood-*.former")).stat().st_ino
    Store(stage.home).drop(stage.generation(0)["entries"][0]["sha256"])
    Transaction(stage.home, journal.number).turn_back("the disk is full", refuse=False)
    assert (stage.seen(), (stage.live / "a").stat().st_ino) == ({"a": "found\n"}, inode)
    assert (stage.live / "a").stat().st_mtime > time.time() - 60


def test_attributes_alone_change_in_place(stage: Stage) -> None:
    stage.write({"a": "same\n"})
    before = (stage.live / "a").stat()
    activated(stage, {"a": "same\n"}, entries={"a": {"mode": "0750", "owner": "daemon"}})
    after = (stage.live / "a").stat()
    assert (after.st_mode & 0o7777, after.st_uid) == (0o750, 1)
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    Transaction(stage.home, 1).turn_back("red", refuse=True)
    assert (stage.live / "a").stat().st_mode == before.st_mode


def test_a_new_file_has_another_mtime_than_the_one_it_replaces(stage: Stage) -> None:
    stage.write({"a.py": "X = 4\n"})
    before = int((stage.live / "a.py").stat().st_mtime)
    activated(stage, {"a.py": "X = 8\n"})
    assert int((stage.live / "a.py").stat().st_mtime) != before


def test_a_confirmed_one_is_never_undone(stage: Stage) -> None:
    stage.write({"a": "found\n"})
    number = confirmed(stage, {"a": "new\n"})
    assert not Transaction(stage.home, number).turn_back("too late", refuse=True)
    assert stage.seen() == {"a": "new\n"}


def test_one_that_turned_back_is_never_confirmed(stage: Stage) -> None:
    stage.write({"a": "found\n"})
    journal = activated(stage, {"a": "new\n"})
    Transaction(stage.home, journal.number).turn_back("red", refuse=True)
    assert not Transaction(stage.home, journal.number).confirm(5)


def test_the_switch_and_a_confirmation_never_both_win(stage: Stage) -> None:
    ends = set()
    for each in range(6):
        stage.write({"a": f"found {each}\n"})
        journal = activated(stage, {"a": f"new {each}\n"}, content=f"c{each}", options={"window_s": 0.0})
        sides = [os.fork() for _ in range(2)]
        if 0 in sides:
            _take_sides(stage, journal.number, confirms=sides[0] == 0)
        for pid in sides:
            os.waitpid(pid, 0)
        ends.add(journal.read()["state"])
        text = "found" if journal.read()["state"] == "restored" else "new"
        assert stage.seen()["a"] == f"{text} {each}\n"
    assert ends <= {"restored", "confirmed"}


def _take_sides(stage: Stage, number: int, confirms: bool) -> None:
    """In a process of its own: confirm, or undo as the switch does."""
    try:
        with Mutex(stage.home.transaction_mutex, 20):
            transaction = Transaction(stage.home, number)
            if confirms:
                transaction.confirm(5)
            else:
                transaction.turn_back("late", refuse=False, only_if_expired=True)
    finally:
        os._exit(0)


def test_a_deadline_that_was_moved_is_kept(stage: Stage) -> None:
    stage.write({"a": "found\n"})
    journal = activated(stage, {"a": "new\n"}, options={"window_s": 0.0})
    assert journal.extend(60)
    assert not Transaction(stage.home, journal.number).turn_back("late", refuse=True, only_if_expired=True)
    assert journal.read()["state"] == "active"


def test_secrets_stand_in_their_own_files_alone(stage: Stage) -> None:
    stage.write({"a": "found\n"})
    confirmed(stage, {"a": "1\n"}, secrets={"x.env": "TOKEN=first-secret\n"})
    activated(stage, {"a": "2\n"}, secrets={"x.env": "TOKEN=second-secret\n"})
    place = stage.folder / "state/secrets/x.env"
    assert (place.read_text(), place.stat().st_mode & 0o777) == ("TOKEN=second-secret\n", 0o600)
    Transaction(stage.home, 2).turn_back("red", refuse=True)
    assert place.read_text() == "TOKEN=first-secret\n"
    holders = [path for path in stage.folder.rglob("*") if path.is_file() and b"-secret" in path.read_bytes()]
    assert holders
    assert all("secrets" in path.parts for path in holders)


# --- Parts -------------------------------------------------------------------------------------------------


def test_an_acl_follows_the_mode_as_chmod_would_have_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    entries = [(1, 7, -1), (2, 6, 1), (4, 5, -1), (16, 7, -1), (32, 4, -1)]
    acl = struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, bits, who & 0xFFFFFFFF) for tag, bits, who in entries
    )
    os.setxattr(file, attributes.ACL, acl)
    handle = os.open(file, os.O_RDONLY)
    live = attributes.read(handle)
    wanted = attributes.wanted_of({"mode": "0640"}, live, True)
    attributes.apply(handle, wanted)
    assert attributes.read(handle) == wanted
    file.chmod(0o777)
    file.chmod(0o640)
    assert base64.b64encode(os.getxattr(file, attributes.ACL)).decode() == wanted["xattrs"][attributes.ACL]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/root",
        "/var/lib",
        "/etc/x/y",
        "/usr/lib/python3",
        "relative/x",
        "/a/../etc",
        "/home/someone",
        "/proc/1/x",
    ],
)
def test_folders_that_are_never_emptied(path: str) -> None:
    with pytest.raises(Problem, match="cache_dirs"):
        check_cache(path.encode(), [])


def test_a_cache_that_holds_a_managed_file_is_never_emptied(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="holds the managed file"):
        check_cache(os.fsencode(tmp_path), [os.fsencode(tmp_path / "deep/kernel.py")])


def test_emptying_stays_inside(tmp_path: Path) -> None:
    outside, cache = tmp_path / "outside", tmp_path / "cache"
    (outside / "precious").mkdir(parents=True)
    (cache / "a/b").mkdir(parents=True)
    (cache / "a/b/kernel.bin").write_text("x")
    (cache / "link").symlink_to(outside)
    (outside / "kept").write_text("x")
    os.link(outside / "kept", cache / "hard")
    assert empty(os.fsencode(cache)) >= 4
    assert list(cache.iterdir()) == []
    assert (outside / "precious").is_dir()
    assert (outside / "kept").read_text() == "x"
    (tmp_path / "alias").symlink_to(cache)
    with pytest.raises(Problem, match="symlink"):
        check_cache(os.fsencode(tmp_path / "alias"), [])
    with pytest.raises(OSError):
        empty(os.fsencode(tmp_path / "alias"))


def test_bytecode_of_one_source_goes(tmp_path: Path) -> None:
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    for name in (
        "k.cpython-311.pyc",
        "k.cpython-311.opt-1.pyc",
        "k2.cpython-311.pyc",
        "k.cpython-311.pyc.123",
    ):
        (cache / name).write_text("")
    (tmp_path / "k.pyc").write_text("")
    assert len(drop_bytecode(os.fsencode(tmp_path / "k.py"))) == 3
    assert sorted(path.name for path in cache.iterdir()) == ["k.cpython-311.pyc.123", "k2.cpython-311.pyc"]


def test_a_blob_is_never_trusted_unread(stage: Stage) -> None:
    sha256 = stage.kept("good\n")
    store = Store(stage.home)
    Path(os.fsdecode(store.path(sha256))).write_text("evil\n")
    assert not store.is_sound(sha256)
    told = need(stage.home, [{"sha256": sha256, "size": 5}], [{"path": stage.path("a"), "size": 5}])
    assert told["missing"] == [sha256]
    with pytest.raises(Problem, match="stage it first"):
        stage.prepared({"a": None}, entries={"a": {"sha256": sha256}})


def test_an_upload_that_was_damaged_is_not_kept(stage: Stage) -> None:
    (stage.folder / "state/store/incoming/up").write_text("damaged")
    with pytest.raises(Problem, match="damaged on its way"):
        Store(stage.home).keep("up", "0" * 64)
    assert list((stage.folder / "state/store/incoming").iterdir()) == []


def test_no_room_is_said_before_anything_is_sent(stage: Stage) -> None:
    with pytest.raises(Problem, match="no room at"):
        need(stage.home, [{"sha256": "0" * 64, "size": 1 << 60}], [])


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("relative", "plain absolute path"),
        ("/a/../b", "plain absolute path"),
        ("/proc/sys/x", "no place"),
        ("STATE/current", "no place"),
    ],
)
def test_paths_that_are_no_place_for_a_file(stage: Stage, path: str, reason: str) -> None:
    asked = path.replace("STATE", str(stage.folder / "state"))
    with pytest.raises(Problem, match=reason):
        stage.prepared({"a": None}, entries={"a": {"path": asked}})


def test_a_receipt_tells_what_lay_on_disk(stage: Stage) -> None:
    stage.write({"a": "found\n"})
    confirmed(stage, {"a": "new\n"})
    for each in range(7):
        record(stage.home, "decode.service", f"{each:032x}")
    folder = stage.folder / "state/receipts/decode.service"
    assert len(list(folder.glob("*.json"))) == 5
    stat = (stage.live / "a").stat()
    told = json.loads((folder / f"{6:032x}.json").read_text())["files"][stage.path("a")]
    assert (told["ctime_ns"], told["mtime_ns"], told["size"]) == (stat.st_ctime_ns, stat.st_mtime_ns, 4)


def test_a_receipt_never_holds_up_a_start(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowngood.node.transaction.receipts._SECONDS", 0.2)
    monkeypatch.setattr("knowngood.node.transaction.receipts._write", lambda *_: time.sleep(3))
    began = time.monotonic()
    record(stage.home, "decode.service", "a" * 32)
    assert time.monotonic() - began < 2


def test_the_boot_unit_comes_before_what_is_managed(stage: Stage, tmp_path: Path) -> None:
    units = tmp_path / "units"
    units.mkdir()
    program = stage.folder / "state/bin/node-0123.pyz"
    program.write_text("")
    assert install(stage.home, str(program), "decode.service", ["/srv/a b%/x"], os.fsencode(units))
    assert not install(stage.home, str(program), "decode.service", ["/srv/a b%/x"], os.fsencode(units))
    text = (units / "knowngood-boot.service").read_text()
    assert "Before=shutdown.target decode.service\n" in text
    assert '"/srv/a b%%"' in text
    assert (units / "multi-user.target.wants/knowngood-boot.service").is_symlink()
    assert str((stage.folder / "state/bin/node.pyz").readlink()) == "node-0123.pyz"
    if shutil.which("systemd-analyze"):
        done = subprocess.run(
            ["systemd-analyze", "verify", units / "knowngood-boot.service"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "knowngood-boot" not in done.stderr, done.stderr


# --- Clock and lock ----------------------------------------------------------------------------------------


def test_within_a_boot_no_jump_of_the_clock_moves_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    until = clock.deadline(60)
    for jump in (-(10**9), 10**9):
        with monkeypatch.context() as patch:
            real = time.time
            patch.setattr(time, "time", lambda jump=jump, real=real: real() + jump)
            assert 59 < clock.left(until) <= 60


def test_after_a_reboot_a_wrong_clock_never_lengthens_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    until = clock.deadline(60)
    monkeypatch.setattr(clock, "boot_id", lambda: "another")
    assert 59 < clock.left(until) <= 60
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert clock.left(until) == 60
    monkeypatch.setattr(time, "time", lambda: 2e10)
    assert clock.left(until) < 0


ME = {"user": "me", "host": "here", "boot_id": "elsewhere", "pid": 1, "start_ticks": 1}


def taken(home: Home, token: str, **more: Any) -> dict[str, Any] | None:
    return Lock(home).take({"token": token * 16, "holder": ME, "purpose": "apply", "lease_s": 60} | more)


def test_the_second_learns_who_holds_the_lock(stage: Stage) -> None:
    assert taken(stage.home, "a") is None
    assert taken(stage.home, "a") is None, "it is its own"
    held = taken(stage.home, "b", take_over=True)
    assert held is not None
    assert (held["user"], held["purpose"], held["dead"]) == ("me", "apply", False)
    with pytest.raises(NotYours, match="locked by me on here"):
        Lock(stage.home).check("b" * 16)
    assert "a" * 16 not in (stage.folder / "state/lock/holder").read_text()


def test_a_lease_that_ran_out_is_taken_over_on_request(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    taken(stage.home, "a", lease_s=1)
    real = clock.boot_seconds
    monkeypatch.setattr(clock, "boot_seconds", lambda: real() + 2)
    assert taken(stage.home, "b") is not None
    assert taken(stage.home, "b", take_over=True) is None


def test_a_holder_on_this_machine_is_dead_when_its_process_is(stage: Stage) -> None:
    process = subprocess.Popen(["sleep", "60"])
    here = ME | {"boot_id": clock.boot_id(), "pid": process.pid, "start_ticks": lock.start_ticks(process.pid)}
    taken(stage.home, "a", holder=here)
    assert taken(stage.home, "b", take_over=True) is not None
    process.kill()
    process.wait()
    assert taken(stage.home, "b", take_over=True) is None


def test_only_the_very_holder_that_was_seen_is_taken_over(stage: Stage) -> None:
    taken(stage.home, "a")
    held = taken(stage.home, "b")
    assert held is not None
    assert taken(stage.home, "c", take_over=held["id"]) is None
    assert taken(stage.home, "b", take_over=held["id"]) is not None
    assert Lock(stage.home).release(None, force=True)
