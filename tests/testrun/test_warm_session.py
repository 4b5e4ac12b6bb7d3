"""Candidates judged warm: each kind of target, each kind of verdict, in the order given."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heal_bot.core.errors import SandboxError
from heal_bot.core.events import Event, Run
from heal_bot.core.model import Candidate, Environment, Failure, Verdict
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.runner import SuiteRunner

ZOO = """\
from __future__ import annotations
import functools

def twice(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)
    return wrapper

def add(a, b):
    return a - b

@twice
def decorated(a, b):
    return a - b

def outer(a):
    def inner(b):
        return a - b
    return inner

INNER = outer(1)

def count(n):
    for i in range(n):
        yield i + 1

async def later(n):
    return n + 1

def default(a, b=1):
    return a + b

def build():
    return {"a": 2}

TABLE = build()
LIMIT = 4

class Base:
    def name(self):
        return "base"

class Box(Base):
    size = 2
    def __init__(self, n):
        self.__n = n
    def get(self):
        return self.__n + 1
    @property
    def half(self):
        return self.__n
    @staticmethod
    def plain(a):
        return a + 1
    @classmethod
    def make(cls):
        return cls(9)
    def name(self):
        return "none"

def guarded(n):
    return n

class Odd(type):
    def __eq__(self, other):
        raise RuntimeError("classes are not compared")

class One(metaclass=Odd):
    pass
ONE = One()
"""
TESTS = """\
import asyncio, pytest, m
@pytest.fixture
def box(): return m.Box(4)
def test_add(): assert m.add(1, 2) == 3
@pytest.mark.parametrize("n", [1, 2])
def test_decorated(n): assert m.decorated(n, n) == 2 * n
def test_inner(): assert m.INNER(2) == 3
def test_count(): assert list(m.count(3)) == [0, 1, 2]
def test_later(): assert asyncio.run(m.later(1)) == 1
def test_default(): assert m.default(1) == 3
def test_table(): assert m.TABLE["a"] == 1
def test_limit(): assert m.LIMIT == 5
class TestBox:
    def test_get(self, box): assert box.get() == 4
    def test_half(self, box): assert box.half == 2
    def test_plain(self): assert m.Box.plain(1) == 1
    def test_make(self): assert m.Box.make().get() == 9
    def test_name(self, box): assert box.name() == "base"
    def test_size(self, box): assert box.size == 3
def test_guard(): assert m.guarded(1) == 1
@pytest.mark.xfail
def test_expected(): assert m.guarded(1) == 2
"""
FILES = {"m.py": ZOO, "test_m.py": TESTS}

Table = dict[str, tuple[str, str, tuple[str, ...], str, tuple[str, ...]]]
# name: (target, new source, imports, status, fixed)
FIXES: Table = {
    "a function": ("add", "def add(a, b):\n    return a + b\n", (), "improved", ("test_add",)),
    "a decorated one": (
        "decorated", "@twice\ndef decorated(a, b):\n    return a + b\n", (), "improved",
        ("test_decorated[1]", "test_decorated[2]"),
    ),
    "a decorator's wrapper": (
        "twice",
        "def twice(f):\n    @functools.wraps(f)\n    def wrapper(*args):\n"
        "        return abs(f(*args) or 2 * args[0])\n    return wrapper\n",
        (), "improved", ("test_decorated[1]", "test_decorated[2]"),
    ),
    "a decorator that goes": (
        "decorated", "def decorated(a, b):\n    return a + b\n", (), "improved",
        ("test_decorated[1]", "test_decorated[2]"),
    ),
    "a live closure": (
        "outer", "def outer(a):\n    def inner(b):\n        return a + b\n    return inner\n", (),
        "improved", ("test_inner",),
    ),
    "a nested target": (
        "outer.<locals>.inner", "    def inner(b):\n        return a + b\n", (), "improved",
        ("test_inner",),
    ),
    "a closure that changes": (
        "outer",
        "def outer(a):\n    c = a\n    def inner(b):\n        return c + b\n    return inner\n",
        (), "improved", ("test_inner",),
    ),
    "a generator": (
        "count", "def count(n):\n    for i in range(n):\n        yield i\n", (), "improved",
        ("test_count",),
    ),
    "a coroutine": (
        "later", "async def later(n):\n    return n\n", (), "improved", ("test_later",),
    ),
    "a default": (
        "default", "def default(a, b=2):\n    return a + b\n", (), "improved", ("test_default",),
    ),
    "what ran at import": (
        "build", 'def build():\n    return {"a": 1}\n', (), "improved", ("test_table",),
    ),
    "a constant": ("LIMIT", "LIMIT = 5\n", (), "improved", ("test_limit",)),
    "a class attribute": ("Box.size", "    size = 3\n", (), "improved", ("TestBox::test_size",)),
    "a method with a private name": (
        "Box.get", "    def get(self):\n        return self.__n\n", (), "improved",
        ("TestBox::test_get", "TestBox::test_make"),
    ),
    "a property": (
        "Box.half", "    @property\n    def half(self):\n        return self.__n // 2\n", (),
        "improved", ("TestBox::test_half",),
    ),
    "a static method": (
        "Box.plain", "    @staticmethod\n    def plain(a):\n        return a\n", (), "improved",
        ("TestBox::test_plain",),
    ),
    "a method that calls super": (
        "Box.name", "    def name(self):\n        return super().name()\n", (), "improved",
        ("TestBox::test_name",),
    ),
    "an import": (
        "add", "def add(a, b):\n    return operator.add(a, b)\n", ("import operator",), "improved",
        ("test_add",),
    ),
}  # fmt: skip
OTHERS: Table = {
    "no effect": ("add", "def add(a, b):\n    return a * b\n", (), "unchanged", ()),
    "broken syntax": ("add", "def add(a, b):\n    return a +\n", (), "rejected", ()),
    "an endless loop": ("add", "def add(a, b):\n    while 1:\n        pass\n", (), "timeout", ()),
    "a loop in C": ("add", "def add(a, b):\n    return sum(iter(int, 1))\n", (), "timeout", ()),
    "the end of the process": (
        "add", "def add(a, b):\n    import os\n    os._exit(0)\n", (), "error", (),
    ),
    "the end of the fork server": (
        "add", "def add(a, b):\n    import os\n    os.kill(os.getppid(), 9)\n", (), "error", (),
    ),
    "too much memory": (
        "add", "def add(a, b):\n    return len(bytes(3 << 30))\n", (), "unchanged", (),
    ),
    "a name that is not there": ("add", "def add(a, b):\n    return c\n", (), "unchanged", ()),
    "an import that fails": (
        "add", "def add(a, b):\n    return gone\n", ("import gone",), "regression", (),
    ),
}  # fmt: skip
BREAKS: Table = {
    "a fix that breaks": (
        "Box.size", "    size = 3; guarded = 1\n", (), "improved", ("TestBox::test_size",),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def judged(
    sandbox: Sandbox, env: Environment, tmp_path_factory: pytest.TempPathFactory, folder: Callable
) -> dict[str, Verdict]:
    """The verdict on every candidate of the tables, from one session."""
    tree = folder(tmp_path_factory.mktemp("zoo") / "tree", FILES)
    run = Run(sink=lambda event: None)
    runner = SuiteRunner(sandbox)
    done = runner.run(run, tree, env)
    assert done.ended == "finished", done
    failing = [result.as_failure() for result in done.results if result.outcome == "failed"]
    guards = [r.test for r in done.results if r.outcome in {"passed", "xfailed"}]
    assert (len(failing), len(guards)) == (15, 2)
    table = {**FIXES, **OTHERS, **BREAKS}
    candidates = [tree.candidate(name, text, *more) for name, text, more, _, _ in table.values()]
    with runner.warm(run, tree, env, failing, guards) as session:
        return dict(zip(table, session.judge(iter(candidates)), strict=True))


@pytest.mark.long
@pytest.mark.parametrize("name", [*FIXES, *OTHERS, *BREAKS])
def test_a_candidate_gets_the_verdict_of_a_cold_run(name: str, judged: dict[str, Verdict]) -> None:
    _, _, _, status, fixed = {**FIXES, **OTHERS, **BREAKS}[name]
    found = judged[name]
    assert (found.status, found.fixed) == (status, tuple(f"test_m.py::{t}" for t in fixed)), found


@pytest.mark.long
def test_what_still_fails_says_its_new_message(judged: dict[str, Verdict]) -> None:
    first = judged["no effect"].still_failing[0]
    assert (first.test, first.message.partition("\n")[0]) == (
        "test_m.py::test_add",
        "assert 2 == 3",
    )
    named = judged["a name that is not there"].still_failing[0]
    assert (named.kind, named.message) == ("NameError", "name 'c' is not defined")
    assert (named.frames[-1].path, named.frames[-1].line) == ("m.py", 11)
    assert judged["too much memory"].still_failing[0].kind == "MemoryError"


@pytest.fixture
def small(project: Callable) -> object:
    code = "def f(n):\n    return n\n\ndef g(n):\n    return f(n)\n"
    tests = (
        "import m\ndef test_f(): assert m.f(1) == 2\ndef test_g(): assert m.g(3) == 3\n"
        "def test_h(): assert m.g(1) == 2\n"
    )
    return project({"m.py": code, "test_m.py": tests})


FAILING = (Failure("test_m.py::test_f", "AssertionError", "old"),)
GUARDS = ("test_m.py::test_g",)


@pytest.mark.long
def test_what_outlives_the_forkserver_it_killed_is_not_heard_on_the_next_candidate(
    sandbox: Sandbox, run: Run, env: Environment, project: Callable
) -> None:
    code = "STEP = 0\n\ndef f(n):\n    return n\n"
    tests = (
        "import m, time\ndef test_f():\n    time.sleep(m.STEP)\n    assert m.f(1) + m.STEP == 2\n"
    )
    tree = project({"m.py": code, "test_m.py": tests})
    lives = "def f(n):\n    import os, time\n    os.kill(os.getppid(), 9)\n    time.sleep(0.5)\n"
    candidates = [tree.candidate("f", lives), tree.candidate("STEP", "STEP = 1\n")]
    with SuiteRunner(sandbox, lanes=1).warm(run, tree, env, FAILING, ()) as session:
        killed, fixed = session.judge(candidates)
    assert (killed.status, fixed.status) == ("error", "fixed"), (killed, fixed)


def _sources() -> list[tuple[str, str]]:
    return [
        ("def f(n):\n    return n + 1\n", "regression"),
        ("def f(n):\n    return 2 if n == 1 else n\n", "fixed"),
        ("def f(n):\n    return n\n", "unchanged"),
    ]


def test_a_change_that_breaks_many_tests_is_a_regression(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    tests = (
        "import m, pytest\n@pytest.fixture(scope='module')\ndef two(): yield 2\n"
        "def test_f(two): assert m.f(1) == two\n"
        "@pytest.mark.parametrize('n', range(5, 12))\ndef test_g(n, two): assert m.f(n) == n\n"
    )
    tree = project({"m.py": "def f(n):\n    return n\n", "test_m.py": tests})
    guards = [f"test_m.py::test_g[{n}]" for n in range(5, 12)]
    change = tree.candidate("f", "def f(n):\n    return n + 1\n")
    with runner.warm(run, tree, env, FAILING, guards) as session:
        (found,) = session.judge((change,))
    assert (found.status, len(found.newly_failing)) == ("regression", 3)


@pytest.mark.long
@pytest.mark.parametrize(
    ("source", "status"),
    [("def f(n):\n    return n + 1\n", "fixed"),
     ("def f(n):\n    SEEN.append(n)\n    return 2\n", "regression")],
    ids=["the repaired test left something behind", "the change breaks it"],
)  # fmt: skip
def test_what_a_repaired_test_leaves_behind_breaks_no_other(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable, source: str, status: str
) -> None:
    tests = (
        "import m\ndef test_empty(): assert m.f(1) and m.SEEN == []\n"
        "def test_f():\n    assert m.f(1) == 2\n    m.SEEN.append(1)\n"
    )
    tree = project({"m.py": "SEEN = []\n\ndef f(n):\n    return n\n", "test_m.py": tests})
    with runner.warm(run, tree, env, FAILING, ["test_m.py::test_empty"]) as session:
        (found,) = session.judge((tree.candidate("f", source),))
    assert found.status == status


@pytest.mark.long
def test_what_nobody_waits_for_any_more_is_judged_no_further(
    runner: SuiteRunner, run: Run, env: Environment, small: object
) -> None:
    (broken, _), (right, _), (same, _) = _sources()
    candidates = [small.candidate("f", f"{right}# {n}\n") for n in range(40)]
    with runner.warm(run, small, env, FAILING, GUARDS) as session:
        stream = session.judge(iter(candidates))
        assert next(stream).status == "fixed"
        stream.close()
        assert (list(session._queue), [lane.load for lane in session._lanes]) == ([], [0, 0])
        found = session.judge(iter([small.candidate("f", text) for text in (broken, right, same)]))
        assert [verdict.status for verdict in found] == ["regression", "fixed", "unchanged"]
        calls = session.call([small.candidate("f", right)])
        assert len(calls.rows) == 2


@pytest.mark.long
def test_verdicts_come_in_order_and_candidates_are_pulled_lazily(
    runner: SuiteRunner, run: Run, env: Environment, small: object
) -> None:
    pulled: list[int] = []
    expected = [status for _ in range(60) for _, status in _sources()]

    def candidates() -> Iterator[Candidate]:
        for number, (source, _) in enumerate(_sources() * 60):
            pulled.append(number)
            yield small.candidate("f", source)

    with runner.warm(run, small, env, FAILING, GUARDS) as session:
        statuses = []
        for found in session.judge(candidates()):
            statuses.append(found.status)
            assert len(pulled) - len(statuses) <= 96
            if found.status == "regression":
                (broken,) = found.newly_failing
                assert (broken.test, broken.message.split("\n")[0]) == (GUARDS[0], "assert 4 == 3")
    assert statuses == expected


@pytest.mark.long
def test_a_cold_run_finds_a_slot_while_sessions_hold_all_of_them(
    runner: SuiteRunner, run: Run, env: Environment, small: object
) -> None:
    candidates = [small.candidate("f", source) for source, _ in _sources() * 2]
    with runner.warm(run, small, env, FAILING, GUARDS) as session:
        stream = session.judge(iter(candidates))
        statuses = [next(stream).status]
        assert runner.run(run, small, env).ended == "finished"
        with runner.warm(run, small, env, FAILING, GUARDS) as other:
            assert [v.status for v in other.judge(iter(candidates[:3]))] == [
                s for _, s in _sources()
            ]
        statuses += [found.status for found in stream]
    assert statuses == [status for _, status in _sources() * 2]


@pytest.mark.long
def test_no_verdict_waits_for_a_process_that_still_starts(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    slow = 6.0
    tests = f"import m, time\ntime.sleep({slow})\ndef test_f(): assert m.f(1) == 2\n"
    tree = project({"m.py": "def f(n):\n    return n\n", "test_m.py": tests})
    candidates = [tree.candidate("f", f"def f(n):\n    return n + {k}\n") for k in range(12)]
    with runner.warm(run, tree, env, FAILING, ()) as session:
        stream = session.judge(iter(candidates))
        statuses = [next(stream).status]
        began = time.monotonic()
        statuses += [found.status for found in stream]
        spent = time.monotonic() - began
    assert statuses == ["unchanged", "fixed", *["unchanged"] * 10]
    assert spent < slow, "the second process was waited for"


def test_a_test_that_passes_warm_cannot_be_judged_warm(
    runner: SuiteRunner, run: Run, env: Environment, small: object
) -> None:
    failing = (Failure("test_m.py::test_g", "AssertionError", "once"),)
    with runner.warm(run, small, env, failing, ()) as session:
        stream = session.judge(iter([small.candidate("f", _sources()[0][0])]))
        with pytest.raises(SandboxError, match="pass in a warm process"):
            next(stream)


def test_a_guard_that_fails_warm_is_left_out_and_named(
    runner: SuiteRunner, run: Run, env: Environment, small: object, events: list[Event]
) -> None:
    guards = (*GUARDS, "test_m.py::test_h")
    with runner.warm(run, small, env, FAILING, guards) as session:
        (found,) = session.judge(iter([small.candidate("f", _sources()[1][0])]))
    assert found.status == "fixed"
    assert [event.message.partition(" do not")[0] for event in events] == ["1 passing tests"]


@pytest.mark.long
def test_many_failing_tests_are_sampled_and_all_run_once_one_passes(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    tests = (
        "import pytest, m\n@pytest.mark.parametrize('n', range(50))\n"
        "def test_f(n): assert m.f(n) == n + 1\n"
    )
    tree = project({"m.py": "def f(n):\n    return n\n", "test_m.py": tests})
    failing = [Failure(f"test_m.py::test_f[{n}]", "AssertionError", "") for n in range(50)]
    sources = ["return -1", "return n + 1", "return n + (n < 30)"]
    candidates = [tree.candidate("f", f"def f(n):\n    {source}\n") for source in sources]
    with runner.warm(run, tree, env, failing, ()) as session:
        none, every, some = session.judge(iter(candidates))
    assert (none.status, none.detail) == (
        "unchanged",
        "17 of 50 failing tests were run, none passed",
    )
    assert (every.status, len(every.fixed)) == ("fixed", 50)
    assert (some.status, len(some.fixed), len(some.still_failing)) == ("improved", 30, 20)


@pytest.mark.long
def test_a_module_that_cannot_be_imported_is_judged_from_changed_files(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    files = {"m.py": "def f():\n    return TABLE['b']\n\nTABLE = {'a': 1}\nVALUE = f()\n",
             "test_m.py": "import m\ndef test_f(): assert m.VALUE == 1\n"}  # fmt: skip
    tree = project(files)
    failing = (Failure("test_m.py", "CollectionError", "KeyError: 'b'"),)
    candidates = [tree.candidate("f", f"def f():\n    return TABLE['{key}']\n") for key in "ac"]
    with runner.warm(run, tree, env, failing, ()) as session:
        fixed, same = session.judge(iter(candidates))
    assert (fixed.status, same.status) == ("fixed", "unchanged")
    assert "KeyError: 'c'" in same.still_failing[0].message
    assert Path(tree.root / "m.py").read_text() == files["m.py"]


@pytest.mark.long
def test_from_changed_files_the_other_modules_are_imported_once_a_test_passes(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    files = {"m.py": "LIMIT = 4\nODD = False\n",
             "test_m.py": "import m\ndef test_limit(): assert m.LIMIT in (5, 6)\n",
             "test_n.py": "import m\nassert m.LIMIT < 7\ndef test_n(): assert m.LIMIT != 6\n",
             }  # fmt: skip
    tree = project(files)
    failing = (Failure("test_m.py::test_limit", "AssertionError", ""),)
    candidates = [tree.candidate("LIMIT", f"LIMIT = {value}\n") for value in (8, 6, 5)]
    with runner.warm(run, tree, env, failing, ("test_n.py::test_n",)) as session:
        other, broken, fixed = session.judge(iter(candidates))
    assert (other.status, other.newly_failing) == ("unchanged", ())
    assert [f.test for f in broken.newly_failing] == ["test_n.py::test_n"]
    assert (broken.status, fixed.status) == ("regression", "fixed")


def test_nobody_renders_what_fails_after_a_candidate(
    tmp_path: Path, sandbox: Sandbox, env: Environment, folder: Callable
) -> None:
    conftest = (
        "import pytest\n\n@pytest.fixture\ndef one(): return 1\n\n"
        "def rendered(excinfo, style=None): raise SystemExit('rendered')\n\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items: item.repr_failure = rendered\n"
    )
    code = "def add(a, b):\n    return a - b\n"
    test = "import m\n\ndef test_add(one): assert m.add(one, 2) == 3\n"
    tree = folder(tmp_path / "tree", {"conftest.py": conftest, "m.py": code, "test_m.py": test})
    failing = (Failure("test_m.py::test_add", "AssertionError", ""),)
    wrong = tree.candidate("add", code.replace("a - b", "a * b"))
    with SuiteRunner(sandbox).warm(Run(lambda e: None), tree, env, failing, ()) as session:
        (found,) = session.judge([wrong])
    assert (found.status, found.still_failing[0].kind) == ("unchanged", "AssertionError")
    assert found.still_failing[0].message.startswith("assert 2 == 3")
