"""Tests whose ids change from run to run are the same tests in every run of ours."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Environment, Failure
from heal_bot.ports import Ask
from heal_bot.testrun.runner import SuiteRunner

INSIDE = Path(__file__).parents[2] / "heal_bot" / "testrun" / "agent"
SOURCE = "def add(a, b):\n    return a - b\n"
# The middle one of three fails.
SUITE = """\
import os, time, uuid
import pytest
from m import add

class Thing:
    pass

IDS = {expression}

@pytest.mark.parametrize("n", [0, 1, 0], ids=IDS)
def test_add(n):
    assert add(0, n) == n

@pytest.mark.parametrize("n", [1, 2])
def test_steady(n):
    assert n
"""
MOVING = {
    "clock": "['at %r' % (time.time() + n) for n in range(3)]",
    "address": "[repr(object.__new__(Thing)) + str(os.urandom(4)) for n in range(3)]",
    "folder": "[os.path.abspath('data/%d' % n) for n in range(3)]",
    "seed": "['%d-%d' % (n, hash('x')) for n in range(3)]",
    "some of them": "['first', str(uuid.uuid4()), 'last']",
}


@pytest.mark.long
@pytest.mark.parametrize("expression", MOVING.values(), ids=MOVING)
def test_a_test_is_found_again_by_function_and_position(
    expression: str,
    project: Callable[[Mapping[str, str]], object],
    runner: SuiteRunner,
    run: Run,
    env: Environment,
) -> None:
    tree = project({"m.py": SOURCE, "test_m.py": SUITE.replace("{expression}", expression)})
    first = runner.run(run, tree, env)
    red = [r.test for r in first.results if r.outcome == "failed"]
    assert red == [first.collected[1]]
    again, alone = runner.run_many(
        run, env, [Ask(tree, hashes=1), Ask(tree, tuple(red), shuffle=1)]
    )
    assert again.collected == first.collected
    assert {*again.unsteady, *alone.unsteady} == {"test_m.py::test_add"}
    assert [r.test for r in again.results if r.outcome == "failed"] == red
    assert [(r.test, r.outcome) for r in alone.results] == [(red[0], "failed")]
    guards = [test for test in first.collected if test not in red]
    failing = [Failure(red[0], "AssertionError", "")]
    right, wrong = (tree.candidate("add", SOURCE.replace("-", new)) for new in "+*")
    with runner.warm(run, tree, env, failing, guards) as session:
        assert [v.status for v in session.judge([wrong, right])] == ["unchanged", "fixed"]


def test_a_test_keeps_its_name_in_an_environment_that_names_it_otherwise(
    project: Callable[[Mapping[str, str]], object],
    runner: SuiteRunner,
    run: Run,
    env: Environment,
) -> None:
    ids = "[str(n + 9 * any(p.endswith('new') for p in os.sys.path)) for n in range(3)]"
    tree = project({"m.py": SOURCE, "test_m.py": SUITE.replace("{expression}", ids)})
    first = runner.run(run, tree, replace(env, paths=(*env.paths, "new")))
    (red,) = (result.test for result in first.results if result.outcome == "failed")
    again = runner.run(run, tree, env, tests=(red,))
    assert [(r.test, r.outcome) for r in again.results] == [(red, "failed")]


@pytest.mark.long
def test_steady_ids_are_not_called_unsteady(
    project: Callable[[Mapping[str, str]], object],
    runner: SuiteRunner,
    run: Run,
    env: Environment,
) -> None:
    suite = SUITE.replace("{expression}", "list({'a', 'b', 'c'})")
    tree = project({"m.py": SOURCE, "test_m.py": suite})
    first = runner.run(run, tree, env)
    again = runner.run_many(run, env, [Ask(tree, hashes=seed) for seed in range(3)])
    assert {frozenset(suite.collected) for suite in again} == {frozenset(first.collected)}
    assert not any(suite.unsteady for suite in again)


ALIGNED = {
    "all of them": (["a1", "a2"], ["b1", "b2"], ["a1", "a2"]),
    "one of them": (["a", "1", "c"], ["a", "2", "c"], ["a", "1", "c"]),
    "counted on": (["1", "2", "3"], ["2", "3", "4"], ["1", "2", "3"]),
    "a set of stable ones": (["a", "b", "c"], ["c", "b", "a"], ["c", "b", "a"]),
    "a set with an unstable one": (["a", "b", "1"], ["b", "2", "a"], ["b", "1", "a"]),
    "fewer": (["1", "2", "3"], ["4", "5"], ["4", "5"]),
    "more": (["1"], ["2", "3"], ["2", "3"]),
}


@pytest.mark.parametrize(("known", "names", "meant"), ALIGNED.values(), ids=ALIGNED)
def test_names_are_aligned_with_those_known(
    known: list[str], names: list[str], meant: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(INSIDE))
    import _heal_ids

    def of(ids: list[str]) -> list[str]:
        return ["t.py::f", *(f"t.py::f[{one}]" for one in ids), "t.py::g[1]"]

    found, moved = _heal_ids.aligned(of(names), of(known))
    assert found == of(meant)
    assert moved == (["t.py::f"] if meant != names else [])
    sys.modules.pop("_heal_ids")
