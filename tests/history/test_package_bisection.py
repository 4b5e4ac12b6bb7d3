"""A red run whose code did not change: which package did it, shown by runs with the former ones."""

from __future__ import annotations

import importlib.metadata
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.core.errors import ProvisionError
from heal_bot.core.model import (
    Baseline,
    Bump,
    Candidate,
    Collection,
    Commit,
    Edit,
    Environment,
    Failure,
    HealRequest,
    Isolation,
    Memory,
    Outcome,
    PackageChange,
    Reproduced,
    RunHints,
    SuiteRun,
)
from heal_bot.core.text import Secret
from heal_bot.environments.environment_request import Access, Wanted
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.history import package_bisection
from heal_bot.history.changes import find_changes
from heal_bot.pipeline import Edges, heal
from heal_bot.ports import Ask
from heal_bot.repair.search.cluster_search import SearchLimits
from heal_bot.report.outcome_record import flatten
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.source import functions
from heal_bot.testrun.runner import SuiteRunner
from heal_bot.testrun.wheel_builder import SandboxBuilder
from tests.environments.warehouse import Warehouse
from tests.fakes import (
    ISOLATION,
    SHA,
    FolderTree,
    FolderWorkspace,
    ListProposer,
    context_of,
    failed,
    passed,
    quiet_run,
    suite,
)

T, U = "tests/test_a.py::test_one", "tests/test_a.py::test_two"
Passes = Callable[[frozenset[str]], bool]


@dataclass
class Shelf:
    """Environments that differ in packages: `notes` name those that are as they were."""

    bumps: tuple[Bump, ...]

    def former_versions(self, *arguments: Any) -> tuple[Bump, ...]:
        if not self.bumps:
            raise ProvisionError("the index does not answer")
        return self.bumps

    def with_former(self, run: Any, env: Environment, bumps: Sequence[Bump]) -> Environment:
        return replace(env, notes=tuple(bump.name for bump in bumps))


@dataclass
class Suites:
    """Each test passes where packages are as they were, by a rule; `runs` counts.

    Where those that are `too_old` are as they were, no test runs.
    """

    rules: dict[str, Passes]
    runs: int = 0
    too_old: frozenset[str] = frozenset()

    def preflight(self, run: Any, env: Any) -> Isolation:
        return ISOLATION

    def collect(self, run: Any, tree: Any, env: Any) -> Collection:
        return Collection(tuple(self.rules))

    def run_many(self, run: Any, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        self.runs += len(asks)
        former = frozenset(env.notes)
        if former & self.too_old:
            return (replace(suite(), ended="crashed"),) * len(asks)
        results = (passed(t) if rule(former) else failed(t) for t, rule in self.rules.items())
        return (suite(*results),) * len(asks)


def bumps(number: int, **needs: tuple[str, ...]) -> tuple[Bump, ...]:
    names = (f"p{at}" for at in range(number))
    return tuple(Bump(name, "1.0", "2.0", needs.get(name, ())) for name in names)


def found(
    shelf: tuple[Bump, ...], tmp_path: Path, too_old: Sequence[str] = (), **rules: Passes
) -> tuple[tuple[PackageChange, ...], int]:
    run, _ = quiet_run()
    named = {{"one": T, "two": U}[name]: rule for name, rule in rules.items()}
    runner = Suites(named, too_old=frozenset(too_old))
    failures = [Failure(test, "AssertionError", "") for test in runner.rules]
    context = context_of(run, runner, FolderTree(tmp_path), Shelf(shelf))
    changes = package_bisection.find_culprits(context, failures, RunHints())
    return changes, runner.runs


@pytest.mark.parametrize("number", [1, 2, 3, 8, 50])
def test_one_package_is_found_in_few_runs_wherever_it_stands(tmp_path: Path, number: int) -> None:
    for at in range(number):
        (change,), runs = found(bumps(number), tmp_path, one=lambda f, at=at: f"p{at}" in f)
        assert change.bumps == (Bump(f"p{at}", "1.0", "2.0"),)
        assert (change.tests, change.single) == ((T,), True)
        assert runs <= math.ceil(math.log2(number)) + 3


def test_what_a_package_needs_comes_with_it(tmp_path: Path) -> None:
    shelf = bumps(5, p1=("p3",), p3=("p1",))
    whole = {"p1", "p3"}
    (change,), _ = found(shelf, tmp_path, one=lambda f: whole <= f)
    assert [bump.name for bump in change.bumps] == ["p1", "p3"]
    assert change.single


def test_where_only_several_together_do_it_these_are_the_set(tmp_path: Path) -> None:
    (change,), runs = found(bumps(8), tmp_path, one=lambda f: {"p1", "p4"} <= f)
    assert [bump.name for bump in change.bumps] == ["p0", "p1", "p2", "p3", "p4"]
    assert not change.single
    assert runs <= 6
    assert "no single one alone" in package_bisection.describe_change(change)


@pytest.mark.parametrize("number", [2, 9, 40])
def test_where_nothing_runs_with_all_of_them_those_before_the_last_are_asked(
    tmp_path: Path, number: int
) -> None:
    last = f"p{number - 1}"
    for at in range(number - 1):
        (change,), runs = found(bumps(number), tmp_path, [last], one=lambda f, at=at: f"p{at}" in f)
        assert change.bumps == (Bump(f"p{at}", "1.0", "2.0"),)
        assert runs <= math.ceil(math.log2(number)) + 4


def test_where_nothing_runs_with_any_of_them_nothing_is_blamed(tmp_path: Path) -> None:
    every = [f"p{at}" for at in range(8)]
    assert found(bumps(8), tmp_path, every, one=lambda f: True) == ((), 4)


def test_two_packages_that_broke_a_test_each_are_told_apart(tmp_path: Path) -> None:
    changes, _ = found(bumps(8), tmp_path, one=lambda f: "p6" in f, two=lambda f: "p1" in f)
    assert [(c.bumps[0].name, c.tests) for c in changes] == [("p6", (T,)), ("p1", (U,))]


@pytest.mark.parametrize(
    "rule",
    [lambda f: False, lambda f: True],
    ids=["red with the former ones too", "green with those of today once more"],
)
def test_nothing_is_blamed_for_what_it_does_not_change(tmp_path: Path, rule: Passes) -> None:
    assert found(bumps(3), tmp_path, one=rule)[0] == ()


def test_a_pass_that_does_not_come_again_blames_nothing(tmp_path: Path) -> None:
    answers = iter([True, False, False, False])
    assert found(bumps(1), tmp_path, one=lambda f: next(answers))[0] == ()


def test_where_former_versions_cannot_be_had_nothing_is_blamed(tmp_path: Path) -> None:
    assert found((), tmp_path, one=lambda f: True) == ((), 0)


@pytest.mark.parametrize(("minutes", "blamed"), [(4.0, False), (9.0, True)])
def test_no_more_than_a_quarter_of_the_time_left_is_taken(
    tmp_path: Path, minutes: float, blamed: bool
) -> None:
    now = [0.0]

    def rule(former: frozenset[str]) -> bool:
        now[0] += 20.0
        return "p0" in former

    run, events = quiet_run(clock=lambda: now[0], deadline=minutes * 60)
    context = context_of(run, Suites({T: rule}), FolderTree(tmp_path), Shelf(bumps(4)))
    changes = package_bisection.find_culprits(context, [Failure(T, "", "")], RunHints())
    assert bool(changes) is blamed
    said = [getattr(event, "message", "") for event in events]
    assert any("its share of the time is over" in text for text in said) is not blamed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (PackageChange((Bump("lib", "2.3", "2.4"),), (T, U), 5),
         "`lib 2.3 → 2.4` broke 2 tests; with 2.3 alone they pass: pin `lib<2.4`"),
        (PackageChange((Bump("lib", "2.4", "2.3"),), (T,), 5), "pin `lib>=2.4`"),
        (PackageChange((Bump("lib", "3.19.0", "4.4.0"),), (T,), 5), "pin `lib<3.20`"),
        (PackageChange((Bump("lib", "1.4.1", "1.4.9"),), (T,), 5), "pin `lib<1.4.2`"),
        (PackageChange((Bump("lib", "8", "9"),), (T,), 5), "pin `lib<8.1`"),
        (PackageChange((Bump("lib", "1!8.0", "1!9.0"),), (T,), 5), "pin `lib<1!8.1`"),
        (PackageChange((Bump("lib", "2.0", "2.0.post1"),), (T,), 5), "pin `lib==2.0`"),
        (PackageChange((Bump("lib", "2.3", "2.4+cpu"), Bump("core", "1", "2")), (T,), 5),
         "`lib 2.3 → 2.4+cpu` (with `core 1 → 2`, which it needs) broke 1 test; with 2.3 alone it"
         " passes: pin `lib<2.4`"),
        (PackageChange((Bump("six", "1.16", ""),), (T,), 5),
         "`six 1.16 → not installed` broke 1 test; with 1.16 alone it passes: declare `six`"),
        (PackageChange(tuple(Bump(f"p{n}", "1", "2") for n in range(9)), (T,), 5, single=False),
         "`p5 1 → 2` and 3 more; with the former versions of all it passes: pin `p0==1 p1==1"),
    ],
)  # fmt: skip
def test_the_sentence_names_the_package_the_tests_and_the_pin(
    change: PackageChange, said: str
) -> None:
    assert said in package_bisection.describe_change(change)


def test_tests_that_a_package_broke_are_explained_and_no_others() -> None:
    items = tuple(Reproduced(Failure(t, "AssertionError", ""), "confirmed") for t in (T, U))
    baseline = Baseline(items, suite(failed(T), failed(U)), 3)
    told = package_bisection.mark_explained(
        baseline, [PackageChange((Bump("lib", "1", "2"),), (T,), 4)]
    )
    assert [failure.test for failure in told.confirmed] == [U]
    assert (told.reproduced[0].status, "pin `lib<1.1`" in told.reproduced[0].failure.reason) == (
        "explained", True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("paths", "bump"),
    [
        (("requirements.txt", "docs/a.md", "tests/test_a.py"), True),
        (("requirements/test.in",), True),
        (("uv.lock", "shop/prices.py"), False),
        (("uv.lock", "shop/prices.json"), False),
        (("docs/a.md",), False),
        ((), False),
    ],
)
def test_a_bump_changes_what_names_packages_and_no_code(
    tmp_path: Path, paths: tuple[str, ...], bump: bool
) -> None:
    @dataclass(frozen=True)
    class Changed(FolderTree):
        def changed_paths(self) -> tuple[str, ...]:
            return paths

    assert package_bisection.is_bump(Changed(tmp_path)) is bump


@pytest.mark.parametrize(
    ("good", "status"),
    [(SHA, "explained"), ("", "not_healed")],
    ids=["the very commit was green", "none is known to have been"],
)
def test_where_the_very_commit_was_green_its_packages_of_then_are_asked(
    tmp_path: Path, good: str, status: str
) -> None:
    @dataclass
    class Dated(FolderWorkspace):
        """A commit that changed a source, and had another package when it was made."""

        def checkout(self, run: Any, sha: str) -> FolderTree:
            texts = {"shop.py": "", "tests/test_a.py": "def test_one(): pass\n"}
            return Sourced(FolderTree.of(self.folder, texts).root)

        def former_versions(self, *arguments: Any) -> tuple[Bump, ...]:
            assert arguments[-2:] == (SHA, 1.7e9)
            return bumps(2)

        def with_former(self, run: Any, env: Environment, bumps: Sequence[Bump]) -> Environment:
            return replace(env, notes=tuple(bump.name for bump in bumps))

    @dataclass(frozen=True)
    class Sourced(FolderTree):
        def changed_paths(self) -> tuple[str, ...]:
            return ("shop.py",)

    run, _ = quiet_run()
    runner = Suites({T: lambda former: "p1" in former})
    edges = Edges(Dated(tmp_path), runner, (), Saved())  # type: ignore[arg-type]
    request = HealRequest("octo/shop", SHA, good=good, green=1.7e9)
    outcome = heal(run, request, edges, tmp_path, Memory(), SearchLimits())
    assert outcome.status == status, outcome.reason
    assert ("pin `p1<1.1`" in outcome.reason) is (status == "explained")


@pytest.mark.parametrize(("words", "blamed"), [(True, True), (False, False)])
def test_a_message_that_blames_a_version_has_packages_compared_where_older_commits_are_red_too(
    tmp_path: Path, words: bool, blamed: bool
) -> None:
    @dataclass
    class Older(Shelf):
        def commits(self, *arguments: Any) -> tuple[Commit, ...]:
            return (Commit("b" * 40, "a" * 40, "Call it otherwise"),)

        def since(self, tree: FolderTree, sha: str) -> FolderTree:
            return tree

        def checkout(self, run: Any, sha: str) -> FolderTree:
            return FolderTree(tmp_path)

    run, _ = quiet_run()
    failure = Failure(T, "AssertionError", "")
    baseline = Baseline((Reproduced(failure, "explained"),), suite(failed(T)), 1)
    runner = Suites({T: lambda former: "p1" in former})
    context = context_of(run, runner, FolderTree(tmp_path), Older(bumps(2)))
    versions = (failure,) if words else ()
    history = find_changes(context, "a" * 40, 0.0, baseline, RunHints(), versions)
    assert [change.bumps[0].name for change in history.packages] == ["p1"] * blamed
    assert bool(runner.runs) is blamed


# From here on with an index, environments, a sandbox and pytest itself.
SHOP = "import money\n\n\ndef price(cents):\n    return money.shown(cents)\n"
TESTS = "from shop import price\n\n\ndef test_price():\n    assert price(150) == '1.50'\n"
PLAIN = "def shown(cents):\n    return f'{cents / 100:.2f}'\n"
SYMBOL = "def shown(cents):\n    return f'{cents / 100:.2f} €'\n"
READING = "import near\n\n\ndef read(text):\n    return near.cents(text)\n"
READ = """\
from shop import read


def test_read():
    assert read(" 150 ") == 150


def test_another():
    assert read("7 ") == 7


def test_plain():
    assert read("8") == 8
"""
MILD = "def cents(text):\n    return int(text)\n"
STRICT = """\
def cents(text, blanks=False):
    if text != text.strip() and not blanks:
        raise ValueError(f"blanks in {text!r}")
    return int(text)
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """An index with the real pytest and three packages, the newest `money` with a symbol."""
    made = Warehouse(tmp_path_factory.mktemp("warehouse"))
    needs = ("pluggy", "iniconfig", "packaging", "pygments")
    for name in ("pytest", *needs):
        files = {
            str(file): Path(str(file.locate())).read_text()
            for file in importlib.metadata.files(name) or ()
            if file.suffix == ".py" and ".." not in file.parts
        }
        version = importlib.metadata.version(name)
        made.wheel(name, version, files, requires=needs if name == "pytest" else ())
    for version, money, near in (("1.0", PLAIN, MILD), ("2.0", SYMBOL, STRICT)):
        made.wheel("money", version, {"money.py": money})
        made.wheel("near", version, {"near.py": near})
        made.wheel("far", version)
    yield made
    made.close()


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox.start("strict" if os.geteuid() == 0 else "reduced", 4) as started:
        yield started


@pytest.fixture(scope="module")
def cache() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="heal-bot-test-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder) / "cache"


def committed(folder: Path, *states: dict[str, str]) -> Path:
    folder.mkdir()
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    for files in states:
        for name, text in files.items():
            (folder / name).write_text(text)
        for words in (("add", "-A"), ("commit", "-qm", "State")):
            subprocess.run(["git", *who, *words], cwd=folder, check=True)
    return folder


@pytest.fixture
def healed(
    tmp_path: Path, index: Warehouse, sandbox: Sandbox, cache: Path
) -> Callable[..., Outcome]:
    """Heals a repository whose last commit bumps three packages, with what is proposed."""

    def make(shop: str, tests: str, *sources: str) -> Outcome:
        lines = "far=={0}\nmoney=={0}\nnear=={0}\n"
        first = {"shop.py": shop, "test_shop.py": tests, "requirements.txt": lines.format("1.0")}
        repo = committed(tmp_path / "repo", first, {"requirements.txt": lines.format("2.0")})
        run, _ = quiet_run(deadline=time.monotonic() + 600)
        scratch = tmp_path / "scratch"
        repository = Repository.of(run, repo, scratch)
        workspace = LocalWorkspace(
            repository, scratch, cache, builder=SandboxBuilder(sandbox),
            wanted=Wanted(access=Access(Secret(index.url))),
        )  # fmt: skip
        runner = SuiteRunner(sandbox, changed=workspace.changed)
        (target,) = functions.index_targets("shop.py", shop)
        proposed = [Candidate((Edit(target, source),), "claude", "rewrite") for source in sources]
        edges = Edges(workspace, runner, (ListProposer(proposed, "claude"),), Saved())
        request = HealRequest("octo/shop", repository.head)
        return heal(run, request, edges, repo, Memory(), SearchLimits())

    return make


class Saved:
    """A store that keeps nothing."""

    def save(self, outcome: Outcome) -> None:
        return None


@pytest.mark.long
def test_a_bump_that_broke_a_test_is_explained_with_its_pin(healed: Callable[..., Outcome]) -> None:
    outcome = healed(SHOP, TESTS)
    assert outcome.status == "explained", outcome.reason
    assert outcome.reason == (
        "test_shop.py::test_price: `money 1.0 → 2.0` broke 1 test; with 1.0 alone it passes: pin"
        " `money<1.1`, or adapt the code"
    )


@pytest.mark.long
def test_where_the_former_packages_do_not_help_the_code_is_searched(
    healed: Callable[..., Outcome],
) -> None:
    outcome = healed(SHOP, f"{TESTS}    assert price(0) == 'free'\n")
    assert outcome.status == "not_healed", outcome.reason
    assert "pin" not in outcome.reason


@pytest.mark.long
def test_what_is_not_called_the_repair_is_not_shown_beside_the_package(
    healed: Callable[..., Outcome],
) -> None:
    one = READ.partition("def test_another")[0]
    outcome = healed(READING, one, "def read(text):\n    return near.cents(text.strip())\n")
    assert "one failing test alone" in outcome.attempts[0].verdict.detail
    assert (outcome.status, outcome.suggestion) == ("explained", None), outcome.reason
    assert "pin `near<1.1`" in outcome.reason


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "status", "said"),
    [
        ("text, blanks=True", "explained", " fails with near 1.0, with which it passed"),
        ("text.strip()", "healed", ""),
    ],
    ids=["for today's alone", "for both"],
)
def test_a_repair_of_the_call_has_to_hold_with_both_versions(
    healed: Callable[..., Outcome], call: str, status: str, said: str
) -> None:
    outcome = healed(READING, READ, f"def read(text):\n    return near.cents({call})\n")
    assert outcome.status == status, (outcome.reason, outcome.attempts)
    assert said in outcome.attempts[0].verdict.detail
    assert flatten(outcome).proved[0] == "`near 1.0 → 2.0` broke these 2 tests; they pass with 1.0"
    gates = dict(outcome.certificate.gates) if outcome.certificate else {}
    assert (package_bisection.GATE in gates) is (status == "healed")
