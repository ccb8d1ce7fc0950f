"""Secrets never leave the node as they are: digests where the manifest asks for a value, a mask elsewhere."""

from knowngood.node.sha256 import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_BLOCK = 64  # bytes of a block of SHA-256
_LONG = 8  # a shorter secret's text is too likely to stand somewhere by chance


class Seals:
    """What is secret in one run. `secretive` is a pattern of `re` for names, `hints` words without which it
    can't match: importing `re` costs half as much as starting Python, and most nodes never need it.
    """

    def __init__(self, nonce: bytes, secretive: str, hints: "list[str]", mask: str) -> None:
        self._nonce = nonce
        self._secretive = secretive
        self._hints = hints
        self._pattern = None  # type: re.Pattern[str] | None
        self._judged = {}  # type: dict[str, bool]
        self.mask = mask

    def digest(self, data: bytes) -> str:
        """`hmac:HEX` of a secret: HMAC-SHA256 (RFC 2104), keyed with the run's nonce."""
        key = self._nonce if len(self._nonce) <= _BLOCK else digest(self._nonce)
        key = key.ljust(_BLOCK, b"\0")
        inner = digest(bytes(byte ^ 0x36 for byte in key) + data)
        return "hmac:" + digest(bytes(byte ^ 0x5C for byte in key) + inner).hex()

    def looks_secret(self, name: str) -> bool:
        """Whether a name says that its value is a secret."""
        if name not in self._judged:
            self._judged[name] = self.may_name_secrets(name) and self._matches(name)
        return self._judged[name]

    def _matches(self, name: str) -> bool:
        if self._pattern is None:
            import re

            self._pattern = re.compile(self._secretive)
        return self._pattern.search(name) is not None

    def may_name_secrets(self, text: str) -> bool:
        """False only where no name in the text can look secret."""
        low = text.lower()
        return any(_ends_as_word(text, low, hint) for hint in self._hints)


def _ends_as_word(text: str, low: str, hint: str) -> bool:
    """Whether the hint stands in the text where a word may end: before no letter of the same word."""
    at = low.find(hint)
    while at >= 0:
        end = at + len(hint)
        after = text[end : end + 1]
        if not after.isalnum() or (after.isupper() and text[end - 1].islower()):
            return True
        at = low.find(hint, at + 1)
    return False


_shown, _plain, _masked, _digested = "shown", "plain", "masked", "digested"


class Argv:
    """Seals the words of one unit's processes. `sealed` flags are compared by digest, `plain` ones shown."""

    def __init__(self, seals: Seals, sealed: "list[str]", plain: "list[str]") -> None:
        self._seals = seals
        self._kinds = dict.fromkeys(plain, _plain)
        self._kinds.update(dict.fromkeys(sealed, _digested))

    def words(self, argv: "list[bytes]", secrets: "list[bytes]") -> "list[str]":
        """The words as they may leave the node. `secrets` are values of the process's own environment."""
        values = _shown  # what happens to a word that is no flag
        out = []
        for at, data in enumerate(argv):
            text = data.decode("utf-8", "surrogateescape")
            if not at or not self._is_flag(text, after_secret=values in (_masked, _digested)):
                out.append(self._word(text, values, secrets))
                continue
            name, equals, value = text.partition("=")
            kind = self._kind(name)
            out.append(name + equals + self._word(value, kind, secrets) if equals else text)
            values = _shown if equals else kind
        return out

    def _is_flag(self, text: str, after_secret: bool) -> bool:
        """A word with a dash; behind a secret's flag only one that can't well be the secret itself."""
        if not text.startswith("-") or len(text) < 2:
            return False
        known = text.partition("=")[0] in self._kinds
        return not after_secret or known or text.startswith("--") or len(text) == 2

    def _kind(self, flag: str) -> str:
        return self._kinds.get(flag) or (_masked if self._seals.looks_secret(flag) else _shown)

    def _word(self, text: str, kind: str, secrets: "list[bytes]") -> str:
        if kind == _digested:
            return self._seals.digest(text.encode("utf-8", "surrogateescape"))
        if kind == _masked:
            return self._seals.mask
        if kind == _plain:
            return text
        for secret in secrets:
            if len(secret) >= _LONG:
                text = text.replace(secret.decode("utf-8", "surrogateescape"), self._seals.mask)
        return self._without_named_secrets(text)

    def _without_named_secrets(self, text: str) -> str:
        """Mask what a word holds inside: NAME=value, "name": value, --flag value, user:password@host."""
        if "://" not in text and not self._seals.may_name_secrets(text):
            return text
        import re

        named = re.compile(_NAMED)
        text = re.sub(_URL, lambda found: found.group(1) + self._seals.mask + "@", text)
        out = []  # type: list[str]
        at = 0
        while True:
            found = named.search(text, at)
            if found is None:
                return "".join(out) + text[at:]
            out.append(text[at : found.end(2)])
            at = found.end(2)
            if self._gives_value(found) and self._seals.looks_secret(found.group(1)):
                out.append(self._seals.mask)
                at = found.end()

    def _gives_value(self, found: "re.Match[str]") -> bool:
        """Whether the name's value follows: behind a mere space only for a flag, and for `Bearer`."""
        name, between = found.group(1), found.group(2)
        return bool(between.strip()) or name.startswith("-") or name.lower() == "bearer"


_NAMED = (
    r"""([A-Za-z0-9_.-]+)(["']?\s*[=:]\s*|\s+)"""
    r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;&}"']+)"""
)
_URL = r"""(://[^/\s:@]*:)[^/\s@]+@"""
