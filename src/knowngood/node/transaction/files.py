"""Bringing all files of a set in place: every new one staged beside its place first, then renamed in one go.

So a full disk, a read-only file system or a damaged store shows before the first live change; and between the
first rename and the last there is less than a millisecond in which a crashing server could start with a mix.
"""

import os

from knowngood.node.ground import Problem, raw, word
from knowngood.node.transaction import attributes
from knowngood.node.transaction.contents import Contents, is_secret
from knowngood.node.transaction.durable import sync_folder
from knowngood.node.transaction.live import Live, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Change:
    """What is to be done at one path."""

    def __init__(self, entry: "dict[str, Any]", number: int, index: int) -> None:
        self.entry = entry
        self.path = raw(entry["path"])
        self.place = Place(self.path)
        self.staged = b".knowngood-%d-%d" % (number, index)
        self.aside = self.staged + b".former"
        self.found = None  # type: Live | None
        self.kind = "none"  # none, attributes, content, remove


class Files:
    """The files of one set on their way. Use it as a context: it holds folders open."""

    def __init__(self, contents: Contents, entries: "list[dict[str, Any]]", number: int) -> None:
        self._contents = contents
        self.changes = [Change(entry, number, index) for index, entry in enumerate(entries)]

    def __enter__(self) -> "Files":
        return self

    def __exit__(self, *_: "object") -> None:
        for change in self.changes:
            change.place.close()

    def missing_folders(self) -> "list[str]":
        """The folders that must be made first, outermost first."""
        missing = []  # type: list[bytes]
        for change in self.changes:
            if self._contents.hash_of(change.entry) is None:
                continue
            folder = os.path.dirname(change.path)
            above = []  # type: list[bytes]
            while not os.path.lexists(folder):
                above.insert(0, folder)
                folder = os.path.dirname(folder)
            missing += [each for each in above if each not in missing]
        return [word(each) for each in missing]

    def stage(self, expected: "dict[str, dict[str, Any]] | None", goes_on: bool) -> None:
        """Find out what is to be done, and lay every new file beside its place.

        With `expected` (entries by path), Problem for a path that has neither what is expected nor what is
        wanted; without it, whatever is there will be replaced. `goes_on`: this transaction was cut off while
        it changed live files, so one that has the wanted content already may lack some of its attributes.
        """
        for change in self.changes:
            change.found = change.place.look(self._contents.hashes)
            change.kind = self._kind(change.entry, change.found)
            if change.kind == "none":
                self._unstage(change, change.staged)
                continue
            if expected is not None and not (goes_on and change.kind == "attributes"):
                self._check_expected(change, expected[change.entry["path"]])
            change.place.check_writable()
            if change.kind == "content":
                self._stage(change)

    def _check_expected(self, change: Change, expected: "dict[str, Any]") -> None:
        if self._kind(expected, change.found) != "none":
            raise Problem("%s was changed meanwhile, by someone else" % change.entry["path"])

    def _kind(self, entry: "dict[str, Any]", found: "Live | None") -> str:
        sha256 = self._contents.hash_of(entry)
        if sha256 is None or found is None:
            return "none" if sha256 is None and found is None else "remove" if sha256 is None else "content"
        if found.sha256 != sha256:
            return "content"
        return "none" if attributes.same(found.attributes, entry) else "attributes"

    def _stage(self, change: Change) -> None:
        if self._is_aside(change) and change.place.take_back(change.aside, change.found):
            change.staged = change.aside
            return
        wanted = {name: change.entry[name] for name in ("mode", "uid", "gid", "xattrs")}
        change.place.stage(
            change.staged, wanted, lambda handle: self._contents.copy_to(change.entry, handle), change.found
        )

    def _is_aside(self, change: Change) -> bool:
        """Whether just what is wanted was set aside when it was replaced."""
        with change.place.aside(change.aside) as aside:
            try:
                return self._kind(change.entry, aside.look(self._contents.hashes)) == "none"
            except (OSError, Problem):
                return False

    def differing(self) -> "list[Change]":
        """What `replace` will change."""
        return [change for change in self.changes if change.kind != "none"]

    def replace(self, set_aside: bool) -> None:
        """The live change; `set_aside`: keep what was there within reach.

        Problem where a file is no more what it was when its successor was staged.
        """
        todo = self.differing()
        for change in todo:
            if change.place.identity() != (change.found and change.found.identity):
                raise Problem("%s was changed meanwhile, by someone else" % change.entry["path"])
            if set_aside and change.found is not None and change.kind != "attributes":
                change.place.set_aside(change.aside)
            if change.kind == "content":
                change.place.replace(change.staged)
            elif change.kind == "remove":
                change.place.remove()
            else:
                change.place.set_attributes(change.entry)
        for change in todo:
            change.place.sync()

    def unstage(self) -> "list[str]":
        """Remove what was staged or set aside, and is not wanted any more; what can't be, by its path."""
        left = []
        for change in self.changes:
            for name in (change.staged, change.aside):
                try:
                    self._unstage(change, name)
                except OSError:
                    left.append(word(os.path.dirname(change.path) + b"/" + name))
        return left

    def _unstage(self, change: Change, name: bytes) -> None:
        if os.path.isdir(os.path.dirname(change.path)):
            change.place.unstage(name)

    def check(self) -> None:
        """Read all back; Problem where a path has not what it should have."""
        for change in self.changes:
            found = change.place.look(self._contents.hashes)
            if self._kind(change.entry, found) != "none":
                raise Problem("%s has not what was written to it" % change.entry["path"])

    def foreign(self, others: "list[dict[str, dict[str, Any]]]") -> "list[Change]":
        """Changes that would replace what is in none of these sets: someone's work of the last minutes."""
        return [
            change
            for change in self.differing()
            if change.found is not None
            and not is_secret(change.entry)
            and all(self._kind(other[change.entry["path"]], change.found) != "none" for other in others)
        ]


def make_folders(folders: "list[str]") -> None:
    """Make folders, outermost first, on disk."""
    for folder in folders:
        path = raw(folder)
        if not os.path.isdir(path):
            os.mkdir(path, 0o755)
            os.chmod(path, 0o755)
            sync_folder(os.path.dirname(path))


def remove_folders(folders: "list[str]") -> None:
    """Remove folders that were made, where nothing has come into them."""
    for folder in reversed(folders):
        try:
            os.rmdir(raw(folder))
        except OSError:
            continue
        sync_folder(os.path.dirname(raw(folder)))
