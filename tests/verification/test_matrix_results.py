"""What the legs of a matrix say of a failure that is not seen here."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Environment, Failure, Leg, Reproduced
from heal_bot.verification.matrix_results import mark_legs

ENV = Environment("python", "3.11.2", "/usr", "/usr", ())


@pytest.mark.parametrize(
    ("pythons", "told"),
    [
        (
            ("3.13",),
            "; it was reported on Python 3.13, here is 3.11.2: python-version, where it is there",
        ),
        (
            ("3.13", "3.12"),
            "; it was reported on Python 3.12 and 3.13, here is 3.11.2:"
            " python-version, where it is there",
        ),
        (("3.11",), ""),
        (("",), ""),
        (("3.13", ""), ""),
    ],
)
def test_another_python_is_named_where_all_legs_had_another(
    pythons: tuple[str, ...], told: str
) -> None:
    legs = tuple(Leg(f"leg {n}", python, "linux") for n, python in enumerate(pythons))
    failure = Failure("t.py::t", "", "", reason="it is passed here", legs=legs)
    seen = mark_legs(failure, Reproduced(failure, "not_reproduced"), ENV)
    assert seen.failure.reason == f"it is passed here{told}"
    assert seen.status == ("explained" if told else "not_reproduced")
    places = tuple(f"Python {python}" for python in sorted(pythons)) if told else ()
    assert seen.failure.failed_on == places


@pytest.mark.parametrize(
    ("status", "places"), [("not_reproduced", ("Windows", "macOS")), ("confirmed", ())]
)
def test_the_systems_of_ci_are_named_where_it_passes_here(
    status: str, places: tuple[str, ...]
) -> None:
    legs = (Leg("a", system="macos"), Leg("b", system="windows"), Leg("c", system="windows"))
    failure = Failure("t.py::t", "", "", legs=legs)
    seen = mark_legs(failure, Reproduced(failure, status), ENV)
    assert seen.failure.failed_on == places
