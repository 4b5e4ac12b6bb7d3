from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.core.events import Noted, Planned
from heal_bot.core.model import (
    Baseline,
    Collection,
    Edit,
    Failure,
    Report,
    Reproduced,
    RunHints,
    Spectrum,
)
from heal_bot.core.statuses import SuiteEnd
from heal_bot.source import functions
from heal_bot.verification import suite_time_budget
from heal_bot.verification.baseline import reproduce
from tests.fakes import (
    FolderTree,
    ScriptedRunner,
    context_of,
    failed,
    passed,
    quiet_run,
    suite,
)

RED, NEAR, FAR = "a.py::t1", "a.py::t2", "b.py::t3"
ALL = Collection((RED, NEAR, FAR))


def _report(seconds: float, passed: int = len(ALL.tests)) -> Report:
    return Report((), passed, hints=RunHints(seconds=seconds))


@pytest.mark.parametrize(("seconds", "fits"), [(0.0, True), (10.0, True), (600.0, False)])
def test_the_plan_is_told_before_any_test_runs_where_the_report_has_times(
    seconds: float, fits: bool
) -> None:
    run, events = quiet_run(clock=lambda: 0.0, deadline=600.0)
    assert suite_time_budget.plan(run, seconds) is fits
    planned = [e for e in events if isinstance(e, Planned)]
    assert [e.suite_seconds for e in planned] == ([seconds] if seconds else [])
    assert any(isinstance(e, Noted) for e in events) is not fits


def test_a_short_suite_is_run_at_once_and_a_long_one_is_collected_first(tmp_path: Path) -> None:
    class Runner(ScriptedRunner):
        def collect(self, *args: object) -> Collection:
            return ALL

    for seconds, runs in ((5.0, 1), (200.0, 0), (0.0, 0)):
        run, _ = quiet_run(clock=lambda: 0.0, deadline=1200.0)
        runner = Runner([suite(failed(RED), passed(NEAR), passed(FAR))])
        tree = FolderTree(tmp_path)
        look = suite_time_budget.plan_suite(context_of(run, runner, tree), _report(seconds))
        assert set(look.collection.tests) == set(ALL.tests)
        assert (len(runner.asked), look.seen is not None) == (runs, bool(runs))


@pytest.mark.parametrize(
    ("modules", "selected"),
    [
        ({"unit.test_a.TestA", "test_b"}, ("unit/test_a.py::t", "unit/test_b.py::t")),
        ({"unit/test_a.py"}, ("unit/test_a.py::t",)),
        ({"unit.test_a", "unit.test_b", "slow.test_c"}, None),
        ({"another runner"}, None),
    ],
)
def test_where_the_suite_does_not_end_the_files_of_the_report_run(
    tmp_path: Path, modules: set[str], selected: tuple[str, ...] | None
) -> None:
    ids = ("slow/test_c.py::t", "unit/test_a.py::t", "unit/test_b.py::t")

    class Runner(ScriptedRunner):
        def collect(self, *args: object) -> Collection:
            return Collection(ids)

    run, events = quiet_run(clock=lambda: 0.0, deadline=1200.0)
    runner = Runner([replace(suite(), ended=SuiteEnd.TIMEOUT, collected=ids)])
    told = _report(8.0)
    report = replace(told, hints=replace(told.hints, modules=frozenset(modules)))
    context = context_of(run, runner, FolderTree(tmp_path))
    look = suite_time_budget.plan_suite(context, report)
    assert (look.seen, look.fits) == (None, selected is None)
    assert look.collection.tests == (selected or ids)
    warned = [e.message for e in events if isinstance(e, Noted)]
    assert [w.startswith("the suite does not end in 80 s; ") for w in warned] == (
        [True] if selected else []
    )


def test_a_report_of_a_few_tests_does_not_tell_how_long_the_suite_takes(tmp_path: Path) -> None:
    ids = tuple(f"test_a.py::test_{n}" for n in range(20))

    class Runner(ScriptedRunner):
        def collect(self, *args: object) -> Collection:
            return Collection(ids)

    tree = FolderTree.of(tmp_path, {"test_a.py": "def test_a(): pass\n\n\n" * 20})
    for seconds, fits in ((4.0, True), (40.0, False)):
        run, events = quiet_run(clock=lambda: 0.0, deadline=600.0)
        context = context_of(run, Runner([]), tree)
        look = suite_time_budget.plan_suite(context, _report(seconds, passed=2))
        assert (look.seen, look.fits) == (None, fits)
        assert [e.suite_seconds for e in events if isinstance(e, Planned)] == [10 * seconds]
        said = next(e.message for e in events if isinstance(e, Noted))
        assert said == "the report has 2 of 20 tests"


def test_the_tests_a_report_names_run_again_beside_a_short_suite(tmp_path: Path) -> None:
    run, _ = quiet_run(clock=lambda: 0.0, deadline=1200.0)
    tree = FolderTree.of(tmp_path, {"a.py": "assert 0\n"})
    runner = ScriptedRunner([suite(failed(RED), passed(NEAR), passed(FAR)), suite(failed(RED))])
    look = suite_time_budget.plan_suite(context_of(run, runner, tree), _report(5.0), (RED,))
    spectrum = Spectrum((("a.py", 1),), {RED: 1})
    assert look.seen is not None
    seen = replace(look.seen, suite=replace(look.seen.suite, spectrum=spectrum))
    failures = (Failure(RED, "", ""),)
    baseline = reproduce(context_of(run, runner, tree), failures, seen)
    assert ([f.test for f in baseline.confirmed], baseline.runs) == ([RED], 3)
    assert [tests for _, tests in runner.asked] == [None, (RED,), (RED,)]
    # A name that pytest knows as another one tells nothing: that test runs again by itself.
    known = ScriptedRunner([suite(failed(NEAR))])
    failures = (Failure(NEAR, "", ""),)
    reproduce(context_of(run, known, tree), failures, replace(seen, suite=suite(failed(NEAR))))
    assert known.asked[0][1] == (NEAR,)


@pytest.mark.parametrize(
    ("left", "tests"), [(30.0, (RED,)), (650.0, (RED, NEAR)), (920.0, (RED, NEAR, FAR))]
)
def test_failing_tests_come_first_then_their_files_then_what_fits(
    left: float, tests: tuple[str, ...]
) -> None:
    run, _ = quiet_run(clock=lambda: 0.0, deadline=left)
    chosen = suite_time_budget.choose_tests(run, _report(300.0), ALL, (Failure(RED, "", ""),))
    assert chosen == tests


def test_a_confirmation_that_does_not_fit_runs_the_impacted_tests(tmp_path: Path) -> None:
    source = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
    target = functions.find_target(functions.index_targets("m.py", source), "f")
    assert target is not None
    spectrum = Spectrum((("m.py", 2), ("m.py", 6)), {RED: 1, NEAR: 2, FAR: 1, "c.py::t4": 2})
    before = suite(failed(RED), passed(NEAR), passed(FAR), passed("c.py::t4"))
    before = replace(before, spectrum=spectrum, seconds=100.0)
    baseline = Baseline((Reproduced(Failure(RED, "", ""), "confirmed"),), before, 3)
    edits = (Edit(target, "def f():\n    return 3\n"),)
    plenty, _ = quiet_run(clock=lambda: 0.0, deadline=200.0)
    assert suite_time_budget.narrow_baseline(plenty, baseline, edits) is baseline
    little, _ = quiet_run(clock=lambda: 0.0, deadline=50.0)
    reduced = suite_time_budget.narrow_baseline(little, baseline, edits)
    assert reduced.selected == (RED, NEAR, FAR)
    assert not reduced.whole
    assert reduced.passed == {NEAR, FAR}
