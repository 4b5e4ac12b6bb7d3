"""Runs side by side, and assertions in a process that never executes the candidate."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Environment, OracleAnswers
from heal_bot.ports import Ask, Oracle
from heal_bot.testrun.runner import SuiteRunner

pytestmark = pytest.mark.long

BUGGY = """
def f(*args, **kwargs):
    return None

class Wrong(ValueError):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code
"""
TESTS = """
import datetime, decimal, math
import pytest
import m
from m import f

def test_values():
    nan, *rest = f(1, "two", three=[(3.5, b"4"), {5: {6}}])
    assert math.isnan(nan)
    assert rest == [2**70, ("two", None, True), {"three": [(3.5, b"4"), {5: {6}}]}, range(3)]

def test_types():
    day = datetime.datetime(2024, 2, 29, 12)
    assert m.f(day, decimal.Decimal("1.10")) == (day, decimal.Decimal("1.10"))

def test_raises():
    with pytest.raises(m.Wrong, match="code 7") as caught:
        f("raise")
    assert caught.value.code == 7

def test_changes_its_argument():
    numbers = [3, 1, 2]
    assert f(numbers) is None
    assert numbers == [1, 2, 3]
"""
HONEST = """
def f(*args, **kwargs):
    if args == ("raise",):
        raise Wrong(7)
    if isinstance(args[0], list):
        args[0].sort()
        return None
    if len(args) == 2 and not kwargs:
        return args
    return [float("nan"), 2**70, ("two", None, True), kwargs, range(3)]
"""


@pytest.fixture
def project(tmp_path: Path, folder: Callable) -> Callable:
    """Trees of this test by name."""
    return lambda name, files: folder(tmp_path / name, files)


def _run(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable, body: str, tests: str
) -> dict[str, str]:
    rest = BUGGY.partition("return None\n")[2]
    base = project("base", {"m.py": BUGGY, "test_m.py": tests})
    fresh = project("fresh", {"m.py": body + rest, "test_m.py": tests})
    (done,) = runner.run_many(run, env, [Ask(base, oracle=Oracle(fresh, (("m.py", "f"),)))])
    assert done.ended == "finished", done.detail
    return {r.test.partition("::")[2]: f"{r.outcome} {r.kind} {r.message}" for r in done.results}


def test_plain_data_crosses_and_the_tests_pass_without_executing_the_candidate(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    found = _run(runner, run, env, project, HONEST, TESTS)
    assert {name: said.split()[0] for name, said in found.items()} == {
        "test_values": "passed",
        "test_types": "passed",
        "test_raises": "passed",
        "test_changes_its_argument": "passed",
    }


@pytest.mark.parametrize(
    "body",
    [
        "def f(a):\n    class E(int):\n        def __eq__(self, o): return True\n    return E(a)\n",
        "def f(a):\n    import sys\n    return sys._getframe(1).f_locals['expected']\n",
        "def f(a):\n    import os\n    os._exit(0)\n",
        'def f(a):\n    import os\n    os.write(181, b\'{"value": 5, "after": [4]}\\n\')\n',
        "def f(a):\n    return open('test_m.py').read().count('=') + 3\n",
        "def f(a):\n    import pytest\n    pytest.skip('no')\n",
        "def f(a):\n    import pytest\n    raise pytest.fail.Exception('no')\n",
    ],
)
def test_a_forgery_does_not_pass_where_only_data_counts(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable, body: str
) -> None:
    tests = "from m import f\n\ndef test_it():\n    expected = 5\n    assert f(4) == expected\n"
    found = _run(runner, run, env, project, body, tests)
    assert found["test_it"].split()[0] == "failed"


def test_what_tests_expect_is_not_where_the_candidate_runs(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    held = {"check_it.py": "x = 5\n", "fixtures/out.json": "5\n", "rates.json": "5\n"}
    names = f"[n for n in {list(held)} if os.path.exists(n)]"
    code = {"m.py": "def f():\n    return 0\n", "test_m.py": "from m import f\n\n"
            "def test_it():\n    assert f() == ['rates.json']\n", **held}  # fmt: skip
    fresh = project("fresh", {**code, "m.py": f"import os\n\ndef f():\n    return {names}\n"})
    oracle = Oracle(fresh, (("m.py", "f"),), frozenset({"check_it.py"}))
    (done,) = runner.run_many(run, env, [Ask(project("base", code), oracle=oracle)])
    assert [r.outcome for r in done.results] == ["passed"], done.results


def test_runs_asked_for_together_run_side_by_side_and_keep_their_order(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    stamp = "import time\ndef test_a():\n    time.sleep(0.8)\n    assert {}\n"
    trees = [project(f"t{value}", {"test_a.py": stamp.format(value)}) for value in (1, 0)]
    began = time.monotonic()
    done = runner.run_many(run, env, [Ask(tree) for tree in trees])
    assert [suite.results[0].outcome for suite in done] == ["passed", "failed"]
    assert time.monotonic() - began < sum(suite.seconds for suite in done)


def test_a_shuffled_run_also_has_another_order_of_sets(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    tests = "def test_a():\n    assert 0, ''.join({'ab', 'cd', 'ef', 'gh', 'ij', 'kl'})\n"
    tree = project("one", {"test_a.py": tests})
    done = runner.run_many(run, env, [Ask(tree, shuffle=seed) for seed in (1, 2, 1)])
    first, second, again = (suite.results[0].message for suite in done)
    assert first == again != second


def test_another_seed_of_hashes_leaves_the_tests_in_their_order(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    tests = "".join(
        f"def test_{n}(): assert 0, ''.join({{'ab', 'cd', 'ef', 'gh', 'ij', 'kl'}})\n"
        for n in "edcba"
    )
    tree = project("one", {"test_a.py": tests})
    done = runner.run_many(run, env, [Ask(tree, hashes=seed) for seed in (None, 0, 1)])
    plain, same, other = (suite.results[0].message for suite in done)
    assert plain == same != other
    assert done[0].collected == done[2].collected
    assert [r.test for r in done[0].results] == [r.test for r in done[2].results]


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("def f(n):\n    return [n, 2 * n]\n", "many"),
        ("def f(n):\n    return {1: [1, 2], 4: [4, 8]}.get(n)\n", "few"),
        ("def f(n):\n    return {1: [1, 2], 4: [4, 8]}[n]\n", "few"),
        ("def f(n):\n    return {1: [1, 2], 4: [4, 8]}.get(n, f)\n", "few"),
        ("def f(n):\n    while n not in (1, 4):\n        pass\n    return [n, 2 * n]\n", "few"),
        ("import os\ndef f(n):\n    n in (1, 4) or os._exit(0)\n    return [n, 2 * n]\n", "few"),
    ],
    ids=[
        "computes",
        "a table",
        "a table that raises",
        "a table of one that is not told",
        "never ends",
        "ends the process",
    ],
)
def test_the_oracle_is_asked_for_what_no_test_asks(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable, body: str, kinds: str
) -> None:
    tests = "from m import f\n\ndef test_it():\n    assert f(1) == [1, 2] and f(4) == [4, 8]\n"
    base = project("base", {"m.py": "def f(n):\n    return [n, n]\n", "test_m.py": tests})
    fresh = project("fresh", {"m.py": body, "test_m.py": tests})
    (done,) = runner.run_many(run, env, [Ask(base, oracle=Oracle(fresh, (("m.py", "f"),)))])
    assert [r.outcome for r in done.results] == ["passed"]
    assert done.asked.tests == ("[[1, 2], null]", "[[4, 8], null]")
    new = {*done.asked.others} - {*done.asked.tests}
    assert (len(done.asked.others) > 8, len(new) > 2) == (True, kinds == "many")


@pytest.mark.parametrize(
    ("place", "module"),
    [("src/pack/m.py", "pack.m"), ("pack/m.py", "pack.m"), ("pack/__init__.py", "pack")],
)
def test_what_a_test_imports_itself_is_asked_outside(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable, place: str, module: str
) -> None:
    tests = (
        f"def test_it():\n    import sys\n    from {module} import f\n    assert f(1) == 2\n"
        "    assert 'pack.__init__' not in sys.modules\n"
    )
    path = "import os, sys\n\nsys.path.insert(0, os.path.abspath('src'))\n"
    files = {place.replace("m.py", "__init__.py"): "", "test_m.py": tests, "conftest.py": path}
    base = project("base", files | {place: "def f(n):\n    return n\n"})
    fresh = project("fresh", files | {place: "def f(n):\n    return n + 1\n"})
    (done,) = runner.run_many(run, env, [Ask(base, oracle=Oracle(fresh, ((place, "f"),)))])
    assert [r.outcome for r in done.results] == ["passed"]
    assert done.asked.tests == ("[2, null]",)


def test_a_call_of_much_data_is_not_asked_for_again(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    tests = "from m import f\n\ndef test_it():\n    assert f(list(range(40_000))) == 40_000\n"
    tree = project("base", {"m.py": "def f(n):\n    return len(n)\n", "test_m.py": tests})
    (done,) = runner.run_many(run, env, [Ask(tree, oracle=Oracle(tree, (("m.py", "f"),)))])
    assert done.finished
    assert done.asked == OracleAnswers()
