"""A unit's texts as they lie on disk: what systemd would merge at its next daemon-reload.

The search path is systemd.unit(5)'s, highest priority first; symbolic links, masks, templates and the order
of drop-ins are as systemd resolves them (its src/basic/unit-file.c and src/shared/dropin.c).
"""

import os

from knowngood.node.ground import Problem, is_there, names_in, raw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SEARCH_PATH = [
    b"/etc/systemd/system.control",
    b"/run/systemd/system.control",
    b"/run/systemd/transient",
    b"/run/systemd/generator.early",
    b"/etc/systemd/system",
    b"/etc/systemd/system.attached",
    b"/run/systemd/system",
    b"/run/systemd/system.attached",
    b"/run/systemd/generator",
    b"/usr/local/lib/systemd/system",
    b"/lib/systemd/system",  # one folder with the next nearly everywhere
    b"/usr/lib/systemd/system",
    b"/run/systemd/generator.late",
]
_HOPS = 8  # of aliases, as systemd's FOLLOW_MAX


class UnitFiles:
    """Where a unit's texts lie. `aliases` are further names that the manager knows it by; `root` stands
    before every path, for a tree that is not booted.
    """

    def __init__(self, unit: str, aliases: "Iterable[str]" = (), root: bytes = b"") -> None:
        self._root = root
        self._search = [root + path for path in SEARCH_PATH]
        self.fragment = None  # type: bytes | None
        chain = self._find_fragment(raw(unit))
        # Drop-ins count under all names, and under the one that the aliases lead to first. (Where that is
        # a template's, systemd itself leaves the order of the names to chance.)
        self.names = list(dict.fromkeys(chain[::-1] + [raw(alias) for alias in aliases]))

    def _find_fragment(self, unit: bytes) -> "list[bytes]":
        """Follow the name through aliases to a file; the names on the way. A link within the path is one."""
        names = [unit]
        sought = unit
        for _ in range(_HOPS):
            found = self._lookup(sought)
            target = None if found is None else self._alias(found)
            if target is None:
                self.fragment = found
                return names
            sought = target
            names.append(with_instance(target, instance_of(names[-1])) if is_template(target) else target)
        raise Problem("its aliases lead in a circle")

    def _lookup(self, name: bytes) -> "bytes | None":
        template = template_of(name)
        for each in (name,) if template is None else (name, template):
            for folder in self._search:
                if is_there(folder + b"/" + each):
                    return folder + b"/" + each
        return None

    def _alias(self, path: bytes) -> "bytes | None":
        """The other unit's name where the path is a link to it; None for a file, a mask, or a linked file."""
        if not os.path.islink(path):
            return None
        target = os.path.join(os.path.dirname(path), os.readlink(path))
        if os.path.isabs(os.readlink(path)):
            target = self._root + os.readlink(path)
        folder, name = os.path.split(os.path.normpath(target))
        known = {os.path.realpath(each) for each in self._search} | set(self._search)
        return name if folder in known and name != os.path.basename(path) else None

    def dropins(self) -> "list[bytes]":
        """All drop-ins as they are merged: by their names, each name from the first folder that has it.

        An empty one, or a link to /dev/null, stands there too: it hides those of its name.
        """
        chosen = {}  # type: dict[bytes, bytes]
        for folder in self._dropin_folders():
            for name in names_in(folder):
                if name.endswith(b".conf") and not name.startswith(b"."):
                    chosen.setdefault(name, folder + b"/" + name)
        return [chosen[name] for name in sorted(chosen)]

    def _dropin_folders(self) -> "Iterator[bytes]":
        seen = set()
        for name in self.names:
            for folder in self._search:
                for each in dropin_names(name):
                    path = folder + b"/" + each + b".d"
                    if path not in seen:
                        seen.add(path)
                        yield path
        for folder in self._search:
            yield folder + b"/" + self.names[0].rpartition(b".")[2] + b".d"


def dropin_names(name: bytes) -> "Iterator[bytes]":
    """The names whose .d folders count for a unit: its own, its template's, and those cut at each dash."""
    yield name
    template = template_of(name)
    if template is not None:
        for each in dropin_names(template):
            yield each
    prefix, instance, kind = _parts(name)
    dash = prefix.rstrip(b"-").rfind(b"-") if prefix.endswith(b"-") else prefix.rfind(b"-")
    if dash > 0:
        for each in dropin_names(prefix[: dash + 1] + instance + kind):
            yield each


def _parts(name: bytes) -> "tuple[bytes, bytes, bytes]":
    """`foo-bar@x.service` → foo-bar, @x, .service; a template's second part is dropped, as systemd does."""
    stem, _, kind = name.rpartition(b".")
    prefix, at, instance = stem.partition(b"@")
    return prefix, at + instance if instance else b"", b"." + kind


def instance_of(name: bytes) -> bytes:
    """`x` of foo@x.service; empty for any other name."""
    return name.rpartition(b".")[0].partition(b"@")[2]


def is_template(name: bytes) -> bool:
    """Whether it is a foo@.service."""
    return b"@." in name and not instance_of(name)


def template_of(name: bytes) -> "bytes | None":
    """foo@.service for foo@x.service; None for a name without an instance."""
    prefix, instance, kind = _parts(name)
    return prefix + b"@" + kind if instance else None


def with_instance(template: bytes, instance: bytes) -> bytes:
    """foo@x.service of foo@.service."""
    prefix, _, kind = _parts(template)
    return prefix + b"@" + instance + kind


def is_mask(path: bytes) -> bool:
    """Whether a unit file or drop-in hides its name: it is empty, or leads to /dev/null."""
    try:
        return os.path.realpath(path) == b"/dev/null" or os.stat(path).st_size == 0
    except OSError:
        return False
