"""From what is asked to a transaction that can be run: the former contents kept, both sets written down.

Nothing live is touched here. A path whose content is not what the asker saw refuses the whole.
"""

from knowngood.node.ground import Problem, raw
from knowngood.node.transaction import attributes
from knowngood.node.transaction.contents import Contents, is_secret
from knowngood.node.transaction.generations import Current, Generations
from knowngood.node.transaction.journal import Journal, numbers
from knowngood.node.transaction.live import Live, Place
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.request import ANY, Wanted
from knowngood.node.transaction.unit import Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Mismatch(Problem):
    """Paths that have another content than the asker saw."""

    def __init__(self, paths: "list[str]") -> None:
        Problem.__init__(self, "changed since it was looked at: " + ", ".join(paths))
        self.more = {"paths": paths}


def prepare(home: Home, wanted: Wanted, options: "dict[str, Any]") -> Journal:
    """Check, keep what is there, and open the journal. `options`: see `_intent`."""
    contents, generations = Contents(home), Generations(home)
    entries = wanted.entries + wanted.secret_entries
    found = _look(contents, entries)
    _check_expected(wanted.entries, found)
    _check_store(contents, wanted.entries)
    before = Unit(wanted.unit).show()
    home.make_reserve()
    last = max(generations.numbers() + numbers(home) + [-1])
    former = _former(home, wanted, found, contents)
    if former is None:
        former = last = last + 1
        captured = [contents.capture(entry, found[entry["path"]], former) for entry in entries]
        generations.write(former, _found_set(home, wanted, captured, before))
    number = last + 1
    for name, text in wanted.secrets.items():
        if text is not None:
            contents.keep_secret(number, name, text.encode("utf-8", "surrogateescape"))
    resolved = [_resolve(entry, found[entry["path"]], wanted, number) for entry in entries]
    generations.write(number, _new_set(wanted, resolved, former, options))
    journal = Journal(home, number)
    journal.create(_intent(wanted, former, before, options), options["window_s"])
    contents.hashes.save()
    return journal


def _look(contents: Contents, entries: "list[dict[str, Any]]") -> "dict[str, Live | None]":
    found = {}  # type: dict[str, Live | None]
    for entry in entries:
        with Place(raw(entry["path"])) as place:
            found[entry["path"]] = place.look(contents.hashes)
            place.check_writable()
    return found


def _check_expected(entries: "list[dict[str, Any]]", found: "dict[str, Live | None]") -> None:
    wrong = []
    for entry in entries:
        live = found[entry["path"]]
        if entry["expect"] != ANY and entry["expect"] != (live and live.sha256):
            wrong.append(entry["path"])
    if wrong:
        raise Mismatch(wrong)


def _check_store(contents: Contents, entries: "list[dict[str, Any]]") -> None:
    for entry in entries:
        if entry["sha256"] is not None and not contents.store.has(entry["sha256"]):
            raise Problem("the store lacks the content of %s: stage it first" % entry["path"])


def _former(home: Home, wanted: Wanted, found: "dict[str, Live | None]", contents: Contents) -> "int | None":
    """The role's present generation, where the node still has just that; else None."""
    number = Current(home).role(wanted.manifest).get("generation")
    if number is None:
        return None
    try:
        entries = {entry["path"]: entry for entry in Generations(home).read(number)["entries"]}
        for path, live in found.items():
            if not _is_as(contents, entries.get(path), live):
                return None
    except (OSError, Problem):
        return None
    return int(number)


def _is_as(contents: Contents, entry: "dict[str, Any] | None", live: "Live | None") -> bool:
    if entry is None:
        return False
    sha256 = contents.hash_of(entry)
    if live is None or sha256 is None:
        return live is None and sha256 is None
    sound = is_secret(entry) or contents.store.is_sound(sha256)
    return live.sha256 == sha256 and attributes.same(live.attributes, entry) and sound


def _resolve(entry: "dict[str, Any]", live: "Live | None", wanted: Wanted, number: int) -> "dict[str, Any]":
    """An entry of the new set: nothing left to be decided."""
    told = {"path": entry["path"]}  # type: dict[str, Any]
    if is_secret(entry):
        there = wanted.secrets[entry["path"].rpartition("/")[2]] is not None
        told["kept"] = number if there else None
        told.update({name: entry[name] for name in ("mode", "uid", "gid", "xattrs")})
        return told
    told["sha256"] = entry["sha256"]
    if entry["sha256"] is not None:
        same_content = live is not None and live.sha256 == entry["sha256"]
        told.update(attributes.wanted_of(entry, live.attributes if live else None, same_content))
        if entry["xattrs"] is not None:
            told["xattrs"] = entry["xattrs"]
    return told


def _found_set(
    home: Home, wanted: Wanted, entries: "list[dict[str, Any]]", before: "dict[str, Any]"
) -> "dict[str, Any]":
    return {
        "manifest": wanted.manifest,
        "unit": wanted.unit,
        "commit": None,
        "content": None,
        "entries": entries,
        "enabled": None if wanted.enabled is None else before["enabled"].startswith("enabled"),
        "loaded": wanted.loaded,
        "settings": Current(home).role(wanted.manifest).get("settings", {}),
        "state": "found",
        "origin": "found",
        "former": None,
    }


def _new_set(
    wanted: Wanted, entries: "list[dict[str, Any]]", former: int, options: "dict[str, Any]"
) -> "dict[str, Any]":
    return {
        "manifest": wanted.manifest,
        "unit": wanted.unit,
        "commit": wanted.commit,
        "content": wanted.content,
        "entries": entries,
        "enabled": wanted.enabled,
        "loaded": wanted.loaded,
        "settings": wanted.settings,
        "state": "staged",
        "origin": "activated" if options["restores"] is None else "restored",
        "restores": options["restores"],
        "former": former,
    }


def _intent(
    wanted: Wanted, former: int, before: "dict[str, Any]", options: "dict[str, Any]"
) -> "dict[str, Any]":
    """What the journal begins with; the rest of it says how far it came.

    restart, start and reload are asked for; restores is the older generation that is brought, and refuses why
    the present content shall then be remembered as bad.
    """
    return {
        "former": former,
        "manifest": wanted.manifest,
        "unit": wanted.unit,
        "commit": wanted.commit,
        "content": wanted.content,
        "before": before,
        "drop_pyc": wanted.drop_pyc,
        "cache_dirs": wanted.cache_dirs,
        "restart": options["restart"],
        "start": options["start"],
        "reload": options["reload"],
        "restores": options["restores"],
        "refuses": options.get("refuses"),
        "program": options["program"],
    }
