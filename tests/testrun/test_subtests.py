"""Subtests, unittest's and pytest's, belong to their test."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from heal_bot.core.events import Event, Run
from heal_bot.core.model import Environment, Failure
from heal_bot.testrun.runner import SuiteRunner

SOURCE = "def add(a, b):\n    return a - b\n"
UNITTEST = """\
import unittest
from m import add

class Case(unittest.TestCase):
    def test_red(self):
        for n in range(4):
            with self.subTest(n=n):
                if n == 3:
                    self.skipTest("not three")
                self.assertEqual(add(1, n), 1 + n)

    def test_skips(self):
        for n in range(4):
            with self.subTest(n=n):
                if n:
                    self.skipTest("only zero")
                self.assertEqual(add(2, n), 2)
{more}
"""
PYTEST = """\
import pytest
from m import add

def test_red(subtests):
    for n in range(4):
        with subtests.test(n=n):
            if n == 3:
                pytest.skip("not three")
            assert add(1, n) == 1 + n

def test_skips(subtests):
    for n in range(4):
        with subtests.test(n=n):
            if n == 1:
                pytest.xfail("not one")
            if n > 1:
                pytest.skip("only zero")
            assert add(2, n) == 2
{more}
"""
# As many as make a search give up on the guards.
MORE = {
    "unittest": (UNITTEST, "test_m.py::Case::", "    test_{0} = test_skips\n"),
    "pytest": (PYTEST, "test_m.py::", "test_{0} = test_skips\n"),
}


@pytest.mark.parametrize(("suite", "place", "more"), MORE.values(), ids=MORE)
def test_a_test_with_skipped_subtests_ran_and_one_with_a_failed_subtest_failed(
    suite: str,
    place: str,
    more: str,
    project: Callable[[Mapping[str, str]], object],
    runner: SuiteRunner,
    run: Run,
    env: Environment,
    events: list[Event],
) -> None:
    text = suite.replace("{more}", "".join(map(more.format, "abcdef")))
    tree = project({"m.py": SOURCE, "test_m.py": text})
    done = runner.run(run, tree, env)
    assert done.ended == "finished"
    guards = [f"{place}test_{name}" for name in ("skips", *"abcdef")]
    red = f"{place}test_red"
    assert {r.test: r.outcome for r in done.results} == {
        red: "failed", **dict.fromkeys(guards, "passed"),
    }  # fmt: skip
    assert {r.skipped for r in done.results if r.test != red} == {3 if suite is UNITTEST else 2}
    (failed,) = (r for r in done.results if r.test == red)
    assert failed.skipped == 1
    assert failed.kind == "AssertionError"
    assert failed.frames[-1].path == "test_m.py"
    failing = [Failure(failed.test, failed.kind, failed.message, failed.frames)]
    right, wrong, breaks = (
        tree.candidate("add", f"def add(a, b):\n    return {body}\n")
        for body in ("a + b", "b - a", "a + b if a == 1 else 7")
    )
    with runner.warm(run, tree, env, failing, guards) as session:
        statuses = [v.status for v in session.judge([wrong, right, breaks])]
    assert statuses == ["unchanged", "fixed", "regression"]
    assert not [e for e in events if "not used here" in getattr(e, "message", "")]
