"""Making a node have a set: the one road, forward to a new set and back to a former one.

Every step is idempotent: what is already as wanted is left alone. So a transaction that was cut off anywhere
is simply brought again, in either direction.
"""

from knowngood.node.ground import Problem, raw
from knowngood.node.transaction.bytecode_files import drop_bytecode
from knowngood.node.transaction.caches import check_cache, empty
from knowngood.node.transaction.contents import Contents
from knowngood.node.transaction.files import Files, make_folders
from knowngood.node.transaction.journal import Journal
from knowngood.node.transaction.receipts import write_wanted
from knowngood.node.transaction.unit import Unit, daemon_reload, is_unit_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Bringing:
    """One set on its way to the node. `record` is the journal's, `entries` what the paths should have."""

    def __init__(self, contents: Contents, journal: Journal, entries: "list[dict[str, Any]]") -> None:
        self._contents = contents
        self._journal = journal
        self._record = journal.read()
        self.entries = entries
        self.files = Files(contents, entries, journal.number)

    def stage(self, expected: "dict[str, dict[str, Any]] | None", goes_on: bool = False) -> None:
        """Lay all new files beside their places; see Files.stage."""
        folders = self.files.missing_folders()
        if folders:
            made = self._record["made_folders"]
            made = made + [each for each in folders if each not in made]
            self._record = self._journal.step("make folders", made_folders=made)
            make_folders(folders)
        self._journal.step("stage")
        self.files.stage(expected, goes_on)

    def replace(self, step: str, set_aside: bool, **fields: "Any") -> None:
        """The live change of the files, and of what is derived from them.

        The journal has the paths first: whoever goes on after a cut must know what was changed before it.
        """
        touched = self._record["touched"]
        content = [change.entry["path"] for change in self.files.differing() if change.kind != "attributes"]
        touched = touched + [path for path in content if path not in touched]
        self._record = self._journal.step(step, touched=touched, **fields)
        self.files.replace(set_aside)
        if self._record["drop_pyc"]:
            self._drop_bytecode(touched)
        if touched and self._record["cache_dirs"]:
            self._empty_caches()

    def _drop_bytecode(self, paths: "list[str]") -> None:
        sources = [path for path in paths if path.endswith(".py")]
        if sources:
            self._journal.step("drop bytecode")
            for path in sources:
                drop_bytecode(raw(path))

    def _empty_caches(self) -> None:
        self._journal.step("empty caches")
        managed = [raw(entry["path"]) for entry in self.entries]
        for folder in self._record["cache_dirs"]:
            check_cache(raw(folder), managed)
            empty(raw(folder))

    def tell_systemd(self, enabled: "bool | None", receipts: "list[str]") -> None:
        """Enabled or not, and one daemon-reload where unit texts changed."""
        unit = Unit(self._record["unit"])
        write_wanted(self._contents, unit.name, receipts)
        shown = unit.show()
        reload = self._record["reload"] or shown["stale"] or any(map(is_unit_text, self._record["touched"]))
        if enabled is not None and shown["enabled"].startswith("enabled") != enabled:
            self._journal.step("enable" if enabled else "disable")
            if reload and enabled:
                daemon_reload()  # else it would be enabled by the [Install] of its former text
            unit.set_enabled(enabled)  # reloads the manager as well
            state = unit.show()["enabled"]
            if state.startswith("enabled") != enabled:
                raise Problem(
                    "%s can't be %sd: it is %s" % (unit.name, "enable" if enabled else "disable", state)
                )
        elif reload:
            self._journal.step("daemon-reload")
            daemon_reload()
