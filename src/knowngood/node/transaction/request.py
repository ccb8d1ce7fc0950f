"""What is asked for, checked before anything is done: whoever asks may be mistaken, or of another version."""

import os

from knowngood.node.ground import Problem, raw
from knowngood.node.transaction.accounts import group_number, user_number
from knowngood.node.transaction.caches import check_cache
from knowngood.node.transaction.contents import secret_entry
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.store import is_hash
from knowngood.node.transaction.unit import is_unit_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ANY = "any"
_WINDOW, _LONGEST_WINDOW = 900.0, 86400.0  # seconds
_MOST_ENTRIES = 1000
_NO_FILES = (b"/proc", b"/sys", b"/dev")


def window(asked: "dict[str, Any]") -> float:
    """The seconds within which a transaction is to be confirmed, or heard of."""
    return min(_LONGEST_WINDOW, max(1.0, float(asked.get("confirm_within_s", _WINDOW))))


class Wanted:
    """A set as it was asked for, checked."""

    def __init__(self, home: Home, asked: "dict[str, Any]") -> None:
        self.manifest = _text(asked, "manifest")
        self.unit = _text(asked, "unit")
        if not is_unit_name(self.unit):
            raise Problem("not the name of a unit: %.80s" % self.unit)
        self.commit = asked.get("commit")
        self.content = asked.get("content")
        self.enabled = asked.get("enabled")
        self.settings = dict(asked.get("settings") or {})
        self.drop_pyc = bool(asked.get("drop_pyc", True))
        self.entries = [_entry(home, each) for each in asked.get("entries", [])[: _MOST_ENTRIES + 1]]
        if len(self.entries) > _MOST_ENTRIES:
            raise Problem("more than %d files" % _MOST_ENTRIES)
        self.secrets = _secrets(asked.get("secrets"))
        self.secret_entries = [secret_entry(home, name, None) for name in self.secrets]
        paths = [entry["path"] for entry in self.entries]
        twice = sorted({path for path in paths if paths.count(path) > 1})
        if twice:
            raise Problem("named twice: " + ", ".join(twice))
        self.loaded = [path for path in asked.get("loaded", _default_loaded(self.entries)) if path in paths]
        self.cache_dirs = list(asked.get("cache_dirs") or [])
        for folder in self.cache_dirs:
            check_cache(raw(folder), [raw(path) for path in paths])


def _text(asked: "dict[str, Any]", name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str) or not value:
        raise Problem("the request names no %s" % name)
    return value


def _default_loaded(entries: "list[dict[str, Any]]") -> "list[str]":
    return [entry["path"] for entry in entries if entry["sha256"] is not None]


def _entry(home: Home, asked: "dict[str, Any]") -> "dict[str, Any]":
    """One file: path, sha256 (None: absent), mode, uid and gid (None: as it is), xattrs, expect."""
    path = _text(asked, "path")
    _check_path(home, raw(path), path)
    sha256, expect = asked.get("sha256"), asked.get("expect", ANY)
    for each in (sha256, None if expect == ANY else expect):
        if each is not None and not is_hash(each):
            raise Problem("%s: not a sha256: %.70s" % (path, each))
    return {
        "path": path,
        "sha256": sha256,
        "mode": _mode(path, asked.get("mode")),
        "uid": user_number(asked.get("owner")),
        "gid": group_number(asked.get("group")),
        "xattrs": asked.get("xattrs"),
        "expect": expect,
    }


def _mode(path: str, mode: "object") -> "str | None":
    if mode is None:
        return None
    try:
        number = int(str(mode), 8)
    except ValueError:
        number = -1
    if not 0 <= number <= 0o7777:
        raise Problem("%s: not a mode: %.20s" % (path, mode))
    return "%04o" % number


def _check_path(home: Home, path: bytes, text: str) -> None:
    if not path.startswith(b"/") or b"\0" in path or os.path.normpath(path) != path or path.startswith(b"//"):
        raise Problem("not a plain absolute path: %s" % text)
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    for each in (path, real):
        if any(each == folder or each.startswith(folder + b"/") for folder in (*_NO_FILES, home.root)):
            raise Problem("no place for a file of a manifest: %s" % text)


def _secrets(asked: "object") -> "dict[str, str | None]":
    """{name of the file: its text, or None for absent}."""
    if asked is None:
        return {}
    if not isinstance(asked, dict):
        raise Problem("secrets: not a map of files")
    return {str(name): None if text is None else str(text) for name, text in asked.items()}
