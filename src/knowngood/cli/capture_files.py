"""The contents that a capture keeps in state/files/, fetched unless they lie there already."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from knowngood.cli.capture_node import CapturedNode
from knowngood.cli.capture_wish import Wish
from knowngood.cli.common import stop
from knowngood.manifest import load_manifests
from knowngood.model import Desired, FileState, Observation
from knowngood.observe.fetch import LARGEST
from knowngood.observe.proposal import Proposal
from knowngood.syntax.secret_texts import secret_lines

_TELLING = 6  # characters; a shorter secret's text stands in other texts by chance


def sources_of(wish: Wish, desired: Desired) -> Mapping[str, str]:
    """Where each content goes, relative to state/: by its name, and the folders that tell it apart."""
    paths = list(wish.paths)
    if desired.script is not None:
        if desired.script.path in paths:
            stop(f"{desired.script.path} is the serve script: --own-script fetches it")
        if wish.own_script:
            paths.append(desired.script.path)
    return {path: f"files/{_telling_name(path, paths)}" for path in paths}


def _telling_name(path: str, paths: Sequence[str]) -> str:
    parts = path.strip("/").split("/")
    for count in range(1, len(parts) + 1):
        name = "-".join(parts[-count:])
        if not any(
            other != path and ("/" + other.strip("/")).endswith("/" + "/".join(parts[-count:]))
            for other in paths
        ):
            return name
    return "-".join(parts)


def contents_of(
    wish: Wish, node: CapturedNode, observation: Observation, sources: Mapping[str, str], proposal: Proposal
) -> Mapping[str, bytes]:
    """The files' contents by source; stops where one can't be kept."""
    contents = {}
    for path, source in sources.items():
        state = observation.files[path]
        here = _read_known(wish.project / "state" / source, state.sha256 or "")
        if here is None:
            _check_place(wish, state, source)
            here = node.content(path, state.sha256 or "")
            _refuse_secrets(wish, path, source, here, proposal)
        contents[source] = here
    return contents


def _check_place(wish: Wish, state: FileState, source: str) -> None:
    """Stop where the content is too large to be fetched, or would take another's place."""
    if state.size > LARGEST:
        size = f"{LARGEST >> 20} MB"
        stop(f"{state.path} is larger than {size}: copy it to state/{source} by hand, and capture again")
    if not (wish.project / "state" / source).exists():
        return
    if not wish.force:
        stop(f"state/{source} exists with another content than {state.path} has: --force overwrites it")
    for manifest in load_manifests(wish.project)[0]:
        if f"state/{source}" in manifest.sources and wish.project / manifest.path != wish.manifest:
            stop(f"state/{source} is a source of {manifest.path}, with another content than {state.path} has")


def _read_known(place: Path, sha256: str) -> bytes | None:
    """What lies there, when it has this hash."""
    try:
        data = place.read_bytes()
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == sha256 else None


def has(path: Path, data: bytes) -> bool:
    """Whether a file has this content already."""
    return path.is_file() and path.read_bytes() == data


def _refuse_secrets(wish: Wish, path: str, source: str, data: bytes, proposal: Proposal) -> None:
    """Stop before a file is written that holds a secret: state/ is committed, and read by many."""
    found = [f"line {line} ({name})" for line, name in secret_lines(data, path)]
    known = [
        text.encode("utf-8", "surrogateescape") for text in proposal.secrets.values() if len(text) >= _TELLING
    ]
    if not found and any(secret in data for secret in known):
        found = ["a secret that a knob or flag holds"]
    if found:
        some = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        stop(
            f"{wish.host.name}: {path} seems to hold a secret: {some}. It was not fetched into state/."
            f" If it holds none, copy it to state/{source} by hand, and capture again"
        )
