"""A transaction from its journal: forward until it waits for its confirmation, or back to the former set.

All of it happens under the transaction's mutex, and can be cut off anywhere.
"""

from knowngood.node.ground import Problem
from knowngood.node.transaction import switch
from knowngood.node.transaction.bring import Bringing
from knowngood.node.transaction.clock import left
from knowngood.node.transaction.collect import collect
from knowngood.node.transaction.contents import Contents
from knowngood.node.transaction.files import Files, remove_folders
from knowngood.node.transaction.generations import Current, Generations, Refused
from knowngood.node.transaction.journal import NOTHING_LIVE, OPEN, Journal
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.reasons import why as reason_of
from knowngood.node.transaction.running import RESTARTS, check_no_worse, go_back, go_on
from knowngood.node.transaction.unit import Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ATTEMPTS = 3


class Transaction:
    """One transaction. `switch_fired`: this process is what the dead man's switch started."""

    def __init__(self, home: Home, number: int, switch_fired: bool = False, booting: bool = False) -> None:
        self._home = home
        self._switch_fired = switch_fired
        self._booting = booting
        self._contents = Contents(home)
        self._generations = Generations(home)
        self.journal = Journal(home, number)

    def run(self) -> None:
        """Go on from wherever it stands, until it is active or closed."""
        record = self.journal.read()
        if record["state"] == "restoring":
            self.back()
        elif record["state"] in OPEN and record["state"] != "active":
            if record["attempts"] >= _ATTEMPTS:
                self.turn_back("it was cut off %d times" % record["attempts"], refuse=False)
            else:
                self.journal.change(attempts=record["attempts"] + 1)
                self.forward()

    # --- Forward ---

    def forward(self) -> None:
        """Bring the new set. Where that fails, all is as it was; the journal says why."""
        try:
            self._forward()
        except (OSError, Problem) as error:
            self.turn_back(reason_of(error), refuse=self.journal.has_step(*RESTARTS))

    def _forward(self) -> None:
        record = self.journal.read()
        new = self._generations.read(self.journal.number)
        bringing = Bringing(self._contents, self.journal, new["entries"])
        with bringing.files:
            bringing.stage(self._former_entries(record, new), goes_on=record["state"] == "live")
            if record["state"] == "prepared":
                self.journal.step("arm")
                switch.arm(self.journal.number, left(record["until"]), record["program"])
                self.journal.change(state="armed")
            bringing.replace("rename", set_aside=True, state="live")
            bringing.tell_systemd(new["enabled"], new["loaded"])
            go_on(self.journal, record)
            self.journal.step("read back")
            bringing.files.check()
        self._generations.mark(self.journal.number, "active")
        Current(self._home).enter(new["manifest"], self.journal.number, new["settings"], confirmed=False)
        after = Unit(record["unit"]).show()
        self.journal.step("active", state="active", unit_after=after)
        self._contents.hashes.save()

    def _former_entries(self, record: "dict[str, Any]", new: "dict[str, Any]") -> "dict[str, dict[str, Any]]":
        """What the former set has at the new one's paths."""
        paths = {entry["path"] for entry in new["entries"]}
        former = self._generations.read(record["former"])
        return {entry["path"]: entry for entry in former["entries"] if entry["path"] in paths}

    # --- Back ---

    def turn_back(self, why: str, refuse: bool, only_if_expired: bool = False) -> bool:
        """End it with the former set, for a reason; whether that is what became of it.

        `refuse`: the content is to blame. `only_if_expired`: not where the deadline is still ahead.
        """
        record = self.journal.read()
        self._home.release_reserve()
        if record["state"] in NOTHING_LIVE and not (only_if_expired and left(record["until"]) > 0):
            self._fail(why)
            return True
        if not self.journal.begin_restoring(why, refuse, only_if_expired):
            return False
        self.back()
        return True

    def _fail(self, why: str) -> None:
        """Nothing live was changed: away with what was staged."""
        self._unstage()
        self.journal.step("failed", state="failed", why=why, error=why)
        switch.disarm(self.journal.number, self._switch_fired)
        self._generations.drop(self.journal.number)

    def _unstage(self) -> None:
        self._unstage_files(self._generations.read(self.journal.number))
        remove_folders(self.journal.read()["made_folders"])

    def _unstage_files(self, new: "dict[str, Any]") -> None:
        with Files(self._contents, new["entries"], self.journal.number) as files:
            left = files.unstage()
        if left:
            self.journal.step("left behind: " + ", ".join(left))

    def back(self) -> None:
        """Bring the former set. Where even that fails the journal stays open, and says so."""
        try:
            self._back()
        except (OSError, Problem) as error:
            self.journal.step("not restored", error=reason_of(error))
            raise

    def _back(self) -> None:
        record = self.journal.read()
        new = self._generations.read(self.journal.number)
        former = self._former_entries(record, new)
        bringing = Bringing(self._contents, self.journal, list(former.values()))
        with bringing.files:
            bringing.stage(None)
            self._keep_foreign(bringing, new)
            bringing.replace("restore: rename", set_aside=False)
            enabled = None if new["enabled"] is None else record["before"]["enabled"].startswith("enabled")
            receipts = [path for path in new["loaded"] if former[path].get("sha256")]
            bringing.tell_systemd(enabled, receipts)
            error = self._run_as_before(record)
            self.journal.step("restore: read back")
            bringing.files.check()
        self._unstage()
        self._enter_former(record)
        after = Unit(record["unit"]).show()
        self.journal.step("restored", state="restored", unit_after=after, error=error)
        switch.disarm(self.journal.number, self._switch_fired)

    def _run_as_before(self, record: "dict[str, Any]") -> "str | None":
        """Files come first: what goes wrong with the process is told, and keeps nothing else from its end."""
        try:
            go_back(self.journal, record, self._booting)
            if not self._booting:
                check_no_worse(record, Unit(record["unit"]).show())
        except (OSError, Problem) as error:
            return reason_of(error)
        return None

    def _keep_foreign(self, bringing: Bringing, new: "dict[str, Any]") -> None:
        """What someone wrote in the meantime goes, as the former set must come back; but it is not lost."""
        by_path = {entry["path"]: entry for entry in new["entries"]}
        overwrote = self.journal.read()["overwrote"]
        for change in bringing.files.foreign([by_path]):
            try:
                sha256 = self._contents.keep(change.path)  # type: str | None
            except OSError:
                sha256 = None  # no room, and the way back goes on
            overwrote = [*overwrote, {"path": change.entry["path"], "sha256": sha256}]
            self.journal.change(overwrote=overwrote)

    def _enter_former(self, record: "dict[str, Any]") -> None:
        former = self._generations.read(record["former"])
        self._generations.mark(self.journal.number, "rolled_back")
        Current(self._home).enter(record["manifest"], record["former"], former["settings"], confirmed=False)
        if record["refuse"]:
            Refused(self._home).add(record, record["why"])

    # --- The end ---

    def confirm(self, keep: int) -> bool:
        """Close it as good, unless it has turned back; whether it is confirmed."""
        record = self.journal.read()
        if record["state"] not in ("active", "confirmed"):
            return False
        if record["state"] == "active":
            self.journal.step("confirmed", state="confirmed")
        if not record["settled"]:
            self.settle(keep)
        return True

    def settle(self, keep: int) -> None:
        """What follows from a confirmation. It holds without this, and whoever comes next makes up for it."""
        number = self.journal.number
        new = self._generations.read(number)
        record = self.journal.read()
        if record["refuses"] and record["former"] in self._generations.numbers():
            Refused(self._home).add(self._generations.read(record["former"]), record["refuses"])
        if new["content"]:
            Refused(self._home).forget(new["content"])
        self._generations.mark(number, "confirmed")
        Current(self._home).enter(new["manifest"], number, new["settings"], confirmed=True)
        self._unstage_files(new)
        switch.disarm(number, self._switch_fired)
        self.journal.change(settled=True)
        collect(self._home, keep)
