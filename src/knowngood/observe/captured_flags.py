"""The flags of a launch as a manifest would declare them: each with the shape that its words suggest."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowngood.model import Known, Occurrences, Reading, Setting, Unknown, Want
from knowngood.observe.captured_script import own_words
from knowngood.observe.proposal import Sheet
from knowngood.syntax.argv import Arg, Shape, flag_value, parse_args
from knowngood.syntax.secret_texts import holds_secret
from knowngood.syntax.secrets import MASK, looks_secret

_FLAG = re.compile(r"-(?!-?$)[^\s={}\x00-\x1f\x7f]+")
_NUMBER = re.compile(r"[-+]?[\d.]+(?:e[-+]?\d+)?", re.IGNORECASE)


def propose_flags(argv: tuple[Reading, ...], sheet: Sheet) -> dict[str, Want]:
    """The flags among the words of the server's launch; what can't be told stands on the sheet."""
    words = own_words(argv)
    args, positionals = parse_args(words)
    by_flag: dict[str, list[Arg]] = {}
    for arg in args:
        by_flag.setdefault(_normal(arg.flag), []).append(arg)
    wants: dict[str, Want] = {}
    taken: set[int] = set()
    for group in by_flag.values():
        flag = group[0].flag
        shape = _shape(group, last=args[-1])
        if shape == "many":
            taken.update(id(word) for arg in group for word in arg.more)
        want = _want(flag, words, shape, sheet)
        if want is not None:
            wants[flag] = want
    _remark_positionals([word for word in positionals if id(word) not in taken], sheet)
    return wants


def _normal(flag: str) -> str:
    return flag.replace("_", "-") if flag.startswith("--") else flag


def _shape(group: Sequence[Arg], last: Arg) -> Shape:
    """How many words the flag seems to take. At the very end only numbers are sure not to be positional."""
    if len(group) > 1:
        return "repeat"
    arg = group[0]
    if arg.value is None:
        return "bare"
    if not arg.more:
        return "one"
    numbers = all(_NUMBER.fullmatch(_text(word) or "") for word in (arg.value, *arg.more))
    return "many" if numbers or arg is not last else "one"


def _want(flag: str, words: Sequence[Reading], shape: Shape, sheet: Sheet) -> Want | None:
    setting = Setting("arg", flag)
    if not _FLAG.fullmatch(flag):
        sheet.left_out[setting] = "a manifest can't spell this flag"
        return None
    # The answer that drift will give for this shape is what the manifest has to say.
    reading = flag_value(words, (flag,), shape)
    if not isinstance(reading.value, Known) or not isinstance(reading.value.value, Occurrences):
        sheet.left_out[setting] = (
            reading.value.reason if isinstance(reading.value, Unknown) else "it is not given"
        )
        return None
    occurrences = reading.value.value
    texts = [word for each in occurrences.words for word in each]
    if texts and (looks_secret(flag) or any(map(holds_secret, texts))):
        if occurrences.words != ((texts[0],),):
            sheet.left_out[setting] = "a secret of several words can't be declared"
            return None
        sheet.note(setting, reading)
        return sheet.secret(flag.lstrip("-").replace("-", "_").replace(".", "_").upper(), texts[0])
    if shape == "repeat" and not all(occurrences.words):
        sheet.left_out[setting] = "given several times, not always with a value"
        return None
    sheet.note(setting, reading)
    return reading.value


def _remark_positionals(words: Sequence[Reading], sheet: Sheet) -> None:
    """Words that belong to no flag have no place in a manifest."""
    if words:
        told = " ".join(_shown(word) for word in words)
        sheet.remarks.append(f"words without a flag are not compared: {told}")


def _shown(word: Reading) -> str:
    text = _text(word)
    if text is None:
        return "…"
    return MASK if holds_secret(text) else text


def _text(word: Reading) -> str | None:
    return word.value.value if isinstance(word.value, Known) and isinstance(word.value.value, str) else None
