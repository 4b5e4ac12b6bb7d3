"""What a failed test says of itself, as it is told from inside."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

INSIDE = Path(__file__).parents[2] / "heal_bot" / "testrun" / "agent"


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    monkeypatch.syspath_prepend(INSIDE)
    loader = SourceFileLoader("failure_inside", str(INSIDE / "_heal_failure.py"))
    module = types.ModuleType(loader.name)
    loader.exec_module(module)
    return module


def test_the_notes_of_an_exception_follow_its_message(inside: types.ModuleType) -> None:
    error = AssertionError("assert 2 == 3")
    error.add_note("Falsifying example: test_a(\n    n=0,\n)")
    error.__notes__.append(3)
    said = inside.describe(error, "/repo")["m"]
    assert said == "assert 2 == 3\nFalsifying example: test_a(\n    n=0,\n)"


@pytest.mark.parametrize("broken", ["__str__", "__notes__"])
def test_an_exception_that_cannot_say_itself_is_described(
    inside: types.ModuleType, broken: str
) -> None:
    def fail(self: object) -> str:
        raise ZeroDivisionError

    kind = type("Odd", (Exception,), {broken: property(fail) if broken == "__notes__" else fail})
    assert inside.describe(kind(), "/repo")["m"] == "<str() of it raised ZeroDivisionError>"


def test_a_class_of_the_name_of_pytests_own_is_described(inside: types.ModuleType) -> None:
    kind = type("FixtureLookupError", (Exception,), {"argname": "stock", "msg": ["no text"]})
    assert inside.describe(kind(), "/repo")["m"] == "['no text']"


def find() -> None:
    raise KeyError("a")


def reraise() -> None:
    try:
        find()
    except KeyError:
        raise ValueError("no a")  # noqa: B904


def check() -> None:
    try:
        find()
    except KeyError as error:
        assert error.args == ("b",)  # noqa: PT017


def stumble() -> None:
    try:
        find()
    except KeyError:
        1 / 0  # noqa: B018


def leave() -> None:
    try:
        find()
    except KeyError:
        sys.exit(1)


@pytest.mark.parametrize(
    ("function", "innermost"),
    [(reraise, "find"), (check, "find"), (leave, "find"), (stumble, "stumble")],
)
def test_what_fails_while_it_handles_an_exception_is_the_innermost_frame(
    inside: types.ModuleType, function: Callable[[], None], innermost: str
) -> None:
    with pytest.raises((Exception, SystemExit)) as caught:
        function()
    assert inside.describe(caught.value, str(Path(__file__).parent))["f"][-1][2] == innermost


def test_a_traceback_that_ends_in_no_code_is_followed(inside: types.ModuleType) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        stumble()
    trace = caught.value.__traceback__
    assert trace is not None
    broken = types.TracebackType(None, trace.tb_frame, 5000, 1)
    error = caught.value.with_traceback(broken)
    assert inside.describe(error, str(Path(__file__).parent))["f"][-1][2] == "find"
