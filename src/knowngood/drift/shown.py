"""Making layers showable: the values of secrets, declared or by their names, become marks.

A mark is a few digits of a digest keyed with the run's nonce: two layers with the same secret show the
same mark, and the mark says nothing of the secret once the run is over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowngood.model import Known, Layers, Occurrences, Plain, Setting, Unknown, Value
from knowngood.syntax.secret_texts import untelling
from knowngood.syntax.secrets import MASK, looks_secret, mask

_DIGEST = re.compile(r"hmac:([0-9a-f]{8})[0-9a-f]{56}")


def shown_layers(setting: Setting, layers: Layers, secrets: Sequence[str]) -> Layers:
    """The layers with no secret in them."""
    hide = setting.kind in ("env", "arg") and looks_secret(setting.name)
    return Layers(
        _shown(layers.manifest, secrets, hide),
        *(
            None if value is None else _shown(value, secrets, hide)
            for value in (layers.disk, layers.loaded, layers.running)
        ),
    )


def shown_text(setting: Setting, text: str, secrets: Sequence[str]) -> str:
    """A line of evidence with declared secrets and digests replaced by marks."""
    return _mark_digests(untelling(mask(text, secrets)))


def _shown(value: Value, secrets: Sequence[str], hide: bool) -> Value:
    if isinstance(value, Unknown):
        return Unknown(_mark_digests(untelling(mask(value.reason, secrets))))
    if not isinstance(value, Known):
        return value
    return Known(_shown_plain(value.value, secrets, hide))


def _shown_plain(plain: Plain, secrets: Sequence[str], hide: bool) -> Plain:
    if isinstance(plain, Occurrences):
        return Occurrences(
            tuple(tuple(_shown_word(word, secrets, hide) for word in words) for words in plain.words),
            plain.listed,
        )
    return _shown_word(plain, secrets, hide)


def _shown_word(word: str, secrets: Sequence[str], hide: bool) -> str:
    marked = _mark_digests(mask(word, secrets))
    # A secret-looking name that the manifest does not declare as {secret:}: its value is hidden all the same.
    return MASK if hide and marked == word and word else marked


def _mark_digests(text: str) -> str:
    return _DIGEST.sub(lambda match: f"‹secret {match[1]}›", text)
