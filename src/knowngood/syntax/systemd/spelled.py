"""One line of a directive, spelled: what systemd makes of it for one unit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from knowngood.model import Known, Unknown, Value
from knowngood.syntax.systemd.kinds import kind_of
from knowngood.syntax.systemd.names import UnitName
from knowngood.syntax.systemd.specifiers import UnknownSpecifierError, expander
from knowngood.syntax.systemd.wordlists import RefusedError


@dataclass(frozen=True, slots=True)
class Spelled:
    """`value` is canonical, Unknown where only the node can tell, None where systemd ignores the line.

    `refusal` is why systemd gives up the whole file at it; "" where it does not.
    """

    value: Value | None
    refusal: str = ""


def spelled(directive: str, text: str, unit: UnitName) -> Spelled:
    """Spell a line of `Section.Directive`."""
    return _kept(directive, text, unit) if len(text) <= _SHORT else _spell(directive, text, unit)


def _spell(directive: str, text: str, unit: UnitName) -> Spelled:
    kind = kind_of(directive)
    if kind is None:
        return Spelled(Known(text))
    try:
        return Spelled(Known(kind.spell(directive.partition(".")[2], text, expander(unit))))
    except UnknownSpecifierError as unknown:
        return Spelled(Unknown(str(unknown)))
    except RefusedError as refused:
        return Spelled(None, str(refused))
    except ValueError:
        return Spelled(None)


# Many units of a fleet are alike, so answers are kept.
_SHORT = 1024
_kept = lru_cache(maxsize=4096)(_spell)
