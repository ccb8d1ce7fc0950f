"""Finding the project, and starting one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from knowngood.manifest import load_manifests, schema_text
from knowngood.store.project import ProjectError, find, kept
from knowngood.store.skeleton import write_skeleton


def make(directory: Path) -> Path:
    (directory / "inventory").mkdir(parents=True)
    (directory / "state").mkdir()
    return directory


def test_c_wins_over_the_variable_and_that_over_the_ancestor(tmp_path: Path) -> None:
    named, by_variable, above = (make(tmp_path / name) for name in ("named", "variable", "above"))
    environ = {"KNOWNGOOD_PROJECT": str(by_variable)}
    deep = above / "state" / "files"
    deep.mkdir()
    assert find(str(named), environ, deep) == named
    assert find(None, environ, deep) == by_variable
    assert find(None, {}, deep) == above
    assert find(None, {"KNOWNGOOD_PROJECT": ""}, above) == above


def test_the_nearest_ancestor_wins(tmp_path: Path) -> None:
    inner = make(make(tmp_path / "outer") / "state" / "inner")
    assert find(None, {}, inner / "state") == inner


def test_a_relative_name_and_a_link_give_an_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make(tmp_path / "project")
    (tmp_path / "link").symlink_to(project)
    monkeypatch.chdir(tmp_path)
    assert find("project", {}) == find("link", {}) == project


@pytest.mark.parametrize(
    ("directory", "environ", "told"),
    [
        ("gone", {}, "-C names gone, which is no directory"),
        ("half", {}, "half, named by -C, has no state/ in it"),
        ("none", {}, "none, named by -C, has no inventory/ and no state/ in it"),
        (None, {"KNOWNGOOD_PROJECT": "none"}, "none, named by $KNOWNGOOD_PROJECT, has no inventory/"),
        (None, {}, "knowngood init"),
    ],
)
def test_no_project_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directory: str | None, environ: dict[str, str], told: str
) -> None:
    (tmp_path / "half" / "inventory").mkdir(parents=True)
    (tmp_path / "none").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProjectError) as raised:
        find(directory, environ, tmp_path)
    assert told in str(raised.value)


def test_a_new_project_is_valid_and_complete(tmp_path: Path) -> None:
    project = tmp_path / "new" / "fleet"
    files = write_skeleton(project, schema_text())
    manifests, diagnostics = load_manifests(project)
    assert diagnostics == []
    assert [manifest.path for manifest in manifests] == ["state/decode.yaml"]
    assert find(str(project)) == project
    assert all((project / file).is_file() for file in files)
    assert (project / "state" / "manifest.schema.json").read_text(encoding="utf-8") == schema_text()
    compile((project / "inventory" / "fleet.py").read_text(encoding="utf-8"), "fleet.py", "exec")


def test_git_sees_all_of_a_new_project_but_what_is_kept(tmp_path: Path) -> None:
    files = write_skeleton(tmp_path, schema_text())
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    seen = subprocess.run(
        ["git", "-C", tmp_path, "status", "--porcelain", "-uall"], capture_output=True, text=True, check=True
    ).stdout
    assert sorted(line[3:] for line in seen.splitlines()) == sorted(map(str, files))


@pytest.mark.parametrize("there", ["inventory/fleet.py", "state/decode.yaml", "state/files/.gitkeep"])
def test_nothing_is_overwritten_and_nothing_half_written(tmp_path: Path, there: str) -> None:
    (tmp_path / there).parent.mkdir(parents=True)
    (tmp_path / there).write_text("mine", encoding="utf-8")
    with pytest.raises(ProjectError, match="exists already; nothing was written"):
        write_skeleton(tmp_path, schema_text())
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()] == [there]
    assert (tmp_path / there).read_text(encoding="utf-8") == "mine"


def test_a_project_is_not_made_twice(tmp_path: Path) -> None:
    write_skeleton(tmp_path, schema_text())
    with pytest.raises(ProjectError, match="is a project already"):
        write_skeleton(tmp_path, schema_text())


def test_a_failure_midway_leaves_nothing(tmp_path: Path) -> None:
    project = tmp_path / "fleet"
    project.mkdir()
    (project / "state").write_text("a file where a folder is needed", encoding="utf-8")
    with pytest.raises(ProjectError, match="nothing was written"):
        write_skeleton(project, schema_text())
    assert [path.name for path in project.iterdir()] == ["state"]


def test_what_is_kept_is_ours_alone_and_ignored(tmp_path: Path) -> None:
    folder = kept(tmp_path)
    assert folder == kept(tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / ".gitignore").read_text(encoding="ascii") == "*\n"
