"""Tests called plainly for many candidates at once: when that is believed, and what it tells."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Candidate, Environment
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.agent_process import Workbench
from heal_bot.testrun.forkserver_client import ForkServerClient
from heal_bot.testrun.judge_protocol import JudgeRequest, JudgeResponse
from heal_bot.testrun.pending_candidates import encode_edit
from heal_bot.testrun.runner import SuiteRunner

pytestmark = pytest.mark.long

CODE = """\
import warnings
SEEN = []
def f(n):
    return n
def total(rows):
    rows.append(0)
    return sum(rows) - 1
"""
WRONG = "def f(n):\n    return n - 1\n"
RIGHT = "def f(n):\n    return n + 1\n"
ENDLESS = "def f(n):\n    while True:\n        pass\n"
STUBBORN = (
    "def f(n):\n    while True:\n        try:\n            n += 1\n"
    "        except Exception:\n            pass\n"
)
SLOW = "def f(n):\n    for _ in range(20_000_000): pass\n    return n + 1\n"
GONE = "def f(n):\n    return missing\n"
BROKEN = "def f(n):\n    return n +\n"
SKIPS = "def f(n):\n    import pytest\n    pytest.skip('no')\n"
TABLE = {
    WRONG: "failed",
    RIGHT: "open",
    ENDLESS: "late",
    STUBBORN: "late",
    GONE: "failed",
    BROKEN: "open",
    SKIPS: "open",
}

PLAIN = {
    "what a test leaves in a module": (
        "import m\ndef test_f():\n    m.SEEN.append(1)\n    assert m.f(1) == 1 + len(m.SEEN)\n"
    ),
    "a function": "import m\ndef test_f(): assert m.f(1) == 2\n",
    "parameters": (
        "import m, pytest\n@pytest.mark.parametrize('n, rows', [(1, [3, 4])])\n"
        "def test_f(n, rows):\n    rows.append(n)\n    assert rows == [3, 4, 1]\n"
        "    assert m.f(n) == 2\n"
    ),
    "a method": "import m\nclass TestF:\n    def test_f(self): assert m.f(1) == 2\n",
    "unittest": (
        "import m, unittest\nclass TestF(unittest.TestCase):\n"
        "    def setUp(self): self.n = 1\n"
        "    def test_f(self): self.assertEqual(m.f(self.n), 2)\n"
    ),
    "an error that the code raises": (
        "import m\ndef test_f():\n    if m.f(1) != 2: raise KeyError(1)\n"
    ),
    "pytest.raises": (
        "import m, pytest\ndef test_f():\n    with pytest.raises(ZeroDivisionError):\n"
        "        1 / (m.f(1) - 2)\n"
    ),
}
DRESSED = {
    "a fixture": (
        "import m, pytest\n@pytest.fixture\ndef n(): return 1\ndef test_f(n): assert m.f(n) == 2\n"
    ),
    "a fixture for all": (
        "import m, pytest\n@pytest.fixture(autouse=True)\ndef ready(): m.SEEN.clear()\n"
        "def test_f(): assert m.f(1) == 2\n"
    ),
    "an indirect parameter": (
        "import m, pytest\n@pytest.fixture\ndef n(request): return request.param\n"
        "@pytest.mark.parametrize('n', [1], indirect=True)\n"
        "def test_f(n): assert m.f(n) == 2\n"
    ),
    "setup_method": (
        "import m\nclass TestF:\n    def setup_method(self): self.n = 1\n"
        "    def test_f(self): assert m.f(self.n) == 2\n"
    ),
    "a folder": (
        "import m\ndef test_f(tmp_path):\n    (tmp_path / 'n').write_text('1')\n"
        "    assert m.f(int((tmp_path / 'n').read_text())) == 2, tmp_path\n"
    ),
    "a folder that pytest clears": (
        "import m, pytest\n@pytest.fixture(autouse=True)\ndef home(tmp_path, monkeypatch):\n"
        "    monkeypatch.setenv('HOME', str(tmp_path))\n    return tmp_path\n"
        "def test_f(tmp_path):\n    import os\n    assert os.environ['HOME'] == str(tmp_path)\n"
        "    assert m.f(1) == 2\n"
    ),
    "a fixture whose end fails": (
        "import m, pytest\n@pytest.fixture\ndef n():\n    yield 1\n    raise KeyError(1)\n"
        "def test_f(n): assert m.f(n) == 2\n"
    ),
    "a fixture for all tests that ends": (
        "import m, pytest\n@pytest.fixture(scope='session')\ndef n():\n    yield 1\n"
        "    m.SEEN.append(1)\n"
        "def test_f(n):\n    assert m.SEEN == []\n    assert m.f(n) == 2\n"
    ),
}
BEYOND = {
    "setUpClass": (
        "import m, unittest\nclass TestF(unittest.TestCase):\n    @classmethod\n"
        "    def setUpClass(cls): cls.n = 1\n"
        "    def test_f(self): self.assertEqual(m.f(self.n), 2)\n"
    ),
    "a test that leaves something behind": (
        "import m, os\ndef test_f():\n"
        "    left = os.environ['LEFT'] = os.environ.get('LEFT', '') + 'x'\n"
        "    assert m.f(1) == 1 + len(left)\n"
    ),
}
ODD = {
    "a failure that only pytest makes": (
        "import m, warnings\ndef test_f():\n    warnings.warn('old', UserWarning)\n"
        "    assert m.f(1) == 2\n"
    ),
    "a coroutine": "import m\nasync def test_f(): assert m.f(1) == 2\n",
}
INI = "[pytest]\nfilterwarnings = error\n"


@pytest.fixture
def prefiltered(
    sandbox: Sandbox, run: Run, env: Environment, project: Callable
) -> Callable[..., JudgeResponse]:
    """The answer about some sources, those of TABLE, for a test file."""

    def ask(tests: str, each: float = 0.05, sources: Iterable[str] = TABLE) -> JudgeResponse:
        tree = project({"m.py": CODE, "test_m.py": tests, "pytest.ini": INI})
        done = SuiteRunner(sandbox).run(run, tree, env)
        (failed,) = done.results
        known = {failed.test: (failed.kind, failed.frames[-1].path, failed.frames[-1].line)}
        changed = [tree.candidate("f", source) for source in sources]
        order = JudgeRequest(
            first=(failed.test,), limit=20.0, prefilter=each, known=known,
            candidates=tuple(tuple(map(encode_edit, c.edits)) for c in changed),
        )  # fmt: skip
        forkserver = ForkServerClient(Workbench(sandbox), tree, env, wall=60.0, left=lambda: 60.0)
        try:
            forkserver.begin([failed.test])
            forkserver.send("tag", order)
            while not forkserver.ended:
                for _, answer in forkserver.pump(0.5):
                    return answer
        finally:
            forkserver.close()
        raise AssertionError(forkserver.ended)

    return ask


@pytest.mark.parametrize("name", [*PLAIN, *DRESSED])
def test_what_still_fails_is_told_and_all_else_is_left_open(
    name: str, prefiltered: Callable[[str], JudgeResponse]
) -> None:
    answer = prefiltered({**PLAIN, **DRESSED}[name])
    assert answer.how == "judged", answer.detail
    assert answer.prefiltered == tuple(TABLE.values())


@pytest.mark.parametrize("name", DRESSED)
def test_fixtures_are_set_up_anew_for_every_candidate(
    name: str, prefiltered: Callable[..., JudgeResponse]
) -> None:
    answer = prefiltered(DRESSED[name], sources=(RIGHT, RIGHT, WRONG, RIGHT, RIGHT))
    assert answer.prefiltered == ("open", "open", "failed", "open", "open")


def test_a_loop_without_end_gets_what_the_call_of_its_test_took_not_what_pytest_may_take(
    prefiltered: Callable[..., JudgeResponse],
) -> None:
    answer = prefiltered(PLAIN["a function"], each=8.0)
    assert answer.prefiltered == tuple(TABLE.values())
    assert answer.seconds < 8


def test_a_test_that_waits_is_waited_for(prefiltered: Callable[..., JudgeResponse]) -> None:
    waits = "import m, time\ndef test_f():\n    n = m.f(1)\n    time.sleep(1)\n    assert n == 2\n"
    assert prefiltered(waits, each=1.0).prefiltered == tuple(TABLE.values())


@pytest.mark.parametrize(
    ("asks", "came"), [("assert m.f(1) == 2", "late"), ("{2: 0}[m.f(1)]", "open")]
)
def test_a_crash_does_not_tell_how_long_a_whole_test_takes(
    asks: str, came: str, prefiltered: Callable[..., JudgeResponse]
) -> None:
    tests = f"import m\ndef test_f(): {asks}\n"
    assert prefiltered(tests, each=8.0, sources=(WRONG, SLOW)).prefiltered == ("failed", came)


@pytest.mark.long
@pytest.mark.parametrize("name", BEYOND)
def test_tests_that_need_more_are_not_believed(
    name: str, prefiltered: Callable[[str], JudgeResponse]
) -> None:
    assert prefiltered(BEYOND[name]).how == "unsound"


@pytest.mark.long
@pytest.mark.parametrize("name", ["a method", "a fixture", *ODD])
def test_a_session_says_the_same_with_and_without_it(
    name: str, runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    tests = {**PLAIN, **DRESSED, **ODD}[name]
    tree = project({"m.py": CODE, "test_m.py": tests, "pytest.ini": INI})
    (failed,) = runner.run(run, tree, env).results
    failing = (failed.as_failure(),)
    sources = [*TABLE, *(f"def f(n):\n    return n - {k}\n" for k in range(2, 20))]
    candidates = [tree.candidate("f", source) for source in sources]
    with runner.warm(run, tree, env, failing, ()) as session:
        many = [found.status for found in session.judge(candidates)]
        alone = [next(session.judge((c,))).status for c in candidates[: len(TABLE)]]
    assert many[: len(TABLE)] == alone
    assert many[len(TABLE) :] == ["unchanged"] * 18


@pytest.mark.long
def test_a_change_that_spoils_what_follows_is_found_out(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    code = CODE + "def g(n):\n    return f(n) + len(SEEN)\n"
    tests = "import m\ndef test_g(): assert m.g(1) == 2\n"
    tree = project({"m.py": code, "test_m.py": tests})
    (failed,) = runner.run(run, tree, env).results
    spoils = tree.candidate(
        "f", "def f(n):\n    SEEN.append(1)\n    SEEN.append(1)\n    return n\n"
    )
    filler = [tree.candidate("f", f"def f(n):\n    return n - {k}\n") for k in range(2, 9)]
    right: Candidate = replace(tree.candidate("f", RIGHT), prior=1.0)
    with runner.warm(run, tree, env, (failed.as_failure(),), ()) as session:
        found = list(session.judge([*filler[:3], spoils, right, *filler[3:], right]))
    statuses = [f.status for f in found]
    assert statuses == [*["unchanged"] * 4, "fixed", *["unchanged"] * 4, "fixed"]


@pytest.mark.long
def test_parameters_that_a_function_changes_are_new_for_every_candidate(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    tests = (
        "import m, pytest\n@pytest.mark.parametrize('rows', [[1, 2]])\n"
        "def test_total(rows): assert m.total(rows) == 3\n"
    )
    tree = project({"m.py": CODE, "test_m.py": tests})
    (failed,) = runner.run(run, tree, env).results
    ends = itertools.cycle(["- 2", "- 3", ""])
    sources = [
        f"def total(rows):\n    rows.append(0)\n    return sum(rows) {end}\n"
        for _, end in zip(range(12), ends, strict=False)
    ]
    with runner.warm(run, tree, env, (failed.as_failure(),), ()) as session:
        found = [f.status for f in session.judge(tree.candidate("total", s) for s in sources)]
    assert found == ["unchanged", "unchanged", "fixed"] * 4
