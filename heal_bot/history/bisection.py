"""The commit that broke failing tests, found by running them on older commits in the sandbox."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from heal_bot.core.errors import HealBotError, ProvisionError
from heal_bot.core.model import (
    ChangedFile,
    Commit,
    Environment,
    Failure,
    History,
    Regression,
    RunHints,
    SuiteRun,
    stable_test_ids,
)
from heal_bot.core.statuses import EXPECTED, RunResult
from heal_bot.core.text import count
from heal_bot.ports import Ask, RunContext, Tree
from heal_bot.source import paths
from heal_bot.source.reversal import brought_tests

# What bisection may take of the time left, and a single run beyond what the suite took.
_SHARE = 0.25
_SECONDS = 60.0
_NO_PAST = (
    "no earlier commit is here, so what changed is unknown; where the clone is shallow,"
    " `git fetch --unshallow` brings the others, and one with a `filter` is made anew without it"
)


def find_regressions(
    context: RunContext,
    good: str,
    commits: Sequence[Commit],
    failures: Sequence[Failure],
    hints: RunHints,
    seconds: float,
) -> History:
    """The commits after which the failing tests fail, each proved on it and on its parent.

    `good`, the commit before `commits`, is where the tests are said to have passed; it is believed
    only after they did. Without one, or where they fail there too, older and older commits are
    asked. At most log2 n + 3 runs for n commits since a good one that is told. The suite takes
    `seconds`, `hints` make an environment of its own for an old commit.
    """
    if not commits:
        return History(reason=_NO_PAST)
    limited = context.limited(_SHARE)
    tests = {failure.test: failure for failure in failures}
    search = _Search(limited, commits, tests, hints, seconds)
    try:
        search.narrow(len(commits) if good else 1)
        if search.open() and good:
            older = context.workspace.commits(context.run, "", context.tree.sha)
            if len(older) > len(commits):
                search = _Search(limited, older, tests, hints, seconds, search.runs)
                search.narrow(min(2 * len(commits), len(older)))
        found = search.confirmed()
    except HealBotError as error:
        return History(reason=f"the history was not searched: {error}", runs=search.runs)
    reason = search.reason(found)
    return History(
        found, reason, search.runs, len(search.commits), bool(search.open()),
        older=search.list_older(found),
    )  # fmt: skip


def list_passing_before(context: RunContext, good: str, failures: Sequence[Failure]) -> set[str]:
    """The failing tests that pass before the commits under test, in the same environment.

    They run on `good`, or else on the parent commit. Tests that were changed since are left out;
    where no source file changed, none is run.
    """
    if not failures:
        return set()
    limited, run, workspace = context.limited(_SHARE), context.run, context.workspace
    try:
        commits = workspace.commits(run, good, context.tree.sha)
        sha = commits[0 if good else -1].parent if commits else ""
        files = workspace.changes(run, sha, context.tree.sha) if sha else ()
        changed = brought_tests(files)
        tests = tuple(f.test for f in failures if stable_test_ids.function(f.test) not in changed)
        if not tests or not _list_sources(files):
            return set()
        (suite,) = limited.run_many([Ask(workspace.checkout(run, sha), tests)])
    except HealBotError:
        return set()
    return {test for test in tests if state_of(test, suite) == RunResult.PASSED}


@dataclass(slots=True)
class _Search:
    """Per test the newest place where it passes and the oldest where it fails.

    Where it is not known to pass, `lacks` is the newest place that lacks it: it came later, and may
    have passed in between.
    `tests` are known by how they fail, by kind of exception; another one is another fault.
    Place 0 is the parent of the first commit, place n the n-th commit; the last one is red.
    """

    context: RunContext
    commits: Sequence[Commit]
    tests: Mapping[str, Failure]
    hints: RunHints
    seconds: float
    runs: int = 0
    passes: dict[str, int] = field(default_factory=dict)
    fails: dict[str, int] = field(default_factory=dict)
    lacks: dict[str, int] = field(default_factory=dict)
    seen: dict[int, Mapping[str, str]] = field(default_factory=dict)
    rewritten: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.fails = dict.fromkeys(self.tests, len(self.commits))

    def narrow(self, back: int) -> None:
        """Go so many commits back, further until the tests pass, then halve what lies between."""
        last = len(self.commits)
        while self.open() and not self.context.run.over():
            self.ask(last - back, self.open())
            if back >= last:
                break
            back = min(2 * back, last)
        while (place := self.middle()) is not None and not self.context.run.over():
            gaps = self.gaps().items()
            self.ask(place, [test for test, (low, high) in gaps if low < place < high])

    def open(self) -> list[str]:
        """The tests that failed wherever they were seen so far, and were collected everywhere."""
        return [t for t in self.tests if t not in self.passes and all(
                states.get(t) == RunResult.FAILED for states in self.seen.values())]  # fmt: skip

    def gaps(self) -> dict[str, tuple[int, int]]:
        """Per test the places between which the one that broke it lies.

        Of the tests that pass nowhere so far those come first that failed the earliest: the others
        came later, and what they show may be as old as that. They get what is left of the runs.
        """
        lacking = {test: low for test, low in self.lacks.items() if test not in self.passes}
        gaps = {test: (low, self.fails[test]) for test, low in self.passes.items()}
        most = len(self.commits).bit_length() + 3
        for first in sorted({self.fails[test] for test in lacking}):
            oldest = {t: (low, first) for t, low in lacking.items() if self.fails[t] == first}
            gaps |= oldest
            if any(map(self.left, oldest.values())) or self.runs >= most:
                break
        return gaps

    def left(self, gap: tuple[int, int]) -> list[int]:
        """The places within a gap that were not asked about yet."""
        return [place for place in range(gap[0] + 1, gap[1]) if place not in self.seen]

    def middle(self) -> int | None:
        """The next place to ask, the middle of the widest gap that was not asked about yet."""
        for gap in sorted({*self.gaps().values()}, key=lambda gap: gap[0] - gap[1]):
            if left := self.left(gap):
                return min(left, key=lambda place: abs(2 * place - sum(gap)))
        return None

    def ask(self, place: int, tests: Sequence[str]) -> None:
        """Run tests at a place, and take in what they do there."""
        (states,) = self.states([place], tests)
        self.seen[place] = states
        for test, state in states.items():
            if state == RunResult.PASSED:
                self.passes[test] = max(place, self.passes.get(test, 0))
            elif state == RunResult.FAILED:
                self.fails[test] = min(place, self.fails[test])
            else:
                self.lacks[test] = max(place, self.lacks.get(test, place))

    def sha(self, place: int) -> str:
        """The commit of a place."""
        return self.commits[place - 1].sha if place else self.commits[0].parent

    def environment(self, tree: Tree, suite: SuiteRun) -> Environment | None:
        """One for a commit whose tests cannot be collected in that of the red run, if it differs.

        That a test is not there yet is no such trouble.
        """
        if suite.finished and not suite.errors:
            return None
        try:
            made = self.context.provision(tree, self.hints)
        except ProvisionError:
            return None
        return None if made == self.context.env else made

    def states(self, places: Sequence[int], tests: Sequence[str]) -> list[dict[str, str]]:
        """What the tests do at each place: passed, failed, or '' where nobody can say."""
        context, run = self.context, self.context.run
        trees = [context.workspace.checkout(run, self.sha(place)) for place in places]
        seconds = _SECONDS + 2 * self.seconds
        asks = [Ask(tree, tuple(tests), seconds=seconds) for tree in trees]
        done = context.run_many(asks)
        found = []
        for tree, ask, first in zip(trees, asks, done, strict=True):
            self.tell(tree, first)
            states = {test: state_of(test, first, self.tests[test]) for test in tests}
            if (env := self.environment(tree, first)) is not None:
                context.runner.preflight(run, env)
                (suite,) = context.runner.run_many(run, env, [ask])
                context.runner.preflight(run, context.env)
                self.tell(tree, suite)
                own = {test: state_of(test, suite, self.tests[test]) for test in tests}
                states = {test: state or own[test] for test, state in states.items()}
            found.append(states)
        return found

    def tell(self, tree: Tree, suite: SuiteRun) -> None:
        """Count a run and say what came of it."""
        self.runs += 1
        self.context.run.tell_suite("history", f"failing tests at {tree.sha[:7]}", suite)

    def confirmed(self) -> tuple[Regression, ...]:
        """A regression for each commit that nothing lies between and its parent, seen again."""
        groups: dict[int, list[str]] = {}
        for test in self.passes:
            if self.fails[test] - self.passes[test] == 1:
                groups.setdefault(self.fails[test], []).append(test)
        found = []
        for place, tests in groups.items():
            # What cannot be run once more takes nothing from another commit's proof.
            with contextlib.suppress(HealBotError):
                found.append(self.again(place, tests))
        found = [one for one in found if one.confirmed]
        return tuple(sorted(found, key=lambda one: -len(one.tests)))

    def again(self, place: int, tests: Sequence[str]) -> Regression:
        """The regression at a place, with the tests run once more before and, if old, at it."""
        context = self.context
        places = [place - 1, place] if place < len(self.commits) else [place - 1]
        before, *at = [{}] * 2 if context.run.over() else self.states(places, tests)
        good, bad = self.sha(place - 1), self.commits[place - 1]
        files = context.workspace.changes(context.run, good, bad.sha)
        # A test that the commit itself changed is another one: that it failed before is not known.
        own = brought_tests(files)
        # Where it changed nothing but tests, those below a shared class are others too.
        alone = bool(own) and not _list_sources(files)
        self.rewritten.update(
            test for test in tests if alone or stable_test_ids.function(test) in own
        )
        held = tuple(
            t for t in tests if t not in self.rewritten
            and before.get(t) == RunResult.PASSED
            and all(states.get(t) == RunResult.FAILED for states in at)
        )  # fmt: skip
        return Regression(good, bad.sha, bad.title, held or tuple(tests), bool(held), files)

    def list_older(self, found: Iterable[Regression]) -> frozenset[str]:
        """The tests that fail on a commit before the first of those found to break others."""
        first = min((self.fails[test] for one in found for test in one.tests), default=0)
        return frozenset(t for t in self.tests if t not in self.passes and self.fails[t] < first)

    def reason(self, found: Iterable[Regression]) -> str:
        """Why there is no culprit for some of the tests; '' where there is one for each."""
        left = [t for t in self.tests if not any(t in one.tests for one in found)]
        if not left:
            return ""
        oldest = self.seen.get(min(self.seen, default=-1), {})
        absent = [t for t in left if oldest.get(t) == ""]
        one = len(left) == 1
        they = left[0] if one else f"{count(len(left), 'test')}, first {left[0]},"
        them, fail = ("it", "fails") if one else ("them", "fail")
        if len(absent) == len(left):
            return f"{they} cannot be run on older commits, so none is known to have broken {them}"
        if self.rewritten.issuperset(left):
            return (
                f"{they} came or changed with the tests of the commit: the code may never have"
                f" passed {them}"
            )
        if any(t in self.passes for t in left):
            return f"{they} passed before, and no single commit was shown to break {them}"
        return f"{they} {fail} on every older commit that was tried"


def _list_sources(files: Iterable[ChangedFile]) -> list[str]:
    """The source files among those that a commit changed."""
    return [f.path for f in files if f.path.endswith(".py") and not paths.is_test(f.path)]


def state_of(test: str, suite: SuiteRun, failure: Failure | None = None) -> str:
    """What a run says of a test, or of the tests of a file, class or function.

    passed | failed, or '' where nobody can say: one that is red for another kind of exception than
    the `failure` says nothing of it, a file that cannot be collected only where it says the same,
    and a run that did not finish nothing of what passes.
    """
    beneath = (f"{test}::", f"{test}[")
    found = [r for r in suite.results if r.test == test or r.test.startswith(beneath)]
    kind = failure.kind if failure else ""
    red = [result.kind for result in found if result.red]
    if red:
        return RunResult.FAILED if not kind or kind in red else ""
    if any(result.outcome in EXPECTED for result in found):
        return RunResult.PASSED if suite.finished else ""
    if failure is None or not failure.message:
        return ""
    stopped = dict(suite.errors).get(test.partition("::")[0], "")
    return RunResult.FAILED if f"{kind}: {failure.message}" in stopped else ""
