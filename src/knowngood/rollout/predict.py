"""What a node would say, were all texts of a plan written and its unit not yet restarted.

The plan is made from this: what is still wrong on disk then can't be mended by writing, what the manager has
otherwise needs a daemon-reload, and what the process has otherwise needs a restart. So a plan is right by the
same judgement that drift makes, and no restart is lost to a run that ended half-way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace

from knowngood.model import Desired, FileState, Observation, Receipt, Text
from knowngood.rollout.dropin import secrets_path, with_dropin
from knowngood.rollout.plan import FileChange


def written(
    desired: Desired,
    observation: Observation,
    changes: Iterable[FileChange],
    secrets: bytes | None,
    vouched: Mapping[str, str],
) -> Observation:
    """The observation after these changes. `secrets` is the new text of the file of secrets, None: unchanged.

    `vouched`: files (path → sha256) whose content the running process is known to have.
    """
    files = dict(observation.files)
    script, unit = observation.script, observation.unit
    for change in changes:
        if change.kind == "dropin":
            ours = Text(change.path, change.data, None if change.data is not None else "missing")
            unit = replace(unit, dropins=with_dropin(unit.dropins, ours, unit.name))
        else:
            files[change.path] = _file(change, files.get(change.path), observation.now_ns)
        if change.kind == "script" and change.data is not None:
            script = Text(change.path, change.data)
    if secrets is not None:
        ours = Text(secrets_path(desired), secrets)
        others = tuple(text for text in unit.environment_files if text.path != ours.path)
        unit = replace(unit, environment_files=(*others, ours))
    return replace(
        observation,
        files=files,
        script=script,
        unit=unit,
        receipt=_receipt(observation, files, vouched),
    )


def _file(change: FileChange, before: FileState | None, now_ns: int) -> FileState:
    was = before if before is not None else FileState(change.path, "missing")
    if change.writes:
        size = len(change.data) if change.data is not None else was.size
        was = replace(was, kind="regular", error=None, sha256=change.new, size=size, mtime_ns=now_ns, pycs=())
    if change.stale_bytecode:
        was = replace(was, pycs=())
    return replace(
        was,
        ctime_ns=now_ns,
        mode=change.mode or was.mode,
        owner=change.owner or was.owner,
        group=change.group or was.group,
    )


def _receipt(
    observation: Observation, files: Mapping[str, FileState], vouched: Mapping[str, str]
) -> Receipt | None:
    if not vouched:
        return observation.receipt
    known = dict(observation.receipt.files) if observation.receipt is not None else {}
    known |= {path: (sha256, files[path].ctime_ns) for path, sha256 in vouched.items()}
    return Receipt(observation.unit.invocation_id, known)


def sha256_of(data: bytes | None) -> str | None:
    """Lower-case hex; None for no file."""
    return None if data is None else hashlib.sha256(data).hexdigest()
