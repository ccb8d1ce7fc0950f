"""The commit and the dirtiness of a manifest and its files, asked of real git repositories."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from knowngood.model import ManifestInfo
from knowngood.store.git import Revision, manifest_info, revision


@dataclass
class Named:
    name: str = "decode"
    path: str = "state/decode.yaml"
    sources: tuple[str, ...] = ("state/files/kernel.py",)


PATHS = (Named.path, *Named.sources)


def git(project: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=project, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(project: Path) -> str:
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "x")
    return git(project, "rev-parse", "HEAD")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in a folder of a repository, as one that lives beside other things."""
    folder = tmp_path / "fleet"
    (folder / "state" / "files").mkdir(parents=True)
    for path in PATHS:
        (folder / path).write_text("1\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    return folder


def test_the_commit_is_the_last_that_changed_the_manifest_or_its_files(project: Path) -> None:
    first = commit(project)
    (project / "README").write_text("x", encoding="utf-8")
    commit(project)
    assert revision(project, PATHS) == Revision(first)
    (project / Named.sources[0]).write_text("2\n", encoding="utf-8")
    assert revision(project, PATHS) == Revision(first, dirty=True)
    assert manifest_info(project, Named()) == ManifestInfo("decode", Named.path, first, True)
    second = commit(project)
    assert revision(project, PATHS) == Revision(second)


def test_an_edit_elsewhere_is_not_dirt(project: Path) -> None:
    (project / "README").write_text("1", encoding="utf-8")
    first = commit(project)
    (project / "README").write_text("2", encoding="utf-8")
    (project / "new").write_text("2", encoding="utf-8")
    assert revision(project, PATHS) == Revision(first)


@pytest.mark.parametrize("ignored", [False, True])
def test_a_file_that_git_does_not_keep_is_dirt(project: Path, ignored: bool) -> None:
    (project / "state" / "files" / ".gitignore").write_text("kernel.py\n", encoding="utf-8")
    first = commit(project)
    if not ignored:
        (project / "state" / "files" / ".gitignore").unlink()
    assert revision(project, PATHS) == Revision(first, dirty=True)


def test_staged_and_removed_files_are_dirt(project: Path) -> None:
    first = commit(project)
    (project / Named.path).write_text("2\n", encoding="utf-8")
    git(project, "add", "-A")
    assert revision(project, PATHS) == Revision(first, dirty=True)
    git(project, "rm", "-q", "-f", Named.path)
    assert revision(project, PATHS) == Revision(first, dirty=True)


def test_a_repository_without_a_commit(project: Path) -> None:
    assert revision(project, PATHS) == Revision(None, dirty=True)


def test_no_repository_is_no_problem(tmp_path: Path) -> None:
    assert revision(tmp_path, ("x",)) == Revision()


def test_no_git_is_no_problem(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project))
    assert revision(project, PATHS) == Revision()


def test_a_broken_repository_is_told(project: Path) -> None:
    commit(project)
    (project.parent / ".git" / "HEAD").write_text("ref: refs/heads/../../x\n", encoding="utf-8")
    (project.parent / ".git" / "config").write_text("[core\n", encoding="utf-8")
    found = revision(project, PATHS)
    assert found.commit is None
    assert found.problem is not None
    assert found.problem.startswith("git: ")


def test_names_are_taken_as_they_are(project: Path) -> None:
    """`*` and a leading `:` mean something to git's pathspecs; here they are names."""
    (project / "state" / ":(glob)*.yaml").write_text("1", encoding="utf-8")
    first = commit(project)
    (project / "state" / "other.yaml").write_text("1", encoding="utf-8")
    assert revision(project, ("state/:(glob)*.yaml",)) == Revision(first)


def test_the_environment_of_a_hook_leads_nowhere_else(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = commit(project)
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert revision(project, PATHS) == Revision(first)
