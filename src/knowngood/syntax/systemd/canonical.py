"""One comparable spelling for the values of directives, whatever text they come from."""

from __future__ import annotations

from collections.abc import Iterable

from knowngood.syntax.systemd.directives import SAME_AS
from knowngood.syntax.systemd.kinds import Kind, joined, kind_of
from knowngood.syntax.systemd.names import UnitName
from knowngood.syntax.systemd.specifiers import UnknownSpecifierError, expander

_PERCENT = "\ue000"  # stands for the specifiers that stay, and is in no text otherwise


def canonical(directive: str, text: str, *, unit: str | None = None) -> str:
    """The one spelling of a value of `Section.Directive`; several lines of it stand on lines of their own.

    Limits as "16384" or "soft:hard"; sizes as 64G, in the largest unit without a rest; spans of time as
    "1h 30s"; truth as yes or no; CPUs as "0-3 8"; words with just the quotes they need. What is spelled is a
    unit's text again, and spelled once more it stays as it is. A directive that is not known is trimmed.
    `unit` is the name that %i and the like stand for; without it they stay as they are.
    Raises ValueError with a sentence for text that systemd would not take.
    """
    return _canonical(directive, text.split("\n"), unit)


def canonical_lines(directive: str, lines: Iterable[str], *, unit: str | None = None) -> str:
    """The same for the lines of a directive in their order; what systemd would not take is only trimmed.

    An empty line resets those before it, where systemd has it so.
    """
    texts = list(lines)
    try:
        return _canonical(directive, texts, unit)
    except ValueError:
        return "\n".join(text.strip() for text in texts)


def _canonical(directive: str, lines: list[str], unit: str | None) -> str:
    own = SAME_AS.get(directive, directive)
    kind = kind_of(own)
    texts = [line.strip(" \t\r") for line in lines]
    if kind is None:
        return "\n".join(texts)
    spelled: list[str] = []
    for text in texts:
        if text:
            spelled.append(_spell(kind, own, text, unit))
        elif kind.empty == "reset":
            spelled.clear()
    if not spelled:
        if kind.empty == "reset":
            return ""
        raise ValueError(f"{directive} can't be empty.")
    return joined(own, spelled)


def _spell(kind: Kind, directive: str, text: str, unit: str | None) -> str:
    name = directive.partition(".")[2]
    try:
        return kind.spell(name, text, expander(None if unit is None else UnitName.of(unit)))
    except UnknownSpecifierError:
        hidden = kind.spell(name, text, lambda part: part.replace("%", _PERCENT))
        return hidden.replace(_PERCENT, "%")
