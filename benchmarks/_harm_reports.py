"""Reports that are cut, old, empty or odd, and suites that take longer than there is time."""

from __future__ import annotations

from benchmarks._harm import Case
from benchmarks._harm_shipped import FILES, HIDDEN
from heal_bot.core.outcome import OutcomeRecord

RED = ("test_clamp[0-0]", "test_clamp[3-3]", "test_clamp[7-7]", "test_clamp[12-10]",
       "test_clamp[40-10]", "test_clamp_elsewhere")  # fmt: skip
FAILURE = '<failure message="assert 10 == 3">test_bands.py:9: AssertionError</failure>'
# Each of these waits: together they take longer than any budget here.
SLOW = """import time

import pytest


@pytest.mark.parametrize("number", range({count}))
def test_slow(number):
    time.sleep(1)
"""
UNITTEST = """import unittest

from bands import clamp


class TestShared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.value = clamp(5, 2, 8)
        if cls.value != 5:
            raise RuntimeError(f"clamped to {cls.value}")

    def test_value(self):
        self.assertEqual(self.value, 5)


class TestClamp(unittest.TestCase):
    def test_inside(self):
        for value in range(1, 5):
            with self.subTest("inside", value=value):
                self.assertEqual(clamp(value, 0, 10), value)

    def test_above(self):
        self.assertEqual(clamp(40, 0, 10), 10)

    def test_below(self):
        self.assertEqual(clamp(-1, 0, 10), 0)
"""
LOADED = """import doctest

import calc


def load_tests(loader, tests, ignore):
    tests.addTests(doctest.DocTestSuite(calc))
    return tests
"""
CALC = '''"""Sums."""


def add(a, b):
    """The sum.

    >>> add(1, 2)
    3
    """
    return a - b
'''
SHARED = """<testsuite name="unittest.suite._ErrorHolder-1" tests="1" failures="0" errors="1"
 timestamp="0001-01-01T00:00:00" time="0.000"><testcase classname=""
 name="setUpClass (test_bands_unit.TestShared)" timestamp="0001-01-01T00:00:00"><error
 type="RuntimeError" message="clamped to 8">Traceback (most recent call last):
  File "/w/test_bands_unit.py", line 11, in setUpClass
    raise RuntimeError(f"clamped to {cls.value}")
RuntimeError: clamped to 8
</error></testcase></testsuite>"""
UNIT = {"bands.py": FILES["bands.py"], "test_bands_unit.py": UNITTEST}


def _case(name: str, inside: str = "", module: str = "test_bands") -> str:
    return f'<testcase classname="{module}" name="{name}" time="0.1">{inside}</testcase>'


def _suite(cases: str, told: str = "", end: str = "</testsuite>") -> str:
    return f'<testsuite name="pytest" {told}>{cases}{end}'


def _subtests() -> str:
    """Two suites of unittest-xml-reporting: one of subtests, one that could not begin."""
    where = "test_bands_unit.TestClamp"
    wrong = '<failure type="AssertionError" message="10 != {}">10 != {}</failure>'
    cases = [
        _case(f"test_inside [inside] (value={n})", wrong.format(n, n), where) for n in range(1, 5)
    ]
    cases.append(_case("test_above", wrong.format(40, 40), where))
    clamp = _suite("".join([*cases, _case("test_below", module=where)]), 'failures="5" errors="0"')
    return f"<testsuites>{clamp}{SHARED}</testsuites>"


def _doctest() -> str:
    said = (
        'Failed doctest test for calc.add\n  File "/w/calc.py", line 4, in add\n\n'
        "Failed example:\n    add(1, 2)\nExpected:\n    3\nGot:\n    -1\n"
    )
    inside = f'<failure type="AssertionError" message="{said.replace(chr(34), "&quot;")}"/>'
    return _suite(_case("add", inside, "calc"), 'failures="1"')


def _shared(outcome: OutcomeRecord) -> str:
    named = {failure.test: failure.status for failure in outcome.failures}
    shared = named.get("test_bands_unit.py::TestShared::test_value")
    return "" if shared == "fixed" else f"the test of the class that cannot start: {shared}"


SLOWLY = {"test_a_slow.py": SLOW.format(count=300)}
CASES = (
    Case(
        "reports: cut, of a suite longer than the budget",
        {**FILES, **SLOWLY},
        "budget_exhausted",
        says=("tests ran", "the report is partial"),
        never=("every test passes", "collects no test"),
        inputs={"max-minutes": "0.4"},
        report=_suite(_case("test_clamp[-1-0]"), 'time="300"', "<testcase classname="),
    ),
    Case(
        "reports: cut, and the tests it names come first",
        {**FILES, **SLOWLY},
        "healed",
        never=("every test passes",),
        inputs={"max-minutes": "1.2"},
        report=_suite("".join(_case(name, FAILURE) for name in RED), 'time="300"', "<testcase "),
        hidden=HIDDEN,
    ),
    Case(
        "reports: of an older commit",
        FILES,
        "healed",
        says=("was written before the commit", "the report is stale"),
        report=_suite(_case("test_gone", FAILURE), 'timestamp="2020-01-01T00:00:00"'),
        hidden=HIDDEN,
    ),
    Case(
        "reports: unittest's subtests, and a class that cannot start in the year 1",
        UNIT,
        "healed",
        never=("was written before", "the checkout has no such test"),
        report=_subtests(),
        fault=_shared,
        hidden=HIDDEN,
    ),
    Case(
        "reports: a suite that failed as a whole",
        FILES,
        "healed",
        says=("holds a suite that failed as a whole: worker crashed",),
        report=_suite(f'{_case("test_clamp[-1-0]")}<error message="worker crashed"/>'),
        hidden=HIDDEN,
    ),
    Case(
        "reports: failures that no case shows",
        FILES,
        "healed",
        says=("tells of 80 failures and shows 0 of them",),
        report=_suite(_case("test_clamp[-1-0]"), 'tests="81" failures="80"'),
        hidden=HIDDEN,
    ),
    Case(
        "reports: doctests that unittest loads",
        {"calc.py": CALC, "test_docs.py": LOADED, "test_other.py": "def test_it():\n    pass\n"},
        "nothing_to_do",
        says=("unittest's load_tests", "test-command"),
        never=("calc.py::add", "not_reproduced"),
        report=_doctest(),
    ),
    Case(
        "reports: a collection that outlasts the budget",
        {**FILES, "conftest.py": "import time\n\ntime.sleep(100)\n"},
        "budget_exhausted",
        says=("raise --max-minutes",),
        never=("heal-bot doctor",),
        inputs={"max-minutes": "0.4"},
        report=_suite("".join(_case(name, FAILURE) for name in RED), 'failures="6"'),
    ),
)
