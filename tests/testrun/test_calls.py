from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import CallResult, Calls, Environment, Failure
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.source import functions
from heal_bot.testrun.runner import SuiteRunner

pytestmark = pytest.mark.long

CODE = """\
class Cart:
    def __init__(self, prices):
        self.prices = prices

    def total(self, *, rate=1):
        return sum(self.prices[1:]) * rate


def drain(items):
    return sorted(items, reverse=True)


MOST = 3
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
    with SuiteRunner(sandbox, lanes=1).warm(run, tree, env, FAILING, GUARDS) as session:
        assert [v.status for v in session.judge(candidates[:1])] == ["fixed"]
        alone = session.call(candidates)
    with SuiteRunner(sandbox, lanes=2).warm(run, tree, env, FAILING, GUARDS) as session:
        assert [v.status for v in session.judge(candidates[:1])] == ["fixed"]
        found = session.call(candidates)
        assert found == alone
        assert session.call(candidates) == found
        assert session.call(candidates, seed=1).calls != found.calls
        table = [tree.candidate("drain", "def drain(items):\n    return items[::-1]\n")]
        assert session.call(table).calls[0] == "drain([2, 3])"
        value = tree.candidate("MOST", "MOST = 4\n")
        assert session.call([value]) == Calls()
        assert session.call([value, *candidates]).rows == (found.rows[0], (), *found.rows[1:])
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


KINDS = """\
import datetime
import functools


class Span:
    __slots__ = ("low", "high")

    def __init__(self, low, high):
        self.low, self.high = low, high

    def widened(self, by):
        return Span(self.low, self.high + by)


def adder(n):
    def add(m):
        return n - m

    return add


async def later(n):
    return n - 1


async def counted(n):
    for i in range(n - 1):
        yield i


def doubled(items):
    return map(lambda x: x, items)


def closed(day):
    return day.weekday() > 5
"""
KIND_TESTS = """\
import asyncio, datetime
import m

async def listed(source): return [x async for x in source]

def test_span(): assert m.Span(1, 2).widened(2).low == 0
def test_adder(): assert m.adder(2)(0) == 3
def test_later(): assert asyncio.run(m.later(2)) == 3
def test_counted(): assert asyncio.run(listed(m.counted(0))) == [0]
def test_doubled(): assert list(m.doubled([1])) == [2]
def test_closed(): assert m.closed(datetime.date(2026, 11, 21))
"""
# What is wrong, what passes the test, and what does too but behaves in another way.
LUCKY = {
    "Span.widened": ("self.low, self.high + by", "self.low - 1, self.high + by",
                     "self.low - 1, self.high + 2 * by"),
    "adder": ("n - m", "n + m + 1", "n - m + 1"),
    "later": ("n - 1", "n + 1", "3 * n // 2"),
    "counted": ("n - 1", "n + 1", "2 * n + 1"),
    "closed": ("> 5", "> 4", "== 5"),
    "doubled": ("lambda x: x", "lambda x: 2 * x", "lambda x: x + 1"),
}  # fmt: skip


Asked = tuple[list[str], Calls]


@pytest.fixture
def asked(
    tmp_path: Path, sandbox: Sandbox, env: Environment, folder: Callable
) -> Callable[..., Asked]:
    """What comes of a function's text in other ways: how each is judged, and all calls."""

    def ask(code: str, tests: str, test: str, name: str, wrong: str, *ways: str) -> Asked:
        tree = folder(tmp_path / "tree", {"m.py": code, "test_m.py": tests})
        (source,) = (t.source for t in functions.index_targets("m.py", code) if t.qualname == name)
        candidates = [tree.candidate(name, source.replace(wrong, way)) for way in ways]
        failing = (Failure(f"test_m.py::test_{test}", "AssertionError", ""),)
        with SuiteRunner(sandbox).warm(Run(lambda e: None), tree, env, failing, ()) as session:
            statuses = [str(verdict.status) for verdict in session.judge(candidates)]
            return statuses, session.call(candidates)

    return ask


@pytest.mark.parametrize("name", LUCKY)
def test_two_ways_to_pass_are_told_apart(asked: Callable[..., Asked], name: str) -> None:
    wrong, right, lucky = LUCKY[name]
    test = name.rpartition(".")[0].lower() or name
    ways = (right, lucky, f"{right} + 0")
    statuses, calls = asked(KINDS, KIND_TESTS, test, name, wrong, *ways)
    assert statuses[0] == "fixed"
    marks = [tuple(result.mark for result in row) for row in calls.rows]
    assert marks[1] == marks[3]
    assert len({marks[0], marks[1], marks[2]}) == 3


LAZY = """\
import functools


class lazy(property):
    def __get__(self, instance, owner):
        return instance.__dict__.setdefault("third", self.fget(instance))


class Box:
    def __init__(self, size):
        self.size = size

    @functools.cached_property
    def half(self):
        return self.size // 2

    @lazy
    def third(self):
        return self.size // 3

    def holds(self, least):
        return False


class Bin:
    def __init__(self, size):
        self.size = size

    @property
    def size(self):
        return self.__dict__["size"]

    @size.setter
    def size(self, size):
        self.__dict__["size"] = size

    def grow(self):
        return None
"""


def test_what_lazy_properties_keep_of_their_results_is_no_difference(
    asked: Callable[..., Asked],
) -> None:
    ways = (
        "self.half > least or self.third > least", "self.size // 2 > least", "self.half > least",
        "bool(setattr(self, 'last', 1)) or self.half > least",
    )  # fmt: skip
    test = "import m\n\ndef test_holds(): assert m.Box(6).holds(1)\n"
    statuses, calls = asked(LAZY, test, "holds", "Box.holds", "False", *ways)
    assert set(statuses) == {"fixed"}
    first, *others, more = ([result.mark for result in row] for row in calls.rows[1:])
    assert all(other == first for other in others)
    assert more != first


def test_what_a_property_with_a_setter_holds_is_a_difference(asked: Callable[..., Asked]) -> None:
    ways = (f"self.size += {more}\n        return 1" for more in (1, 2))
    test = "import m\n\ndef test_grow(): assert m.Bin(6).grow() == 1\n"
    statuses, calls = asked(LAZY, test, "grow", "Bin.grow", "return None", *ways)
    assert set(statuses) == {"fixed"}
    _, one, other = calls.rows
    assert one[0].mark != other[0].mark


TIED = """\
class Node:
    def __init__(self, size, above=None):
        self.size, self.above = size, above

    def __deepcopy__(self, known):
        return Node(self.size)


def height(node):
    return node.size - node.above.size


def heights(node):
    yield node.size - node.above.size
"""


@pytest.mark.parametrize(("name", "ask"), [("height", "{}"), ("heights", "list({})[0]")])
def test_a_call_that_a_copy_of_its_arguments_does_not_repeat_tells_nothing(
    asked: Callable[..., Asked], name: str, ask: str
) -> None:
    call = ask.format(f"m.{name}(m.Node(1, m.Node(2)))")
    test = f"import m\n\ndef test_red(): assert {call} == 3\n"
    ways = ("node.size + node.above.size", "node.above.size + node.size")
    statuses, calls = asked(TIED, test, "red", name, "node.size - node.above.size", *ways)
    assert set(statuses) == {"fixed"}
    assert calls.recorded == 1
    assert {row[0].how for row in calls.rows} == {"skipped"}


RAISING = """\
def height(size):
    if size:
        raise ValueError(size)


def heights(size):
    yield size - 1
    raise ValueError(size)
"""


@pytest.mark.parametrize(
    ("name", "call"), [("height", "m.height(1)"), ("heights", "[*m.heights(1)]")]
)
def test_a_call_that_raises_in_its_test_is_compared(
    asked: Callable[..., Asked], name: str, call: str
) -> None:
    raises = f"def test_red():\n    with pytest.raises(OverflowError):\n        {call}\n"
    test = f"import pytest, m\n\n{raises}"
    statuses, calls = asked(RAISING, test, "red", name, "ValueError", "OverflowError")
    assert statuses == ["fixed"]
    assert calls.rows[1][0].how == "raised"


EXAMPLES = '''\
def spread(low, high):
    """How far apart.

    >>> spread(1, 4)
    3
    >>> far = spread(0, 40)
    >>> far
    40
    >>> spread(None, 1)
    Traceback (most recent call last):
        ...
    TypeError: whatever
    >>> unheard_of(1)
    1
    """
    return low - high
'''


def test_examples_of_docstrings_hold_or_fail_after_each_change(
    tmp_path: Path, sandbox: Sandbox, env: Environment, folder: Callable
) -> None:
    text = "import m\n\ndef test_spread(): assert m.spread(2, 3) == 1\n"
    tree = folder(tmp_path / "tree", {"m.py": EXAMPLES, "test_m.py": text})
    bodies = ("high - low", "1", "max(low - high, high - low)")
    candidates = [tree.candidate("spread", EXAMPLES.replace("low - high", body)) for body in bodies]
    failing = (Failure("test_m.py::test_spread", "AssertionError", ""),)
    with SuiteRunner(sandbox).warm(Run(lambda e: None), tree, env, failing, ()) as session:
        assert next(session.judge(candidates[:1])).status == "fixed"
        calls = session.call(candidates)
    told = [[result.how for result in row[-calls.examples :]] for row in calls.rows]
    assert calls.calls[-calls.examples :] == (
        "spread(1, 4)", "far", "spread(None, 1)", "unheard_of(1)",
    )  # fmt: skip
    assert told == [
        ["broken", "broken", "held", "broken"],
        ["held", "held", "held", "broken"],
        ["broken", "broken", "broken", "broken"],
        ["held", "held", "held", "broken"],
    ]
    assert calls.rows[3][-4].mark == calls.rows[1][-4].mark


WORLD = """\
RATE = [2]

def scaled(n, rate=None):
    return n * (RATE[0] if rate is None else rate) + 1

def checked(n):
    if n < 0:
        raise ValueError(n)
    return n + 1
"""
WORLD_TESTS = """\
import pytest, m

@pytest.fixture
def triple(monkeypatch): monkeypatch.setattr(m, "RATE", [3])

def test_red(): assert m.scaled(5) == 10
def test_same(): assert m.scaled(0, 7) == 0 or True
def test_bent(triple): assert m.scaled(4) > 0
def test_again(): assert m.scaled(5)
"""


def test_calls_of_passing_tests_are_known_where_they_come_out_alike_by_themselves(
    tmp_path: Path, sandbox: Sandbox, env: Environment, folder: Callable
) -> None:
    tree = folder(tmp_path / "tree", {"m.py": WORLD, "test_m.py": WORLD_TESTS})
    right = "def scaled(n, rate=None):\n    return n * (RATE[0] if rate is None else rate)\n"
    failing = (Failure("test_m.py::test_red", "AssertionError", ""),)
    guards = tuple(f"test_m.py::test_{name}" for name in ("same", "bent", "again"))
    run = Run(lambda event: None)
    with SuiteRunner(sandbox, lanes=1).warm(run, tree, env, failing, guards) as session:
        candidate = tree.candidate("scaled", right)
        next(iter(session.judge((candidate,))))
        calls = session.call((candidate,))
    worked = {calls.calls[at] for at in calls.worked}
    assert worked == {"scaled(5, None)", "scaled(0, 7)"}
    assert calls.calls[: calls.recorded - calls.green] == ("scaled(5, None)",)
    assert calls.green == 2
