"""From a red suite in the sandbox to ranked suspects, for failures that are no plain assertion."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from heal_bot.core.events import Event, Noted, Run
from heal_bot.core.model import Cluster, Environment
from heal_bot.fault_localization import ranking
from heal_bot.testrun.runner import SuiteRunner
from heal_bot.verification.baseline import reproduce
from tests.fakes import context_of

pytestmark = pytest.mark.slow


@pytest.fixture
def located(
    runner: SuiteRunner, events: list[Event], env: Environment, project: Callable
) -> Callable[..., dict[str, Cluster]]:
    """Clusters of a project by their first test."""
    run = Run(sink=events.append, deadline=time.monotonic() + 120)

    def locate(files: dict[str, str]) -> dict[str, Cluster]:
        tree = project(files)
        baseline = reproduce(context_of(run, runner, tree, env=env), None)
        clusters = ranking.locate(run, baseline, tree)
        return {one.failures[0].test: one for one in clusters}

    return locate


def _names(cluster: Cluster) -> list[str]:
    return [suspect.target.qualname for suspect in cluster.suspects]


def test_a_module_that_cannot_be_imported_stands_beside_an_assertion(located: Callable) -> None:
    found = located(
        {
            "a.py": "LEVELS = {'low': 1}\nDEFAULT = LEVELS['mid']\n"
            "def level(n): return LEVELS[n]\n",
            "b.py": "def add(a, b):\n    return a - b\n",
            "test_a.py": "import a\ndef test_low(): assert a.level('low') == 1\n",
            "test_b.py": "import b\ndef test_add(): assert b.add(1, 2) == 3\n"
            "def test_none(): assert b.add(1, 0) == 1\n",
        }
    )
    assert _names(found["test_b.py::test_add"]) == ["add"]
    assert _names(found["test_a.py"])[0] == "DEFAULT"


def test_a_fixture_that_raises_is_told_from_a_bug_of_the_project(located: Callable) -> None:
    found = located(
        {
            "store.py": "class Store:\n    def __init__(self):\n        self.items = {}\n"
            "    def put(self, k, v):\n        self.items[k] = v\n"
            "    def count(self):\n        return len(self.items) + 1\n",
            "conftest.py": "import pytest\nfrom store import Store\n@pytest.fixture\n"
            "def filled():\n    s = Store()\n    s.put('a', 1)\n    return s.items['b']\n",
            "test_s.py": "from store import Store\ndef test_filled(filled): pass\n"
            "def test_filled_again(filled): pass\n"
            + "".join(f"def test_{n}(): assert Store().count() == 0\n" for n in range(3))
            + "".join(f"def test_put_{n}(): Store().put({n}, 1)\n" for n in range(6)),
        }
    )
    assert _names(found["test_s.py::test_0"])[0] == "Store.count"
    fixture = found["test_s.py::test_filled"].suspects[0]
    assert (fixture.target.path, fixture.target.qualname) == ("conftest.py", "filled")
    assert "raised in this fixture in 2 of 2 failing tests" in fixture.evidence


def test_what_ran_before_a_crash_is_ranked_and_the_gap_is_told(
    located: Callable, events: list[Event]
) -> None:
    found = located(
        {
            "m.py": "def add(a, b):\n    return a - b\ndef sub(a, b):\n    return a - b\n",
            "test_m.py": "import m, os\ndef test_add(): assert m.add(1, 2) == 3\n"
            "def test_sub(): assert m.sub(2, 1) == 1\ndef test_crash(): os.abort()\n"
            "def test_after(): pass\n",
        }
    )
    assert _names(found["test_m.py::test_add"]) == ["add"]
    told = [event.message for event in events if isinstance(event, Noted)]
    assert "the run ended early: executions of 2 of 4 tests" in told


def test_an_error_outside_of_all_project_code_is_no_silent_empty_list(
    located: Callable, events: list[Event]
) -> None:
    found = located(
        {
            "m.py": "def f():\n    return 1\n",
            "test_m.py": "import os, subprocess, sys\ndef test_child():\n"
            "    code = 'import m; assert m.f() == 2'\n"
            "    subprocess.run([sys.executable, '-c', code], check=True)\n",
        }
    )
    assert list(found) == ["test_m.py::test_child"]
    told = " ".join(event.message for event in events if isinstance(event, Noted))
    assert "child processes" in told
    assert "no execution of project code was recorded" in told
