"""Writing a text so that bash reads it back as it is, in the manner of what stood there before."""

from __future__ import annotations

import re

# Safe without quotes in every place where a word may stand; a tilde or a brace would be expanded.
_BARE = re.compile(r"[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*", re.ASCII)
_KEPT_BARE = re.compile(r"[^'\"$`\\]+")


def quoted(text: str, like: str = "") -> str:
    """`text` as one word. `like` is the source of the word that it replaces: its quotes are kept if they can.

    Both are Latin-1, a character for a byte.
    """
    if like.startswith("'") and "'" not in text:
        return f"'{text}'"
    if like.startswith('"') or not _BARE.fullmatch(text):
        if not like.startswith('"') and re.search(r'[$`\\"]', text) and "'" not in text:
            return f"'{text}'"
        return '"' + re.sub(r'([$`\\"])', r"\\\1", text) + '"'
    return text


def style_of(source: str) -> str:
    """The quote that a word's source begins with, as `like` for others; "" for none."""
    return source[:1] if source[:1] in ("'", '"') else ""
