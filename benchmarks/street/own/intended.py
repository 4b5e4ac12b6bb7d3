"""Tests that are not yet adapted to a change that its commit says was meant."""

from __future__ import annotations

from benchmarks.street.own._files import changed, legacy, project
from benchmarks.street.situation import Commit, Situation

_NAMES = """\
def shown(first, last):
    return f"{first} {last}"


def initials(first, last):
    return f"{first[:1]}{last[:1]}".upper()
"""
_SEARCH = """\
def find(items, word):
    word = word.lower()
    for item in items:
        if word in item.lower():
            return item
    return None


def count(items, word):
    return sum(word.lower() in item.lower() for item in items)
"""
_LIMITS = """\
MOST = 10


def page(items, number=1, size=MOST):
    first = (number - 1) * size
    return items[first:first + size]


def pages(items, size=MOST):
    return -(-len(items) // size)
"""
_PARSE = """\
def parse(text):
    if not text.strip():
        return 0
    return int(text.replace("_", "").strip())


def total(texts):
    return sum(parse(text) for text in texts)
"""
_TEMPER = """\
def celsius(fahrenheit):
    return round((fahrenheit - 32) * 5 / 9, 1)


def fahrenheit(celsius):
    return round(celsius * 9 / 5 + 32, 1)
"""

SITUATIONS = (
    Situation(
        name="own/names-family-name-first",
        kind="intended",
        action="explain",
        says=("family name", "intended", "expect", "outdated", "test_shown"),
        commits=(
            Commit(
                "Show names",
                {
                    **project("names", about="names of people"),
                    "src/names/show.py": _NAMES,
                    "tests/test_show.py": """\
import pytest

from names.show import initials, shown


@pytest.mark.parametrize(
    ("first", "last", "wanted"), [("Ada", "Byron", "Ada Byron"), ("Bo", "Li", "Bo Li")]
)
def test_shown(first, last, wanted):
    assert shown(first, last) == wanted


@pytest.mark.parametrize(
    ("first", "last", "wanted"), [("ada", "byron", "AB"), ("", "x", "X"), ("", "", "")]
)
def test_initials(first, last, wanted):
    assert initials(first, last) == wanted
""",
                },
            ),
            Commit(
                "Show the family name first, with a comma (#41)\n\nThe register sorts by what is"
                " shown, so names now read 'Byron, Ada' everywhere.",
                {
                    "src/names/show.py": changed(_NAMES, ('"{first} {last}"', '"{last}, {first}"')),
                    "README.md": "# names\n\nNames read 'Byron, Ada'.\n",
                },
            ),
        ),
    ),
    Situation(
        name="own/search-raises-when-nothing-fits",
        kind="intended",
        action="explain",
        says=("lookuperror", "intended", "expect", "outdated", "raise"),
        commits=(
            Commit(
                "Find items by a word",
                {
                    **legacy("search"),
                    "search/find.py": _SEARCH,
                    "tests/test_find.py": """\
import unittest

from search.find import count, find

ITEMS = ["Green tea", "Black tea", "Coffee"]


class FindTest(unittest.TestCase):
    def test_first(self):
        self.assertEqual(find(ITEMS, "TEA"), "Green tea")

    def test_nothing(self):
        self.assertIsNone(find(ITEMS, "milk"))

    def test_no_items(self):
        self.assertIsNone(find([], "tea"))

    def test_count(self):
        self.assertEqual(count(ITEMS, "tea"), 2)

    def test_count_nothing(self):
        self.assertEqual(count(ITEMS, "milk"), 0)
""",
                },
            ),
            Commit(
                "Raise LookupError from find where nothing fits\n\nNone went unnoticed by callers."
                " This is a breaking change for 2.0; the tests follow.",
                {
                    "search/find.py": changed(
                        _SEARCH, ("    return None\n", '    raise LookupError(f"nothing has {word!r} in it")\n')
                    ),
                    "CHANGES.rst": "2.0\n---\n\n- ``find`` raises LookupError where nothing fits.\n",
                },
            ),
        ),
    ),
    Situation(
        name="own/pages-are-longer-by-default",
        kind="intended",
        action="explain",
        says=("default", "25", "intended", "expect", "outdated"),
        commits=(
            Commit(
                "Cut lists into pages",
                {
                    **project("paging", flat=True, about="pages of lists"),
                    "paging/cut.py": _LIMITS,
                    "tests/test_cut.py": """\
import pytest

from paging.cut import page, pages

ITEMS = list(range(30))


def test_first_page():
    assert page(ITEMS) == list(range(10))


def test_last_page():
    assert page(ITEMS, 3) == list(range(20, 30))


def test_pages():
    assert pages(ITEMS) == 3


@pytest.mark.parametrize(("size", "wanted"), [(5, 6), (7, 5), (30, 1)])
def test_pages_of_a_size(size, wanted):
    assert pages(ITEMS, size) == wanted
""",
                },
            ),
            Commit("Say how to page", {"README.md": "# paging\n\n`page(items, 2)` is the second.\n"}),
            Commit(
                "Put 25 items on a page by default\n\nAsked for by the people who scroll.",
                {"paging/cut.py": changed(_LIMITS, ("MOST = 10", "MOST = 25"))},
            ),
        ),
    ),
    Situation(
        name="own/numbers-refuse-empty-texts",
        kind="intended",
        action="explain",
        says=("empty", "valueerror", "intended", "expect", "outdated"),
        commits=(
            Commit(
                "Read numbers",
                {
                    **project("numerics", about="numbers in texts"),
                    "src/numerics/parse.py": _PARSE,
                    "tests/test_parse.py": """\
import pytest

from numerics.parse import parse, total


@pytest.mark.parametrize(
    ("text", "wanted"), [("1", 1), (" 2 ", 2), ("1_000", 1000), ("", 0), ("  ", 0)]
)
def test_parse(text, wanted):
    assert parse(text) == wanted


def test_total():
    assert total(["1", "2"]) == 3
""",
                },
            ),
            Commit(
                "Refuse empty texts instead of reading them as 0\n\nAn empty field is a mistake of"
                " the form and must not count as zero any more.",
                {
                    "src/numerics/parse.py": changed(
                        _PARSE, ("        return 0\n", '        raise ValueError("an empty text is no number")\n')
                    )
                },
            ),
        ),
    ),
    Situation(
        name="own/degrees-refactored-wrongly",
        kind="intended",
        action="repair",
        commits=(
            Commit(
                "Turn degrees into degrees",
                {
                    **project("degrees", flat=True, about="degrees of both kinds"),
                    "degrees/turn.py": _TEMPER,
                    "tests/test_turn.py": """\
import pytest

from degrees.turn import celsius, fahrenheit


@pytest.mark.parametrize(("given", "wanted"), [(32, 0.0), (212, 100.0), (-40, -40.0), (50, 10.0)])
def test_celsius(given, wanted):
    assert celsius(given) == wanted


@pytest.mark.parametrize(("given", "wanted"), [(0, 32.0), (100, 212.0), (-40, -40.0)])
def test_fahrenheit(given, wanted):
    assert fahrenheit(given) == wanted
""",
                },
            ),
            Commit(
                "Drop needless brackets\n\nNo change of behaviour is meant.",
                {"degrees/turn.py": changed(_TEMPER, ("(fahrenheit - 32) * 5", "fahrenheit - 32 * 5"))},
            ),
        ),
        right={"degrees/turn.py": _TEMPER},
        hidden={
            "tests/test_hidden_turn.py": """\
import pytest

from degrees.turn import celsius, fahrenheit


@pytest.mark.parametrize("given", range(-60, 121, 15))
def test_both_ways(given):
    assert celsius(fahrenheit(given)) == given


def test_body():
    assert celsius(98.6) == 37.0
"""
        },
    ),
)  # fmt: skip
