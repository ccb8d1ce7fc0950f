"""A transaction cut off before any of its operations ends with the new set or the former, never a mix.

By default a few operations of each are tried; with KNOWNGOOD_SOAK set, every one (ten minutes).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stage_of_transactions import Stage, run_until

from knowngood.node.transaction import clock
from knowngood.node.transaction.journal import Journal
from knowngood.node.transaction.recovery import recover_after_boot
from knowngood.node.transaction.transaction import Transaction

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="files change owners: needs root"),
]

OLD = {"serve.sh": "export KNOB=1\n", "kernel.py": "X = 1\n", "gone.conf": "old\n", "mode.sh": "same\n"}
NEW: dict[str, str | None] = {
    "serve.sh": "export KNOB=2\n",
    "kernel.py": "X = 2\n",
    "gone.conf": None,
    "mode.sh": "same\n",
    "unit.d/zz-knowngood.conf": "[Service]\n",
}
AFTER = {name: text for name, text in NEW.items() if text is not None}


def stage_in(folder: Path) -> tuple[Stage, Journal]:
    stage = Stage(folder)
    stage.write(OLD | {"__pycache__/kernel.cpython-311.pyc": "stale", "cache/a/b/kernel.bin": "compiled"})
    stage.started_with_these()
    environ = stage.environ
    os.environ.update(environ)
    modes = {"mode.sh": {"mode": "0750", "owner": "daemon"}}
    journal = stage.prepared(NEW, entries=modes, cache_dirs=[stage.path("cache")])
    return stage, journal


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], tuple[Stage, Journal]]:
    """A stage on which a transaction waits to be run, as often as it is asked for."""
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.setenv("STAGE", "")
    made: list[Path] = []

    def make() -> tuple[Stage, Journal]:
        for folder in made:
            shutil.rmtree(folder)
        made[:] = [tmp_path / "node"]
        made[0].mkdir()
        return stage_in(made[0])

    return make


def loaded(stage: Stage) -> dict[str, str]:
    """What the process has; servers pass over what we lay aside."""
    return {name: text for name, text in stage.seen("loaded").items() if ".knowngood-" not in name}


def assert_new(stage: Stage) -> None:
    assert stage.seen() == AFTER
    assert loaded(stage) == AFTER, "the process runs with something else"
    assert attributes(stage) == (0o750, 1)
    assert stage.role()["generation"] == 1


def attributes(stage: Stage) -> tuple[int, int]:
    """Mode and owner of the file in which nothing else changes."""
    found = (stage.live / "mode.sh").stat()
    return found.st_mode & 0o7777, found.st_uid


def assert_old(stage: Stage) -> None:
    seen = {
        name: text for name, text in stage.seen().items() if not name.startswith(("__pycache__", "cache"))
    }
    assert seen == OLD
    assert attributes(stage) == (0o644, 0)
    assert not (stage.live / "unit.d").exists()
    process = {
        name: text for name, text in loaded(stage).items() if not name.startswith(("__pycache__", "cache"))
    }
    assert process == OLD, "the process runs with something else"


def test_uncut_it_is_active_with_the_new_set(prepared: Callable[[], tuple[Stage, Journal]]) -> None:
    stage, journal = prepared()
    assert run_until(0, Transaction(stage.home, 1).run, stage.environ) > 80
    assert journal.read()["state"] == "active"
    assert_new_with_aside(stage)
    Transaction(stage.home, 1).confirm(5)
    assert_new(stage)


def assert_new_with_aside(stage: Stage) -> None:
    """Until it is confirmed, what was replaced lies within reach."""
    seen = {name: text for name, text in stage.seen().items() if not name.endswith(".former")}
    assert seen == AFTER
    assert len(stage.seen()) == len(AFTER) + 3


def cuts(stage: Stage, work: Callable[[], Any]) -> range:
    """The operations to be tried, by number."""
    count = run_until(0, work, stage.environ)
    return range(1, count + 1, 1 if os.environ.get("KNOWNGOOD_SOAK") else max(1, count // 6))


def test_cut_off_and_started_again_it_is_active(prepared: Callable[[], tuple[Stage, Journal]]) -> None:
    stage, _ = prepared()
    for at in cuts(stage, Transaction(stage.home, 1).run):
        stage, journal = prepared()
        run_until(at, Transaction(stage.home, 1).run, stage.environ)
        Transaction(stage.home, 1).run()
        assert journal.read()["state"] == "active", at
        assert Transaction(stage.home, 1).confirm(5), at
        assert_new(stage)


def test_cut_off_by_a_power_cut_the_former_set_comes_back(
    prepared: Callable[[], tuple[Stage, Journal]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, _ = prepared()
    for at in cuts(stage, Transaction(stage.home, 1).run):
        stage, journal = prepared()
        run_until(at, Transaction(stage.home, 1).run, stage.environ)
        with monkeypatch.context() as patch:
            patch.setattr(clock, "boot_id", lambda: "another boot")
            (stage.folder / "active").write_text("inactive\n")
            recover_after_boot(stage.home)
            boot(stage)
            if journal.read()["state"] == "active":  # cut off after its last step
                assert Transaction(stage.home, 1).confirm(5)
                assert_new(stage)
            else:
                assert journal.read()["state"] in ("restored", "failed"), at
                assert_old(stage)
                assert stage.role().get("generation", 0) == 0


def boot(stage: Stage) -> None:
    """The service starts with what lies on disk, as after any boot."""
    stage.started_with_these()
    (stage.folder / "active").write_text("active\n")


def test_undoing_that_is_cut_off_goes_on(prepared: Callable[[], tuple[Stage, Journal]]) -> None:
    def half_way() -> tuple[Stage, Journal]:
        stage, journal = prepared()
        Transaction(stage.home, 1).run()
        return stage, journal

    def undo(stage: Stage) -> Callable[[], Any]:
        return lambda: Transaction(stage.home, 1).turn_back("a red gate", refuse=True)

    stage, _ = half_way()
    for at in cuts(stage, undo(stage)):
        stage, journal = half_way()
        run_until(at, undo(stage), stage.environ)
        undo(stage)()  # the switch fires, or the next operator comes
        if journal.read()["state"] == "restoring":
            Transaction(stage.home, 1).run()
        assert journal.read()["state"] == "restored", at
        assert_old(stage)


def test_a_confirmation_that_is_cut_off_holds_or_can_still_be_undone(
    prepared: Callable[[], tuple[Stage, Journal]],
) -> None:
    def active() -> tuple[Stage, Journal]:
        stage, journal = prepared()
        Transaction(stage.home, 1).run()
        return stage, journal

    def confirm(stage: Stage) -> Callable[[], Any]:
        return lambda: Transaction(stage.home, 1).confirm(5)

    stage, _ = active()
    for at in cuts(stage, confirm(stage)):
        stage, journal = active()
        run_until(at, confirm(stage), stage.environ)
        confirmed = journal.read()["state"] == "confirmed"
        undone = Transaction(stage.home, 1).turn_back("nobody confirmed it", refuse=False)
        assert undone != confirmed, at
        if confirmed:
            recover_after_boot(stage.home)
            assert_new(stage)
            assert stage.role()["confirmed"] == 1
        else:
            assert_old(stage)
