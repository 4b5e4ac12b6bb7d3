"""What is blamed for red tests is held against what broke them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.street import culprit, figures
from benchmarks.street.clones import find
from benchmarks.street.figures import Row
from benchmarks.street.planted import Grown
from benchmarks.street.recipes import Planted, Recipe
from benchmarks.street.staged import Ended, Stage, opened, staged
from tests.github_server.repository import GitRepository

HEAD, OTHER = "a" * 40, "b" * 40
NUMPY = ("numpy", "1.26.4", "2.0.0")


class _Runner:
    sha = HEAD


def _stage(guilty: str) -> Stage:
    return Stage(cast(Any, None), cast(Any, _Runner), OTHER, culprit=guilty, commits=8)


def _ended(regression: Mapping[str, Any] | None = None, **given: Any) -> Ended:
    return Ended(
        0, "", 1.0, outcome={"regression": regression, **given.pop("outcome", {})}, **given
    )


@pytest.mark.parametrize(
    ("guilty", "innocent", "named", "judged"),
    [
        (HEAD, False, HEAD, "right"),
        (HEAD, False, OTHER, "false"),
        ("", True, HEAD, "false"),
        ("", True, OTHER, "unknown"),
        ("", False, HEAD, "unknown"),
        (HEAD, False, None, ""),
    ],
)
def test_a_commit_is_right_or_false_where_it_is_known(
    guilty: str, innocent: bool, named: str | None, judged: str
) -> None:
    ended = _ended({"bad_sha": named, "confirmed": True, "runs": 5, "package": None})
    told = culprit.blamed(ended, _stage(guilty), innocent=innocent)
    assert (told["culprit"], told["runs"], told["commits"]) == (judged, 5, 8)


@pytest.mark.parametrize(
    ("name", "good", "bad", "judged"),
    [
        ("NumPy", "1.26.4", "2.0.0", "right"),
        ("numpy", "1.20", "2.3.1", "right"),
        ("numpy", "2.0.0", "2.3.1", "false"),
        ("pandas", "1.26.4", "2.0.0", "false"),
        ("numpy", "unknown", "2.0.0", "false"),
    ],
)
def test_a_package_is_right_when_the_break_lies_between_its_versions(
    name: str, good: str, bad: str, judged: str
) -> None:
    ended = _ended({"bad_sha": "", "package": {"name": name, "good": good, "bad": bad}})
    told = culprit.blamed(ended, _stage(""), NUMPY, innocent=True)
    assert (told["package"], told["culprit"]) == (judged, "")


def test_a_package_is_a_false_culprit_where_a_commit_broke_the_tests() -> None:
    ended = _ended({"package": {"name": "numpy", "good": "1", "bad": "2"}})
    assert culprit.blamed(ended, _stage(HEAD))["culprit"] == "false"


@pytest.mark.parametrize(
    ("opened_as", "undoes", "says"),
    [
        ([("Revert the new default", False)], "", True),
        ([("Repair parse", True)], HEAD, True),
        ([("Repair parse", False)], HEAD, False),
        ([("Repair parse", True)], "", False),
        ([], HEAD, False),
    ],
)
def test_a_pull_request_says_by_title_or_as_a_draft_that_it_takes_a_change_back(
    opened_as: list[tuple[str, bool]], undoes: str, says: bool
) -> None:
    ended = _ended(opened=opened_as, outcome={"certificate": {"undoes": undoes}})
    assert culprit.takes_back(ended) is says


OLD = "def f(a):\n    return a\n\n\ndef g(a):\n    return a\n"
RIGHT = "def f(a):\n    b = a + 1\n    return b\n\n\ndef g(a):\n    return a < 1\n"
RED = RIGHT.replace("a < 1", "a <= 1")


@pytest.mark.parametrize(
    ("patched", "judged"),
    [
        (RIGHT, "kept"),
        (RED.replace("a <= 1", "1 > a"), "kept"),
        (OLD, "undone"),
        (RIGHT.replace("    b = a + 1\n    return b", "    return a"), "undone"),
    ],
)
def test_the_honest_part_of_a_mixed_commit_is_kept(
    patched: str, judged: str, tmp_path: Path
) -> None:
    git = GitRepository(tmp_path / "data/clones/ada+calc")
    git.init()
    shas = _commits(git, tmp_path, {"calc.py": OLD}, {"calc.py": RIGHT})
    fault = Planted(path="calc.py", qualname="g", nth=0, kind="comparison", seed=1, depth=0,
                    inside=True)  # fmt: skip
    recipe = _recipe("regressions", shas[1], shas[1], planted=fault, sources=("calc.py",))
    clone = find(tmp_path / "data", "ada/calc")
    assert culprit.honest(recipe, clone, {"calc.py": RED}, {"calc.py": patched}) == judged


def _recipe(part: str, base: str, fix: str, **more: Any) -> Recipe:
    return Recipe.model_validate({
        "id": f"{part}/calc", "part": part, "repository": "ada/calc", "base": base, "fix": fix,
        "python": "3.11", "red": ("t::t",), "passed": 1, "seconds": 1.0, **more,
    })  # fmt: skip


def _commits(git: GitRepository, folder: Path, *commits: dict[str, str]) -> tuple[str, ...]:
    work = folder / "written"
    work.mkdir()
    for number, files in enumerate(commits):
        for name, text in files.items():
            (work / name).write_text(text)
        git.import_folder(work, f"Commit {number}")
    return git.log("main")


def test_a_change_that_was_meant_is_staged_with_the_tests_from_before_it(tmp_path: Path) -> None:
    git = GitRepository(tmp_path / "data/clones/ada+calc")
    git.init()
    first = {"calc.py": OLD, "test_calc.py": "def test_f(): ...\n"}
    second = {"calc.py": RIGHT, "test_calc.py": "def test_g(): ...\n", "test_new.py": ""}
    shas = _commits(git, tmp_path, first, second)
    recipe = _recipe("situations", shas[0], shas[1], tests=("test_calc.py", "test_new.py"))
    folder = tmp_path / "case"
    folder.mkdir()
    with staged(recipe, tmp_path / "data", folder) as stage:
        work = stage.runner.workspace
        assert (stage.before, stage.commits) == (shas[0], 1)
        assert stage.culprit == stage.runner.sha != shas[1]
        assert (work / "calc.py").read_text() == RIGHT
        assert (work / "test_calc.py").read_text() == first["test_calc.py"]
        assert not (work / "test_new.py").exists()
        assert stage.github.world.git.commit(stage.culprit).message.strip() == "Commit 1"


def test_a_stage_counts_what_was_pushed(tmp_path: Path) -> None:
    def red(git: GitRepository) -> Grown:
        shas = _commits(git, tmp_path, {"a": "1"}, {"a": "2"}, {"a": "3"})
        return Grown(shas[0], shas[2], shas[1])

    with opened(tmp_path, "ada/calc", red) as stage:
        assert (stage.commits, stage.culprit != stage.runner.sha) == (2, True)


def _row(name: str, **fields: object) -> Row:
    part = name.partition("/")[0]
    given = {"id": name, "part": part, "split": "tune", "engine": "one", **fields}
    return Row.model_validate(given)


def test_what_changed_has_figures_of_its_own() -> None:
    rows = [
        _row("regressions/a", culprit="right", confirmed=True, runs=6, commits=16,
             offered="healed", judgement="right", honest="kept"),
        _row("regressions/b", culprit="right", runs=2, commits=1, offered="suggested"),
        _row("regressions/c", culprit="false", confirmed=True, hunks=2, offered="healed"),
        _row("fixes/d", culprit="false", confirmed=True),
        _row("situations/intended/e", culprit="right", confirmed=True, undone=True),
        _row("situations/own/f", has_package=True, package="right"),
        _row("situations/own/g", has_package=True, package="false"),
        _row("regressions/h", culprit="false", unstaged="no clone"),
    ]  # fmt: skip
    told = figures.history(rows)
    assert (told["culprit_right"]["count"], told["culprit_right"]["of"]) == (2, 4)
    assert (told["culprit_false"], told["intended_undone"], told["intended"]) == (2, 1, 1)
    assert (told["healed"]["count"], told["healed"]["of"]) == (1, 2)
    assert (told["right"]["rate"], told["honest_kept"]["rate"]) == (1.0, 1.0)
    assert told["runs"] == {"cases": 2, "sum": 8, "most": 6, "log2": 4}
    assert (told["dependency_right"]["rate"], told["dependency_false"]) == (0.5, 1)


def test_the_tests_of_a_fix_are_staged_before_the_commit_that_broke_them(tmp_path: Path) -> None:
    git = GitRepository(tmp_path / "data/clones/ada+calc")
    git.init()
    last = {"calc.py": f"# Fixed.\n{RIGHT}", "test_calc.py": "def test_g(): ...\n"}
    shas = _commits(git, tmp_path, {"calc.py": OLD}, {"calc.py": RED}, {"note.txt": "x\n"}, last)
    recipe = _recipe("regressions", shas[2], shas[3], tests=("test_calc.py",), culprit=shas[1])
    folder = tmp_path / "case"
    folder.mkdir()
    with staged(recipe, tmp_path / "data", folder) as stage:
        made = stage.github.world.git
        assert made.log("--first-parent", f"{stage.before}..{stage.runner.sha}")[0] == stage.culprit
        assert stage.commits == 2
        for sha, text in ((stage.before, OLD), (stage.culprit, RED), (stage.runner.sha, RED)):
            assert made.git("show", f"{sha}:calc.py").decode() == text
            assert made.git("show", f"{sha}:test_calc.py").decode() == last["test_calc.py"]
