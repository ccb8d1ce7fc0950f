"""From what a host should have to the question put to it: the probe's program, and its request."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from knowngood.model import Desired, Want
from knowngood.observe.program import call_of_probe, probe_program
from knowngood.syntax.secrets import MASK, SECRETIVE_PATTERN, compared_by_digest

DEADLINE = 25.0  # seconds; less than the controller's own deadline for a node
# The properties that an Observation is made of.
NEEDED = "LoadState ActiveState SubState UnitFileState MainPID NRestarts NeedDaemonReload InvocationID"
NEEDED += " FragmentPath DropInPaths Result ExecMainStatus"
# Every match of SECRETIVE_PATTERN ends with one of these. The probe looks for them before it pays for `re`.
HINTS = "token secret secrets password passwd passphrase pwd passwort credential credentials cred creds"
HINTS += " key bearer cookie dsn jwt pat auth"


def ask(
    roles: Sequence[Desired],
    nonce: bytes,
    *,
    properties: Iterable[str] | None = None,
    rehash: bool = False,
    deadline: float = DEADLINE,
) -> bytes:
    """The whole stdin for `python3 -I -S -` on a host with these roles: one question, in ASCII.

    `nonce` keys the digests of secrets, and marks the answer as one to this question. `properties` limits
    which of systemd's properties come back; None means all. `rehash` distrusts the hashes that the node
    remembers. After `deadline` seconds the node answers with what it has.
    """
    request = {
        "run": run_of(nonce),
        "nonce": nonce.hex(),
        "deadline": deadline,
        "rehash": rehash,
        "secretive": SECRETIVE_PATTERN,
        "hints": HINTS.split(),
        "mask": MASK,
        "properties": None if properties is None else sorted({*properties, *NEEDED.split()}),
        "files": sorted({path for role in roles for path in paths_of(role)}),
        "roles": [_role(role) for role in roles],
    }
    return (probe_program() + call_of_probe(request)).encode("ascii")


def run_of(nonce: bytes) -> str:
    """The name of a run that its answers carry; it does not tell the nonce."""
    return hashlib.sha256(b"knowngood run " + nonce).hexdigest()[:16]


def paths_of(role: Desired) -> Iterable[str]:
    """The paths whose state a role asks for."""
    yield from (file.path for file in role.files)
    if role.script is not None:
        yield role.script.path


def _role(role: Desired) -> dict[str, object]:
    knobs: dict[str, Want] = {**role.env, **role.unit_env}
    sealed = [flag for flag, want in role.args.items() if compared_by_digest(flag, want)]
    plain = [flag for flag in role.args if flag not in sealed]
    return {
        "manifest": role.manifest,
        "unit": role.unit,
        "script": None if role.script is None else role.script.path,
        "env": {name: compared_by_digest(name, want) for name, want in knobs.items()},
        "sealed_flags": _all_spellings(role, sealed),
        "plain_flags": _all_spellings(role, plain),
    }


def _all_spellings(role: Desired, flags: Iterable[str]) -> list[str]:
    return [name for flag in flags for name in role.spellings(flag)]
