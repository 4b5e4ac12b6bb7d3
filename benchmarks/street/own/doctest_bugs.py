"""Doctests that are right where the code is wrong."""

from __future__ import annotations

from benchmarks.street.own._files import changed, ci, project
from benchmarks.street.situation import Commit, Situation

_MODULES = ("--doctest-modules",)
_ROMAN = '''\
"""Roman numerals."""

_SIGNS = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def roman(number):
    """A number below forty as the Romans wrote it.

    >>> roman(4)
    'IV'
    >>> roman(29)
    'XXIX'
    """
    found = ""
    for value, sign in _SIGNS:
        while number >= value:
            found += sign
            number -= value
    return found


def arabic(text):
    """The number that a numeral stands for.

    >>> arabic("XIV")
    14
    """
    total = 0
    for value, sign in _SIGNS:
        while text.startswith(sign):
            total += value
            text = text[len(sign):]
    return total
'''
_SPANS = '''\
"""Spans of days."""

from datetime import date, timedelta


def days(first, last):
    """Every day of a span, both ends in it.

    >>> len(days(date(2024, 2, 28), date(2024, 3, 1)))
    3
    >>> days(date(2024, 5, 1), date(2024, 5, 1))
    [datetime.date(2024, 5, 1)]
    """
    count = (last - first).days + 1
    return [first + timedelta(days=n) for n in range(count)]


def weekdays(first, last):
    """How many days of a span are not of a weekend.

    >>> weekdays(date(2024, 5, 3), date(2024, 5, 6))
    2
    """
    return sum(day.weekday() < 5 for day in days(first, last))
'''

SITUATIONS = (
    Situation(
        name="own/roman-doctest-is-right",
        kind="doctest",
        action="repair",
        arguments=_MODULES,
        commits=(
            Commit(
                "Write Roman numerals",
                {
                    **project("numerals", workflow=ci(arguments="--doctest-modules"), flat=True),
                    "numerals/roman.py": _ROMAN,
                    "tests/test_roman.py": """\
import pytest

from numerals.roman import arabic, roman


@pytest.mark.parametrize(("number", "wanted"), [(1, "I"), (3, "III"), (10, "X"), (12, "XII")])
def test_roman(number, wanted):
    assert roman(number) == wanted


@pytest.mark.parametrize("number", [1, 5, 11])
def test_both_ways(number):
    assert arabic(roman(number)) == number
""",
                },
            ),
            Commit(
                "Order the signs by their letters",
                {
                    "numerals/roman.py": changed(
                        _ROMAN, ('(5, "V"), (4, "IV"), (1, "I")', '(5, "V"), (1, "I"), (4, "IV")')
                    )
                },
            ),
        ),
        right={"numerals/roman.py": _ROMAN},
        hidden={
            "tests/test_hidden_roman.py": """\
import pytest

from numerals.roman import arabic, roman


@pytest.mark.parametrize("number", range(1, 40))
def test_all(number):
    assert "IIII" not in roman(number)
    assert arabic(roman(number)) == number
"""
        },
    ),
    Situation(
        name="own/spans-doctest-counts-both-ends",
        kind="doctest",
        action="repair",
        arguments=_MODULES,
        commits=(
            Commit(
                "List the days of a span",
                {
                    **project("spans", workflow=ci(arguments="--doctest-modules")),
                    "src/spans/days.py": _SPANS,
                    "tests/test_days.py": """\
from datetime import date

import pytest

from spans.days import days, weekdays

MAY = [date(2024, 5, n) for n in range(1, 32)]


@pytest.mark.parametrize("last", MAY[:4])
def test_first_day(last):
    assert days(MAY[0], last)[:1] in ([MAY[0]], [])


def test_weekend():
    assert weekdays(MAY[3], MAY[4]) == 0
""",
                },
            ),
            Commit("Say what a span is", {"README.md": "# spans\n\nBoth ends are in a span.\n"}),
            Commit(
                "Write days with fewer names",
                {
                    "src/spans/days.py": changed(
                        _SPANS,
                        (
                            "    count = (last - first).days + 1\n    return [first + timedelta"
                            "(days=n) for n in range(count)]",
                            "    return [first + timedelta(n) for n in range((last - first).days)]",
                        ),
                    )
                },
            ),
        ),
        right={"src/spans/days.py": _SPANS},
        hidden={
            "tests/test_hidden_days.py": """\
from datetime import date

import pytest

from spans.days import days, weekdays


@pytest.mark.parametrize("last", range(1, 32))
def test_length(last):
    assert len(days(date(2024, 5, 1), date(2024, 5, last))) == last


def test_week():
    assert weekdays(date(2024, 5, 6), date(2024, 5, 10)) == 5
"""
        },
    ),
)  # fmt: skip
