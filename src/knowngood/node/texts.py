"""The texts that decide a unit's next start: its own, environment files, the script and what it sources."""

import os

from knowngood.node.ground import Problem, Round, raw, text_of, word
from knowngood.node.unitfiles import UnitFiles, instance_of, is_mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    Path = TypeVar("Path", bytes, str)

_LIMIT = 1 << 20  # bytes of one text
_MOST = 64  # texts of one kind


def unit_texts(unit: str, loaded: "dict[str, str]", turn: Round) -> "dict[str, object]":
    """{"names", "fragment", "dropins", "environment_files"} as they lie on disk; OSError where it is closed.

    `loaded` holds the manager's properties. The fragment that it loaded counts where the search path holds
    none, and a folder that has two names is told by the manager's.
    """
    files = UnitFiles(unit, loaded.get("Names", "").split())
    loaded_fragment = raw(loaded.get("FragmentPath", ""))
    as_loaded = {_spot(path): path for path in (loaded_fragment, *raw(loaded.get("DropInPaths", "")).split())}
    path = files.fragment
    if path is None and os.path.exists(loaded_fragment):
        path = loaded_fragment
    fragment = None if path is None else _unit_text(as_loaded.get(_spot(path), path), turn)
    found = _few(files.dropins(), "drop-ins")
    dropins = [_unit_text(as_loaded.get(_spot(each), each), turn) for each in found]
    texts = dropins if fragment is None else [fragment, *dropins]
    paths = [each for named in environment_paths(texts, unit) for each in _matching(named)]
    return {
        "names": [word(name) for name in files.names],
        "fragment": fragment,
        "dropins": dropins,
        "environment_files": [text_of(raw(each), turn, _LIMIT) for each in _few(paths, "environment files")],
    }


def _spot(path: bytes) -> bytes:
    """The path with its folder's true name; the file itself may be a link that means something."""
    folder, _, name = path.rpartition(b"/")
    return os.path.realpath(folder) + b"/" + name


def _few(paths: "list[Path]", what: str) -> "list[Path]":
    if len(paths) > _MOST:
        raise Problem("too large: the unit has %d %s" % (len(paths), what))
    return paths


def _unit_text(path: bytes, turn: Round) -> "dict[str, object]":
    return {"path": word(path), "data": ""} if is_mask(path) else text_of(path, turn, _LIMIT)


def environment_paths(texts: "list[dict[str, object]]", unit: str) -> "list[str]":
    """The paths that EnvironmentFile= names in the merged texts, without the `-`, specifiers filled in."""
    paths = []  # type: list[str]
    for text in texts:
        data = text.get("data")
        for name, value in _assignments(data) if isinstance(data, str) else ():
            if name == "EnvironmentFile":
                if not value:
                    paths = []
                paths += [_specified(value.lstrip("-").strip(), unit)] if value else []
    return [path for path in dict.fromkeys(paths) if path.startswith("/")]


def _assignments(data: str) -> "Iterator[tuple[str, str]]":
    """Name and value of every line that assigns; systemd.syntax(7): a trailing backslash continues a line."""
    pending = ""
    for line in data.replace("\r\n", "\n").split("\n"):
        if line.lstrip().startswith(("#", ";")):
            continue
        pending += line[:-1] + " " if line.endswith("\\") else line
        if not line.endswith("\\"):
            name, equals, value = pending.partition("=")
            pending = ""
            if equals:
                yield name.strip(), value.strip()


def _specified(path: str, unit: str) -> str:
    """The path with the specifiers that a unit's name answers; systemd.unit(5), "Specifiers"."""
    stem = unit.rpartition(".")[0]
    prefix = stem.partition("@")[0]
    instance = word(instance_of(raw(unit)))
    answers = {"i": instance, "n": unit, "N": stem, "p": prefix, "j": prefix.rpartition("-")[2], "%": "%"}
    out = ""
    parts = iter(range(len(path)))
    for at in parts:
        letter = path[at + 1 : at + 2]
        if path[at] == "%" and letter in answers:
            out += answers[letter]
            next(parts)
        else:
            out += path[at]
    return out


def _matching(path: str) -> "list[str]":
    """The paths that a pattern stands for, sorted as glob(3) does; the path itself where none is there."""
    if not any(letter in path for letter in "*?["):
        return [path]
    import glob

    return [word(found) for found in sorted(glob.glob(raw(path)))] or [path]


def script_texts(path_text: str, turn: Round) -> "dict[str, object]":
    """{"script": text, "sourced": {path: text}}: a script, the files it sources, and theirs."""
    path = raw(path_text)
    script = text_of(path, turn, _LIMIT)
    sourced = {}  # type: dict[str, object]
    data = script.get("data")
    waiting = list(sources_of(data, os.path.dirname(path))) if isinstance(data, str) else []
    for depth in range(2):
        found = []  # type: list[bytes]
        for each in waiting:
            if word(each) in sourced or len(sourced) >= _MOST:
                continue
            text = text_of(each, turn, _LIMIT)
            sourced[word(each)] = text
            inner = text.get("data")
            if isinstance(inner, str) and depth == 0:
                found += sources_of(inner, os.path.dirname(path))
        waiting = found
    return {"script": script, "sourced": sourced}


_BEFORE = ("if", "then", "else", "do", "{", "!", "&&", "||", ";", "(")
# How scripts name their own folder.
_OWN_FOLDER = (
    "$(dirname $0)",
    "$(dirname ${BASH_SOURCE[0]})",
    "$(dirname $BASH_SOURCE)",
    "${0%/*}",
    "${BASH_SOURCE[0]%/*}",
    "${BASH_SOURCE%/*}",
)


def sources_of(script: str, folder: bytes) -> "Iterator[bytes]":
    """The paths that a shell script sources, as far as a glance tells; a path too many does no harm."""
    for line in script.split("\n"):
        if "source" not in line and "." not in line:
            continue
        words = line.replace(";", " ; ").replace("&&", " && ").replace("||", " || ").replace('"', "").split()
        for at, each in enumerate(words[:-1]):
            if each in ("source", ".") and (at == 0 or words[at - 1] in _BEFORE):
                path = _sourced_path(" ".join(words[at + 1 : at + 3]), folder)
                if path is not None:
                    yield path


def _sourced_path(text: str, folder: bytes) -> "bytes | None":
    for own in _OWN_FOLDER:
        if text.startswith(own + "/"):
            return folder + b"/" + text[len(own) + 1 :].split()[0].encode("latin-1").strip(b"'")
    first = text.split()[0].strip("'")
    return first.encode("latin-1") if first.startswith("/") and "$" not in first else None
