"""The commit that broke tests, on real histories; what tests do is read off the tree."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.core.errors import ProvisionError
from heal_bot.core.events import Run
from heal_bot.core.model import (
    Baseline,
    CaseResult,
    Environment,
    Failure,
    History,
    Isolation,
    Reproduced,
    RunHints,
    SuiteRun,
)
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.history.bisection import find_regressions, list_passing_before
from heal_bot.history.changes import find_changes
from heal_bot.ports import Ask, RunContext, Tree
from tests.fakes import ENVIRONMENT, ISOLATION, context_of, failed, quiet_run, suite

pytestmark = pytest.mark.long

A, B = "tests/test_m.py::test_a", "tests/test_m.py::test_b"
Git = Callable[..., str]


@dataclass
class ReadingRunner:
    """Says of a test what the line of m.py with its name says: passed, failed, or nothing."""

    runs: int = 0
    lies: dict[int, str] = field(default_factory=dict)

    def preflight(self, run: Run, env: Environment) -> Isolation:
        return ISOLATION

    def run_many(self, run: Run, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        return tuple(self._run(ask.tree, ask.tests or ()) for ask in asks)

    def _run(self, tree: Tree, tests: Sequence[str]) -> SuiteRun:
        self.runs += 1
        said = dict(
            line.split("=") for line in tree.read("m.py").decode().splitlines() if "=" in line
        )
        found = {test: said.get(test.rpartition("_")[2], "") for test in tests}
        found = {t: self.lies.get(self.runs, outcome) for t, outcome in found.items()}
        return suite(*(_result(test, word) for test, word in found.items() if word))


def _result(test: str, word: str) -> CaseResult:
    outcome, _, kind = word.partition(":")
    return CaseResult(test, outcome, kind=(kind or "AssertionError") if outcome == "failed" else "")


@pytest.fixture
def git(tmp_path: Path) -> Git:
    folder = tmp_path / "source"
    folder.mkdir()

    def call(*args: str) -> str:
        argv = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *args]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()

    call("init", "-q", "-b", "main")
    return call


def _commit(git: Git, tmp_path: Path, text: str, title: str) -> str:
    (tmp_path / "source/m.py").write_text(text)
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", title)
    return git("rev-parse", "HEAD")


def _grow(git: Git, tmp_path: Path, texts: Sequence[str]) -> list[str]:
    return [_commit(git, tmp_path, text, f"Commit {n}") for n, text in enumerate(texts)]


def _search(
    tmp_path: Path,
    good: str = "",
    tests: Sequence[str] = (A,),
    runner: Any = None,
    kind: type[LocalWorkspace] = LocalWorkspace,
) -> History:
    context = _begin(tmp_path, runner or ReadingRunner(), kind)
    failures = [Failure(test, "AssertionError", "") for test in tests]
    commits = context.workspace.commits(context.run, good, context.tree.sha)
    return find_regressions(context, good, commits, failures, RunHints(), 1.0)


def _begin(
    tmp_path: Path,
    runner: Any,
    kind: type[LocalWorkspace] = LocalWorkspace,
    source: Path | None = None,
) -> RunContext:
    run, _ = quiet_run()
    repository = Repository.of(run, source or tmp_path / "source", tmp_path / "scratch")
    workspace = kind(repository, tmp_path / "trees", tmp_path / "cache")
    return context_of(run, runner, workspace.checkout(run, repository.head), workspace)


@pytest.mark.parametrize("place", [1, 2, 9, 20])
@pytest.mark.parametrize("told", [True, False], ids=["a good commit is told", "none is told"])
def test_the_commit_that_broke_a_test_is_found_in_few_runs(
    git: Git, tmp_path: Path, place: int, told: bool
) -> None:
    texts = [f"a={'failed' if n >= place else 'passed'}\n# {n}\n" for n in range(21)]
    shas = _grow(git, tmp_path, texts)
    found = _search(tmp_path, shas[0] if told else "")
    (one,) = found.regressions
    assert (one.good_sha, one.bad_sha) == (shas[place - 1], shas[place])
    assert (one.title, one.tests, one.confirmed) == (f"Commit {place}", (A,), True)
    assert (
        one.said == f"`{shas[place][:7]}` (Commit {place}) broke this test; it passes at its parent"
    )
    assert [(f.path, f.before, f.after) for f in one.files] == [
        ("m.py", texts[place - 1].encode(), texts[place].encode())
    ]
    assert not told or found.runs <= math.ceil(math.log2(20)) + 3


def test_of_one_commit_the_tests_run_twice_before_it(git: Git, tmp_path: Path) -> None:
    shas = _grow(git, tmp_path, ["a=passed\nb=passed\n", "a=failed\nb=failed\n"])
    found = _search(tmp_path, shas[0], (A, B))
    assert (found.runs, found.commits, found.regressions[0].tests) == (2, 1, (A, B))
    assert found.regressions[0].said.endswith("broke these 2 tests; they pass at its parent")


def test_tests_that_two_commits_broke_have_two_culprits(git: Git, tmp_path: Path) -> None:
    texts = ["a=passed\nb=passed", "a=failed\nb=passed", "a=failed\nb=passed\n# x",
             "a=failed\nb=failed"]  # fmt: skip
    shas = _grow(git, tmp_path, texts)
    found = {one.tests: one.bad_sha for one in _search(tmp_path, shas[0], (A, B)).regressions}
    assert found == {(A,): shas[1], (B,): shas[3]}


class FailsAlone(ReadingRunner):
    """Cannot run one of the tests by itself."""

    def run_many(self, run: Run, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        if any(ask.tests == (B,) for ask in asks):
            raise ProvisionError("the disk is full")
        return super().run_many(run, env, asks)


def test_a_commit_that_is_proved_stays_so_where_another_cannot_be(git: Git, tmp_path: Path) -> None:
    texts = ["a=passed\nb=passed", "a=failed\nb=passed", "a=failed\nb=failed"]
    shas = _grow(git, tmp_path, texts)
    found = _search(tmp_path, shas[0], (A, B), runner=FailsAlone())
    assert [(one.tests, one.bad_sha) for one in found.regressions] == [((A,), shas[1])]


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["b=passed", "b=passed\na=failed"], "cannot be run on older commits"),
        (["a=failed", "a=failed\n# x"], "fails on every older commit that was tried"),
        (["a=failed"], "no earlier commit is here"),
        (["a=passed", "", "# x", "a=failed"], "no single commit was shown to break it"),
    ],
    ids=["a new test", "never green", "a root commit", "red commits in between"],
)
def test_where_no_commit_can_be_blamed_none_is(
    git: Git, tmp_path: Path, texts: list[str], reason: str
) -> None:
    shas = _grow(git, tmp_path, texts)
    found = _search(tmp_path, shas[0] if len(shas) > 1 else "")
    assert found.regressions == ()
    assert reason in found.reason


def test_where_the_good_commit_is_red_too_older_ones_are_asked(git: Git, tmp_path: Path) -> None:
    shas = _grow(git, tmp_path, ["a=passed", "a=failed", *(f"a=failed\n# {n}" for n in range(5))])
    found = _search(tmp_path, shas[4])
    assert (found.regressions[0].bad_sha, found.commits) == (shas[1], 6)


@pytest.mark.parametrize("first", [1, 7, 11])
@pytest.mark.parametrize("told", [True, False], ids=["a good commit is told", "none is told"])
def test_a_test_that_older_commits_lack_is_asked_for_where_they_have_it(
    git: Git, tmp_path: Path, first: int, told: bool
) -> None:
    texts = [f"a={'passed' if n < 12 else 'failed'}\n# {n}\n" for n in range(21)]
    texts[:first] = [f"# {n}\n" for n in range(first)]
    shas = _grow(git, tmp_path, texts)
    found = _search(tmp_path, shas[0] if told else "")
    assert [one.bad_sha for one in found.regressions] == [shas[12]]
    assert found.runs <= (1 if told else 2) * math.ceil(math.log2(20)) + 3


def test_tests_that_came_one_by_one_are_asked_in_few_runs(git: Git, tmp_path: Path) -> None:
    names = "abcdefgh"
    texts = ["\n".join([f"# {n}", *(f"{one}=failed" for one in names[: n // 3])])
             for n in range(30)]  # fmt: skip
    shas = _grow(git, tmp_path, texts)
    found = _search(tmp_path, shas[0], [f"tests/test_m.py::test_{one}" for one in names])
    assert found.regressions == ()
    assert found.runs <= math.ceil(math.log2(30)) + 3


def test_a_commit_is_found_beside_a_test_that_was_red_from_the_first(
    git: Git, tmp_path: Path
) -> None:
    texts = ["\n".join([f"# {n}", *["a=failed"] * (n >= 6),
                        *["b=passed"] * (12 <= n < 15), *["b=failed"] * (n >= 15)])
             for n in range(21)]  # fmt: skip
    shas = _grow(git, tmp_path, texts)
    history = _search(tmp_path, shas[0], (A, B))
    (found,) = history.regressions
    assert (found.bad_sha, found.tests) == (shas[15], (B,))
    assert history.older == {A}


def test_a_test_that_was_red_from_its_first_commit_on_has_no_culprit(
    git: Git, tmp_path: Path
) -> None:
    texts = ["# none\n" * n if n < 6 else f"a=failed\n# {n}\n" for n in range(12)]
    found = _search(tmp_path, _grow(git, tmp_path, texts)[0])
    assert (found.regressions, found.older) == ((), frozenset())
    assert "cannot be run on older commits" in found.reason


def test_a_commit_that_is_red_for_another_reason_is_passed_over(git: Git, tmp_path: Path) -> None:
    other = "a=failed:NameError"
    texts = ["a=passed", "a=passed\n# 1", other, f"{other}\n# 3", "a=passed\n# 4",
             "a=passed\n# 5", "a=failed"]  # fmt: skip
    shas = _grow(git, tmp_path, texts)
    assert _search(tmp_path, shas[0]).regressions[0].bad_sha == shas[6]


def test_a_commit_that_does_not_collect_is_passed_over(git: Git, tmp_path: Path) -> None:
    texts = ["a=passed", "a=passed\n# 1", "", "a=passed\n# 2", "a=failed", "a=failed\n# 3"]
    shas = _grow(git, tmp_path, texts)
    assert _search(tmp_path, shas[0]).regressions[0].bad_sha == shas[4]


def test_nothing_is_blamed_when_the_tests_fail_once_before_the_commit(
    git: Git, tmp_path: Path
) -> None:
    shas = _grow(git, tmp_path, ["a=passed", "a=failed"])
    found = _search(tmp_path, shas[0], runner=ReadingRunner(lies={2: "failed"}))
    assert (found.regressions, "no single commit" in found.reason) == ((), True)


def test_a_good_commit_that_is_the_red_one_is_none(git: Git, tmp_path: Path) -> None:
    shas = _grow(git, tmp_path, ["a=passed", "a=failed"])
    assert _search(tmp_path, shas[1]).regressions[0].bad_sha == shas[1]


def test_after_a_force_push_the_commits_since_both_parted_are_asked(
    git: Git, tmp_path: Path
) -> None:
    shas = _grow(git, tmp_path, ["a=passed", "a=passed\n# old"])
    git("checkout", "-q", "-B", "main", shas[0])
    broken = _commit(git, tmp_path, "a=failed", "Rewritten")
    _commit(git, tmp_path, "a=failed\n# x", "Later")
    assert _search(tmp_path, shas[1]).regressions[0].bad_sha == broken
    assert _search(tmp_path, "e" * 40).regressions[0].bad_sha == broken


@dataclass(frozen=True)
class Counting(LocalWorkspace):
    """Keeps which commits were asked for."""

    asked: list[str] = field(default_factory=list)

    def commits(self, run: Run, good: str, bad: str) -> Any:
        self.asked.append(good)
        return super().commits(run, good, bad)


@pytest.mark.parametrize("place", [0, 3, None], ids=["it was green", "the red one was", "unknown"])
def test_a_culprit_is_found_whatever_is_known_to_have_been_green(
    git: Git, tmp_path: Path, place: int | None
) -> None:
    shas = _grow(git, tmp_path, ["a=passed", "a=passed\n# x", "a=failed", "a=failed\n# x"])
    context = _begin(tmp_path, ReadingRunner(), Counting)
    item = Reproduced(Failure(A, "AssertionError", ""), "confirmed")
    baseline = Baseline((item,), suite(failed(A)), 3)
    good = shas[place] if place is not None else ""
    found = find_changes(context, good, 0.0, baseline, RunHints())
    assert [one.bad_sha for one in found.regressions] == [shas[2]]
    assert isinstance(context.workspace, Counting)
    assert context.workspace.asked == [good]


def test_a_test_that_a_commit_changes_itself_is_not_broken_by_it(git: Git, tmp_path: Path) -> None:
    tests = tmp_path / "source/tests"
    tests.mkdir()
    (tests / "test_m.py").write_text("def test_a():\n    assert 1\n\n\ndef test_b():\n    pass\n")
    shas = _grow(git, tmp_path, ["a=passed\nb=passed"])
    (tests / "test_m.py").write_text("def test_a():\n    assert 2\n\n\ndef test_b():\n    pass\n")
    _commit(git, tmp_path, "a=failed\nb=failed", "Expect more")
    (one,) = _search(tmp_path, shas[0], (A, B)).regressions
    assert one.tests == (B,)
    found = _search(tmp_path, shas[0])
    assert (found.regressions, "came or changed with the tests" in found.reason) == ((), True)


def test_a_commit_of_tests_alone_breaks_none_of_them(git: Git, tmp_path: Path) -> None:
    tests = tmp_path / "source/tests"
    tests.mkdir()
    base = "class Shared:\n    def test_b(self):\n        assert {}\n"
    (tests / "__init__.py").write_text(base.format(1))
    (tmp_path / "source/m.py").write_text("a=passed")
    git("add", "-A")
    git("commit", "-qm", "Begin")
    good = git("rev-parse", "HEAD")
    (tests / "__init__.py").write_text(base.format(2))
    git("commit", "-qam", "Expect more")
    found = _search(tmp_path, good)
    assert found.regressions == ()


def test_what_passes_before_a_change_of_the_source_lacks_nothing(git: Git, tmp_path: Path) -> None:
    tests = tmp_path / "source/tests"
    tests.mkdir()
    (tests / "test_m.py").write_text("def test_b():\n    assert 1\n")
    good = _commit(git, tmp_path, "a=passed\nb=passed\nc=failed", "Passes")
    (tests / "test_m.py").write_text("def test_b():\n    assert 2\n")
    _commit(git, tmp_path, "a=failed\nb=failed\nc=failed", "Expect more")
    failures = [Failure(f"tests/test_m.py::test_{n}", "URLError", "") for n in "abc"]
    for base in (good, ""):
        context = _begin(tmp_path / base, ReadingRunner(), source=tmp_path / "source")
        assert list_passing_before(context, base, failures) == {A}
    (tmp_path / "source/setup.cfg").write_text("[tool:pytest]\naddopts = --disable-socket\n")
    _commit(git, tmp_path, "a=failed\nb=failed\nc=failed", "No sockets")
    context = _begin(tmp_path / "then", ReadingRunner(), source=tmp_path / "source")
    assert list_passing_before(context, "", failures) == set()


def test_a_merge_is_blamed_as_a_whole(git: Git, tmp_path: Path) -> None:
    shas = _grow(git, tmp_path, ["a=passed"])
    git("checkout", "-q", "-b", "topic")
    _grow(git, tmp_path, ["a=failed", "a=failed\n# x"])
    git("checkout", "-q", "main")
    (tmp_path / "source/other.py").write_text("")
    git("add", "-A")
    git("commit", "-qm", "Beside")
    beside = git("rev-parse", "HEAD")
    git("merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    (one,) = _search(tmp_path, shas[0]).regressions
    assert (one.good_sha, one.bad_sha) == (beside, git("rev-parse", "HEAD"))
    assert [file.path for file in one.files] == ["m.py"]


def test_a_shallow_clone_tells_what_is_at_hand(git: Git, tmp_path: Path) -> None:
    shas = _grow(git, tmp_path, ["a=passed", "a=passed\n# 1", "a=failed"])
    whole = tmp_path / "whole"
    (tmp_path / "source").rename(whole)
    argv = ["git", "clone", "-q", "--depth=2", f"file://{whole}", str(tmp_path / "source")]
    subprocess.run(argv, check=True)
    assert _search(tmp_path, shas[0]).regressions[0].bad_sha == shas[2]


def test_a_history_longer_than_what_is_fetched_at_first_is_deepened(
    git: Git, tmp_path: Path
) -> None:
    shas = _grow(git, tmp_path, ["a=passed"])
    for n in range(70):
        git("commit", "-q", "--allow-empty", "-m", f"Empty {n}")
    broken = _commit(git, tmp_path, "a=failed", "Broken")
    found = _search(tmp_path, shas[0])
    assert (found.commits, found.regressions[0].bad_sha) == (71, broken)


def test_a_file_that_was_moved_is_compared_with_what_it_was(git: Git, tmp_path: Path) -> None:
    lines = "".join(f"# line {n}\n" for n in range(20))
    shas = _grow(git, tmp_path, [f"a=passed\n{lines}"])
    (tmp_path / "source/old.py").write_text(lines)
    git("add", "-A")
    git("commit", "-qm", "Add")
    git("mv", "old.py", "new.py")
    (tmp_path / "source/new.py").write_text(f"{lines}# more\n")
    _commit(git, tmp_path, f"a=failed\n{lines}", "Move")
    files = {f.path: f for f in _search(tmp_path, shas[0]).regressions[0].files}
    assert files["new.py"].before.decode() == lines


OLD = replace(ENVIRONMENT, lock_hash="old")


class OldPackages(LocalWorkspace):
    """Makes the environment of an old commit."""

    def provision(self, run: Run, tree: Tree, hints: RunHints) -> Environment:
        return OLD


class NeedsOldPackages(ReadingRunner):
    """Cannot import the tests with the packages of the red run."""

    def run_many(self, run: Run, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        found = super().run_many(run, env, asks)
        if env == OLD:
            return found
        errors = (("tests/test_m.py", "ImportError: cannot import name 'soft'"),)
        return tuple(replace(one, results=(), errors=errors) for one in found)


def test_an_old_commit_has_an_environment_of_its_own_where_it_needs_one(
    git: Git, tmp_path: Path
) -> None:
    shas = _grow(git, tmp_path, ["a=passed", "a=failed"])
    assert _search(tmp_path, shas[0], runner=NeedsOldPackages()).regressions == ()
    found = _search(tmp_path, shas[0], runner=NeedsOldPackages(), kind=OldPackages)
    assert found.regressions[0].bad_sha == shas[1]


class NoPackages(LocalWorkspace):
    """Cannot make an environment of an old commit."""

    def provision(self, run: Run, tree: Tree, hints: RunHints) -> Environment:
        raise ProvisionError("no such Python")


class CannotCollect(ReadingRunner):
    """Says why no test of the file is collected, with the words of m.py."""

    def run_many(self, run: Run, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        found = []
        for one, ask in zip(super().run_many(run, env, asks), asks, strict=True):
            _, _, said = ask.tree.read("m.py").decode().partition("stop ")
            errors = (("tests/test_m.py", f"m.py:1: in <module>\nE   {said}"),) if said else ()
            found.append(replace(one, results=() if said else one.results, errors=errors))
        return tuple(found)


@pytest.mark.parametrize(
    ("older", "red"),
    [("stop ImportError: no x", True), ("stop ImportError: no y", False), ("m.py=passed", None)],
    ids=["the same words", "other words", "collected"],
)
def test_a_file_that_could_not_be_collected_before_for_the_same_reason_was_red(
    git: Git, tmp_path: Path, older: str, red: bool | None
) -> None:
    _grow(git, tmp_path, [older, "stop ImportError: no x"])
    context = _begin(tmp_path, CannotCollect())
    file = [Failure("tests/test_m.py", "ImportError", "no x")]
    commits = context.workspace.commits(context.run, "", context.tree.sha)
    found = find_regressions(context, "", commits, file, RunHints(), 1.0)
    assert found.always_red is (red is True), found
    assert bool(found.regressions) is (red is None)


class StumblesOnce(ReadingRunner):
    """Cannot collect the tests of the tree that says so."""

    def run_many(self, run: Run, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        errors = (("tests/test_m.py", "SyntaxError"),)
        return tuple(
            replace(one, results=(), errors=errors) if b"stumble" in ask.tree.read("m.py") else one
            for one, ask in zip(super().run_many(run, env, asks), asks, strict=True)
        )


def test_a_commit_for_which_no_environment_can_be_made_is_passed_over(
    git: Git, tmp_path: Path
) -> None:
    texts = ["a=passed", "a=passed\n# 1", "# stumble", "a=failed", "a=failed\n# 4"]
    shas = _grow(git, tmp_path, texts)
    found = _search(tmp_path, shas[0], runner=StumblesOnce(), kind=NoPackages)
    # What stands between the last green commit and the first red one cannot be told apart.
    assert (found.regressions, "no single commit" in found.reason) == ((), True)
