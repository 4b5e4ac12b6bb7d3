from __future__ import annotations

from collections.abc import Callable

import pytest

from heal_bot.events import Run
from heal_bot.model import CallResult, Calls, Environment, Failure
from heal_bot.sandbox.run import Sandbox
from heal_bot.sandbox.suite import SuiteRunner

CODE = """\
class Cart:
    def __init__(self, prices):
        self.prices = prices

    def total(self, *, rate=1):
        return sum(self.prices[1:]) * rate


def drain(items):
    return sorted(items, reverse=True)
"""
TESTS = """\
import m

def test_total(): assert m.Cart([1, 2, 3]).total(rate=2) == 12
def test_empty(): assert m.Cart([]).total() == 0
def test_drain(): assert m.drain([2, 3]) == [3, 2]
"""
FAILING = (Failure("test_m.py::test_total", "AssertionError", ""),)
GUARDS = ("test_m.py::test_empty", "test_m.py::test_drain")
TOTALS = {
    "right": "return sum(self.prices) * rate",
    "also right": "return rate * sum(self.prices)",
    "lucky": "return (sum(self.prices[1:]) + bool(self.prices)) * rate",
    "another type": "return float(sum(self.prices) * rate)",
    "endless": "while len(self.prices) > 3: pass\n        return sum(self.prices) * rate",
    "raising": "return sum(self.prices) * {1: 1, 2: 2}[rate]",
    "emptying": "r = sum(self.prices)\n        self.prices.clear()\n        return r * rate",
}


def _source(body: str) -> str:
    return f"    def total(self, *, rate=1):\n        {body}\n"


@pytest.fixture(scope="module")
def called(
    tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox, env: Environment, folder: Callable
) -> dict[str, Calls | tuple[CallResult, ...]]:
    """What one session says of the calls, under "", and the results of each change."""
    tree = folder(tmp_path_factory.mktemp("calls") / "tree", {"m.py": CODE, "test_m.py": TESTS})
    candidates = [tree.candidate("Cart.total", _source(body)) for body in TOTALS.values()]
    run = Run(lambda event: None)
    with SuiteRunner(sandbox).warm(run, tree, env, FAILING, GUARDS) as session:
        assert [v.status for v in session.judge(candidates[:1])] == ["fixed"]
        found = session.call(candidates)
        assert session.call(candidates) == found
        assert session.call(candidates, seed=1).calls != found.calls
        table = [tree.candidate("drain", "def drain(items):\n    return items[::-1]\n")]
        assert session.call(table).calls[0] == "drain([2, 3])"
    return {"": found, **dict(zip(["unchanged", *TOTALS], found.rows, strict=True))}


def test_calls_are_those_of_the_tests_and_then_varied_ones(called: dict) -> None:
    calls = called[""]
    assert calls.recorded == 2
    assert all(call.startswith("total(<m.Cart object>, rate=") for call in calls.calls)
    assert len(calls.calls) > 60
    assert {len(row) for row in calls.rows} == {len(calls.calls)}


def test_equal_behaviour_has_equal_marks(called: dict) -> None:
    marks = {name: tuple(r.mark for r in row) for name, row in called.items() if name}
    assert marks["right"] == marks["also right"]
    different = [marks[name] for name in marks if name != "also right"]
    assert len(set(different)) == len(different)


def test_results_are_told_with_how_they_came(called: dict) -> None:
    first = {name: row[0] for name, row in called.items() if name}
    assert (first["unchanged"].how, first["unchanged"].text) == ("returned", "10")
    assert (first["right"].kind, first["right"].text) == ("int", "12")
    assert (first["another type"].kind, first["another type"].text) == ("float", "12.0")
    assert {r.how for r in called["endless"]} == {"returned", "late"}
    assert {r.kind for r in called["raising"] if r.how == "raised"} >= {"KeyError"}


def test_what_becomes_of_the_arguments_counts(called: dict) -> None:
    one, other = called["right"][0], called["emptying"][0]
    assert (one.text, one.how) == (other.text, other.how)
    assert one.mark != other.mark


def test_the_code_is_as_before_once_the_calls_are_recorded(called: dict) -> None:
    assert called["unchanged"][0].mark != called["right"][0].mark
