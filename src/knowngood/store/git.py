"""What git knows of a manifest and the files it names: the commit they stand at, and whether they differ.

Only those files count: an edit elsewhere in the tree makes no manifest dirty. Without git, or outside a
repository, there is no commit and nothing is dirty.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from knowngood.model import ManifestInfo

_DEADLINE = 20  # seconds; a repository on a dead network drive must not hold us for ever
# Of `git rev-parse --local-env-vars`: set while git runs a hook, they point at another repository than ours.
_LOCAL = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
)


class Named(Protocol):
    """A manifest as far as git is concerned; paths are relative to the project."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def sources(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Revision:
    """The last commit that changed some files (40 hex digits, None: there is none), and whether they differ.

    `problem` is why git could not say, None where it could or where no git is in use.
    """

    commit: str | None = None
    dirty: bool = False
    problem: str | None = None


def manifest_info(project: Path, manifest: Named) -> ManifestInfo:
    """A manifest as a report names it."""
    found = revision(project, (manifest.path, *manifest.sources))
    return ManifestInfo(manifest.name, manifest.path, found.commit, found.dirty)


def revision(project: Path, paths: Sequence[str]) -> Revision:
    """The commit that last changed any of the paths (relative to the project), and if they differ now.

    Dirty is a change that is not committed, staged or not, and a file that git does not track or ignores.
    """
    try:
        log = _git(project, "log", "-1", "--format=%H", "--", *paths)
        if log.returncode:
            return _without_commit(project, paths, log.stderr)
        changes = _changes(project, paths)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Revision(problem=None if isinstance(error, FileNotFoundError) else f"git: {error}")
    if changes.returncode:
        return Revision(problem=_first_line(changes.stderr))
    return Revision(log.stdout.strip() or None, bool(changes.stdout.strip("\0")))


def _without_commit(project: Path, paths: Sequence[str], complaint: str) -> Revision:
    """No commit yet is no problem, and neither is no repository; all else that git complains of is one."""
    if "not a git repository" in complaint:
        return Revision()
    changes = _changes(project, paths)
    if changes.returncode:
        return Revision(problem=_first_line(complaint))
    return Revision(None, bool(changes.stdout))


def _changes(project: Path, paths: Sequence[str]) -> subprocess.CompletedProcess[str]:
    wanted = ("--porcelain", "-z", "--untracked-files=all", "--ignored=matching")
    return _git(project, "status", *wanted, "--", *paths)


def _git(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # An fsmonitor is a program that the repository's configuration names; looking needs none.
    careful = (
        "--no-optional-locks",
        "--literal-pathspecs",
        "--no-pager",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "log.showSignature=false",
    )
    return subprocess.run(
        ["git", *careful, *arguments],
        cwd=project,
        env={k: v for k, v in os.environ.items() if k not in _LOCAL} | {"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=_DEADLINE,
        check=False,
    )


def _first_line(text: str) -> str:
    return "git: " + (text.strip().splitlines() or ["it gave no reason"])[0].removeprefix("fatal: ")
