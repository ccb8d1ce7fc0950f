"""Which names hold secrets, and how a secret is compared and shown without being told.

A name is secret-looking when one of its words is: HF_TOKEN, AWS_SECRET_ACCESS_KEY, --api-key, dbPassword.
TOKENIZER, MAX_TOKENS, KEYRING and MONKEY are not: the word must stand alone between underscores, dashes,
dots or a change of case. MASK stands wherever a secret's text stood.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable

from knowngood.model import Known, Occurrences, Secret, Value

MASK = "‹secret›"

# Sent to the node's probe as it is, so that both sides mask alike; it must stay within Python 3.6's `re`.
SECRETIVE_PATTERN = (
    r"(?:^|[^A-Za-z0-9]|(?<=[a-z])(?=[A-Z]))"
    r"(?:(?i:token|secret|secrets|password|passwd|passphrase|pwd|passwort|credential|credentials|cred|creds|"
    r"apikey|api[_-]?key|auth[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|key|"
    r"bearer|cookie|dsn|jwt|pat|auth))"
    r"(?:$|[^A-Za-z0-9]|(?<=[a-z])(?=[A-Z]))"
)
_SECRETIVE = re.compile(SECRETIVE_PATTERN)


def looks_secret(name: str) -> bool:
    """Whether a knob's or flag's name says that its value is a secret."""
    return _SECRETIVE.search(name) is not None


def digest(nonce: bytes, text: str) -> str:
    """`hmac:HEX` of a secret, keyed with the run's nonce: equal for equal secrets, useless after the run.

    `text` may hold surrogate escapes (PEP 383). HMAC-SHA256, RFC 2104.
    """
    return "hmac:" + hmac.new(nonce, text.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()


def sealed_value(value: Value, nonce: bytes, *, as_flag: bool = False) -> Value:
    """The value with every text in it replaced by its digest; a flag's single text becomes its one word."""
    if not isinstance(value, Known):
        return value
    plain = value.value
    if isinstance(plain, Occurrences):
        words = tuple(tuple(digest(nonce, word) for word in words) for words in plain.words)
        return Known(Occurrences(words, plain.listed))
    sealed = digest(nonce, plain)
    return Known(Occurrences(((sealed,),))) if as_flag else Known(sealed)


def mask(text: str, secrets: Iterable[str]) -> str:
    """The text with every one of the secrets replaced by MASK, the longest first."""
    for secret in sorted({s for s in secrets if s}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def compared_by_digest(name: str, want: object) -> bool:
    """Whether a knob's or flag's value never leaves a node: declared as a secret, or named like one."""
    return isinstance(want, Secret) or looks_secret(name)
