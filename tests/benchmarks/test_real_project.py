from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import real_project
from benchmarks.__main__ import main, names

SOURCE = '''
class A:
    def run(self, x):
        """Say x."""
        return x + 1


class B:
    def run(self, x):
        return x
'''


def test_each_benchmark_can_be_asked_for_by_name():
    assert "real_project" in names()
    assert all(not name.startswith("_") for name in names())


@pytest.mark.parametrize("argv", [[], ["nothing"], ["os"], ["../demo"]])
def test_an_unknown_name_is_a_usage_error_that_lists_the_known(argv, capsys):
    assert main(argv) == 2
    assert "real_project" in capsys.readouterr().err


def test_functions_are_compared_without_their_place_and_comments():
    moved = SOURCE.replace("class A", "\n\nclass A").replace("x + 1", "x  +  1  # one more")
    assert real_project.function(SOURCE, "A.run") == real_project.function(moved, "A.run")
    assert real_project.function(SOURCE, "A.run") != real_project.function(SOURCE, "B.run")
    assert real_project.function(SOURCE, "C.run") == ""


@pytest.mark.parametrize("text", ["x = 1\n", "right right\n"])
def test_a_bug_that_does_not_apply_exactly_once_is_refused(tmp_path, text):
    release = tmp_path / "release"
    release.mkdir()
    (release / "a.py").write_text(text)
    bug = real_project.Bug("a.py", "f", "right", "wrong")
    with pytest.raises(real_project.Failed, match=r"times in a\.py"):
        real_project.plant(release, bug, tmp_path / "repo")


def test_a_planted_bug_is_committed_and_the_release_untouched(tmp_path, monkeypatch):
    monkeypatch.setattr(real_project, "BUILD", tmp_path)
    release = tmp_path / "release"
    release.mkdir()
    (release / "a.py").write_text("right\n")
    bug = real_project.Bug("a.py", "f", "right", "wrong")
    real_project.plant(release, bug, tmp_path / "repo")
    told = subprocess.run(
        ["git", "show", "HEAD:a.py"], cwd=tmp_path / "repo", capture_output=True, text=True
    )
    assert told.stdout == "wrong\n"
    assert (release / "a.py").read_text() == "right\n"


def test_a_step_that_fails_says_why(tmp_path):
    with pytest.raises(real_project.Failed, match="no luck"):
        real_project.demand([sys.executable, "-c", "raise SystemExit('no luck')"], Path(tmp_path))


@pytest.mark.long
def test_an_environment_is_made_in_a_clone_where_nothing_was_built_before(tmp_path, monkeypatch):
    monkeypatch.setattr(real_project, "BUILD", tmp_path / "build" / "real_project")
    project = real_project.Project("none", "", "", ("pip",), ())
    assert real_project.environment(project).is_file()
