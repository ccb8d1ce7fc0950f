"""The sets of contents that a node was activated with, by number, and which is current."""

import os
import shutil

from knowngood.node.ground import Problem
from knowngood.node.transaction.clock import wall_time
from knowngood.node.transaction.durable import read_json, sync_folder, write_json
from knowngood.node.transaction.places import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Generations:
    """generations/N/set.json: see docs/node-program.md for its fields."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def numbers(self) -> "list[int]":
        """All that are kept, oldest first."""
        names = [int(name) for name in os.listdir(self._home.generations) if name.isdigit()]
        return sorted(number for number in names if os.path.exists(self._path(number)))

    def read(self, number: int) -> "dict[str, Any]":
        """One set; Problem where it is not there."""
        found = read_json(self._path(number))
        if found is None:
            raise Problem("generation %d is not kept on this node" % number)
        return found

    def write(self, number: int, fields: "dict[str, Any]") -> None:
        """Keep a set under a number."""
        folder = os.path.dirname(self._path(number))
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)
            sync_folder(self._home.generations)
        kept = dict(fields, version=1, generation=number)
        kept.setdefault("created_at", wall_time())
        write_json(self._path(number), kept)

    def mark(self, number: int, state: str) -> None:
        """Say what became of a set."""
        fields = self.read(number)
        if fields["state"] != state:
            self.write(number, dict(fields, state=state))

    def drop(self, number: int) -> None:
        """Forget a set, its secrets too."""
        shutil.rmtree(os.path.dirname(self._path(number)), ignore_errors=True)
        shutil.rmtree(self._home.kept_secrets + b"/%d" % number, ignore_errors=True)

    def _path(self, number: int) -> bytes:
        return self._home.generations + b"/%d/set.json" % number


class Current:
    """`current`: {"version": 1, "roles": {manifest: {"generation", "confirmed", "settings"}}}."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def roles(self) -> "dict[str, dict[str, Any]]":
        """What each manifest's role has now."""
        found = read_json(self._home.current) or {}
        return dict(found.get("roles", {}))

    def role(self, manifest: str) -> "dict[str, Any]":
        """One role; {} where the node was never activated for it."""
        return dict(self.roles().get(manifest, {}))

    def enter(self, manifest: str, generation: int, settings: "dict[str, str]", confirmed: bool) -> None:
        """Say which generation a role has now; where it is confirmed, say so too."""
        roles = self.roles()
        role = dict(roles.get(manifest, {"confirmed": None}), generation=generation, settings=settings)
        if confirmed:
            role["confirmed"] = generation
        if roles.get(manifest) != role:
            roles[manifest] = role
            write_json(self._home.current, {"version": 1, "roles": roles})


class Refused:
    """Contents that were rolled back from here. Whoever wants one again must say so."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def add(self, record: "dict[str, Any]", why: str) -> None:
        """Remember a set's content as bad."""
        if record.get("content"):
            told = {name: record.get(name) for name in ("content", "manifest", "commit", "generation")}
            write_json(self._path(record["content"]), dict(told, why=why, at=wall_time()))

    def find(self, content: "str | None") -> "dict[str, Any] | None":
        """Why a content was rolled back; None where it never was."""
        return read_json(self._path(content)) if content else None

    def forget(self, content: "str | None") -> None:
        """Let a content be activated again."""
        if content and os.path.exists(self._path(content)):
            os.unlink(self._path(content))
            sync_folder(self._home.refused)

    def all(self) -> "list[dict[str, Any]]":
        """All of them."""
        names = [name for name in sorted(os.listdir(self._home.refused)) if name.endswith(b".json")]
        read = [read_json(self._home.refused + b"/" + name) for name in names]
        return [each for each in read if each is not None]

    def _path(self, content: str) -> bytes:
        if not _is_plain(content):
            raise Problem("not a hash of a manifest's content: %.70s" % content)
        return self._home.refused + b"/" + content.encode("ascii") + b".json"


def _is_plain(text: str) -> bool:
    return 0 < len(text) <= 128 and all(letter in "0123456789abcdefghijklmnopqrstuvwxyz-_" for letter in text)


def summary(fields: "dict[str, Any]") -> "dict[str, Any]":
    """A set without its entries, for those who ask what there is."""
    told = {name: fields.get(name) for name in ("generation", "manifest", "unit", "commit", "content")}
    told.update({name: fields.get(name) for name in ("state", "origin", "former", "created_at")})
    told["paths"] = [entry["path"] for entry in fields["entries"]]
    return told
