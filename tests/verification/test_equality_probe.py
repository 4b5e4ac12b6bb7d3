"""What a probed change does with the values that leave it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock, Mock, call

import pytest

from heal_bot.core.model import CaseResult, Edit, Isolation, SuiteRun
from heal_bot.source import functions
from heal_bot.verification.equality_probe import describe_probe, find_fooled, probe_change


class Anything:
    """Equal to whatever it is compared with."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Between:
    """Below and above everything."""

    def __lt__(self, other: object) -> bool:
        return True

    def __gt__(self, other: object) -> bool:
        return True


class Column:
    """Answers a comparison with an object, as arrays and columns do."""

    def __eq__(self, other: object) -> Any:
        return [self, other]

    __hash__ = None  # type: ignore[assignment]


class Strict:
    """Compares with its own kind alone."""

    def __eq__(self, other: object) -> bool:
        raise TypeError("another kind")

    __hash__ = None  # type: ignore[assignment]


def _function(source: str, name: str = "f") -> Callable[..., Any]:
    """The probed function, made."""
    target = functions.find_target(functions.index_targets("m.py", source), name, "function")
    assert target is not None
    (probed,) = probe_change((Edit(target, target.source),))
    names: dict[str, Any] = {"Anything": Anything, "asyncio": asyncio}
    exec(probed.new_source, names)
    made: Callable[..., Any] = names[name]
    return made


def _called(mock: Mock) -> Mock:
    mock()
    return mock


def _suite(*results: CaseResult) -> SuiteRun:
    tests = tuple(result.test for result in results)
    return SuiteRun(results, tests, "finished", 0.1, Isolation("strict", (), ()))


GIVES = "def f(x):\n    return x\n"


@pytest.mark.parametrize(
    ("source", "given"),
    [
        (GIVES, Anything()),
        (GIVES, Between()),
        (GIVES, [1, {"a": Anything()}]),
        (GIVES, (Anything(),)),
        ("def f(x):\n    x.append(Anything())\n", []),
        ("def f(x):\n    x.made = Anything()\n", Column()),
        ("def f(x, *, y=0):\n    yield Anything()\n", 1),
        ("def f(x):\n    try:\n        return x\n    finally:\n        return x\n", Anything()),
        ("def f(x):\n    int = str = type = getattr = lambda *a: 0\n    return x\n", Anything()),
        ("def f(x):\n    _heal_bot_probe = lambda v, k=0: v\n    return x\n", Anything()),
        ("def f(x):\n    global late\n    late = x\n    return late\n", Anything()),
    ],
)
def test_a_value_equal_to_values_that_differ_ends_the_function(source: str, given: Any) -> None:
    with pytest.raises(BaseException, match="equal to values that differ"):
        list(_function(source)(given) or ())


@pytest.mark.parametrize(
    "value",
    [0, True, None, "a", b"a", 1.5, float("nan"), (0,), [1, 2], {"a": 1}, {0}, frozenset("a"),
     Column(), Strict(), object(), int, len, range(3), 2**70, 1j, _called(Mock()),
     [_called(MagicMock())], call()],
)  # fmt: skip
def test_other_values_pass_as_they_are(value: Any) -> None:
    assert _function(GIVES)(value) is value


@pytest.mark.parametrize(
    ("source", "call", "given"),
    [
        ("def f(x):\n    del x\n    return 3\n", lambda f: f(1), 3),
        ("def f(x):\n    def g():\n        return Anything()\n    return g is not None\n",
         lambda f: f(1), True),
        ("def f(x):\n    if x:\n        return\n    return 2\n", lambda f: f(1), None),
        ("def f(*x, y=1, **z):\n    return len(x) + y + len(z)\n", lambda f: f(1, 2, w=1), 4),
        ("def f(x):\n    got = yield x\n    yield got\n", lambda f: list(f(1)), [1, None]),
        ("async def f(x):\n    await asyncio.sleep(0)\n    return x\n",
         lambda f: asyncio.run(f(4)), 4),
        ("def f(x):\n    \"\"\"Said.\"\"\"\n", lambda f: f(1), None),
    ],
)  # fmt: skip
def test_the_function_does_what_it_did(source: str, call: Callable, given: Any) -> None:
    assert call(_function(source)) == given


def test_only_the_tests_that_met_such_a_value_are_fooled() -> None:
    said = "heal-bot: this is equal to values that differ"
    run = _suite(
        CaseResult("t.py::a", "failed", kind="BaseException", message=said),
        CaseResult("t.py::b", "failed", kind="AssertionError", message="assert 1 == 2"),
        CaseResult("t.py::c", "passed"),
    )
    assert find_fooled(run, ("t.py::b", "t.py::a", "t.py::c")) == ("t.py::a",)
    assert find_fooled(run, ("t.py::b", "t.py::c")) == ()


def test_a_run_that_shows_nothing_is_a_doubt() -> None:
    run = _suite(CaseResult("t.py::a", "passed"), CaseResult("t.py::b", "failed"))
    assert describe_probe(run, ("t.py::a",)) == ("no value is equal to values that differ", ())
    for lost in ("t.py::b", "t.py::gone"):
        said, doubts = describe_probe(run, ("t.py::a", lost))
        assert said.startswith(f"not measured: {lost} ")
        assert len(doubts) == 1


def test_a_change_of_constants_alone_is_not_probed() -> None:
    target = functions.find_target(
        functions.index_targets("m.py", "STEP = 1\n"), "STEP", "assignment"
    )
    assert target is not None
    assert probe_change((Edit(target, "STEP = 2\n"),)) == ()
