"""The street's own situations are told as they have to be."""

import ast
from collections import Counter
from pathlib import Path

import pytest
from packaging.version import Version

from benchmarks.street.situation import Situation, grow, load
from tests.github_server.repository import GitRepository

CASES = load("own")
KINDS = {
    "dependency", "golden", "doctest", "allowed", "matrix", "windows", "warnings", "missing",
    "network", "permissions", "intended", "unfinished", "coverage", "lint",
}  # fmt: skip
ACTIONS = {"repair", "explain", "silent"}
NAMED = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def test_there_are_enough_of_each_kind() -> None:
    kinds = Counter(case.kind for case in CASES)
    assert len(CASES) >= 65
    assert len({case.name for case in CASES}) == len(CASES)
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 4


def test_those_that_others_wrote_belong_to_the_half_that_is_looked_at() -> None:
    cases = load("written")
    assert len({case.name for case in cases}) == len(cases) >= 90
    assert {case.split for case in cases} == {"tune"}
    for case in cases:
        assert bool(case.hidden) == bool(case.right) == (case.action == "repair")


def test_look_alikes_are_about_a_fifth() -> None:
    actions = Counter(case.action for case in CASES)
    assert set(actions) == ACTIONS
    assert 0.15 <= actions["repair"] / len(CASES) <= 0.3


def test_packages_broke_the_tests_by_a_commit_in_one_half_and_by_themselves_in_the_other() -> None:
    known = [case for case in CASES if case.package]
    bumped = sum(case.bumped for case in known)
    assert len(known) >= 16
    assert abs(len(known) - 2 * bumped) <= 2
    assert len({case.package for case in known}) == len(known)
    assert all(case.kind == "dependency" and case.action == "explain" for case in known)


@pytest.mark.parametrize("case", [case for case in CASES if case.package], ids=lambda c: c.name)
def test_a_package_is_newer_where_the_tests_are_red(case: Situation) -> None:
    assert case.package
    name, good, bad = case.package
    assert Version(good) < Version(bad)
    last = "\n".join(filter(None, case.commits[-1].files.values()))
    assert (f"{name}=={bad}" in last) == case.bumped
    assert len(case.dates) == (0 if case.bumped else len(case.commits))


@NAMED
def test_a_case_is_whole(case: Situation) -> None:
    assert case.name.startswith("own/")
    assert len(case.commits) in range(2, 5)
    assert all(word == word.lower() for word in case.says)
    assert bool(case.says) or case.action != "explain"
    repair = case.action == "repair"
    assert (bool(case.hidden), bool(case.right)) == (repair, repair)
    files = case.files()
    assert set(case.right) <= set(files)
    assert not set(case.hidden) & set(files)
    assert "heal-bot/heal-bot@v1" in files[".github/workflows/ci.yml"]


@NAMED
def test_python_files_parse(case: Situation) -> None:
    for path, text in {**case.files(), **case.hidden, **case.right}.items():
        if path.endswith(".py"):
            ast.parse(text, path)


def test_a_history_is_grown(tmp_path: Path) -> None:
    git = GitRepository(tmp_path / "git")
    git.init()
    case = CASES[0]
    before, sha = grow(git, case)
    commit = git.commit(sha)
    assert commit.parents == (before,)
    assert commit.message.strip() == case.commits[-1].message
    paths = {entry.path for entry in git.entries(sha, recursive=True) if entry.type == "blob"}
    assert paths == set(case.files())
