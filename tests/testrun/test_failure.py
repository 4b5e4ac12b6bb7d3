"""What a failed test says of itself, as it is told from inside."""

from __future__ import annotations

import types
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
