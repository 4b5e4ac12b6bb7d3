"""Doctests: outputs that are outdated, or right and the code wrong."""

from __future__ import annotations

from benchmarks.street.own._files import changed, ci, legacy, project
from benchmarks.street.situation import Commit, Situation

_MODULES = ("--doctest-modules",)
_GREET = """\
def greet(name, hour):
    part = "morning" if hour < 12 else "evening"
    return f"Good {part}, {name}!"
"""

SITUATIONS = (
    Situation(
        name="own/stats-doctest-shows-scalars",
        kind="doctest",
        action="explain",
        says=("numpy",),
        arguments=_MODULES,
        commits=(
            Commit(
                "Give mean and spread",
                {
                    **project(
                        "spread", "numpy>=1.20", about="mean and spread", flat=True,
                        workflow=ci(arguments="--doctest-modules"),
                    ),
                    "spread/figures.py": '''\
"""Figures of samples."""

import numpy as np


def mean(values):
    """The mean.

    >>> mean([2, 3])
    2.5
    """
    return np.mean(values)


def spread(values):
    """The distance of the ends.

    >>> spread([2.0, 3.5])
    1.5
    """
    return np.max(values) - np.min(values)
''',
                    "tests/test_figures.py": """\
import pytest

from spread.figures import mean, spread


@pytest.mark.parametrize(("values", "wanted"), [([1], 1), ([1, 2], 1.5), ([-1, 1], 0)])
def test_mean(values, wanted):
    assert mean(values) == wanted


@pytest.mark.parametrize(("values", "wanted"), [([1], 0), ([4, 1], 3)])
def test_spread(values, wanted):
    assert spread(values) == wanted
""",
                },
            ),
            Commit("Explain the spread", {"README.md": "# spread\n\nThe distance of the ends.\n"}),
        ),
    ),
    Situation(
        name="own/greeting-readme-tells-the-old",
        kind="doctest",
        action="explain",
        says=("readme", "doctest", "expected"),
        arguments=("--doctest-glob=README.md",),
        commits=(
            Commit(
                "Greet by the hour",
                {
                    **project("greeting", workflow=ci(arguments="--doctest-glob=README.md")),
                    "src/greeting/words.py": _GREET,
                    "README.md": "# greeting\n\n    >>> from greeting.words import greet\n"
                    "    >>> greet('Ada', 9)\n    'Good morning, Ada!'\n",
                    "tests/test_words.py": """\
import pytest

from greeting.words import greet


@pytest.mark.parametrize(
    ("hour", "part"), [(0, "morning"), (11, "morning"), (12, "evening"), (23, "evening")]
)
def test_part_of_the_day(hour, part):
    assert part in greet("Bo", hour)


def test_name():
    assert "Bo" in greet("Bo", 1)
""",
                },
            ),
            Commit(
                "Greet more quietly: end greetings with a full stop",
                {"src/greeting/words.py": changed(_GREET, ('{name}!"', '{name}."'))},
            ),
        ),
    ),
    Situation(
        name="own/shelf-repr-of-ordered-dict",
        kind="doctest",
        action="explain",
        says=("3.12", "ordereddict", "repr"),
        arguments=_MODULES,
        python="3.12",
        commits=(
            Commit(
                "Group books by shelf",
                {
                    **legacy("shelf", workflow=ci(pythons=("3.9", "3.11"), arguments="--doctest-modules")),
                    "shelf/group.py": '''\
"""Books by shelf."""

from collections import OrderedDict


def by_shelf(books):
    """Titles by shelf, in the order of the first one.

    >>> by_shelf([("b", "Emma"), ("a", "Kim")])
    OrderedDict([('b', ['Emma']), ('a', ['Kim'])])
    """
    found = OrderedDict()
    for shelf, title in books:
        found.setdefault(shelf, []).append(title)
    return found


def widest(books):
    """The shelf with most titles.

    >>> widest([("b", "Emma"), ("a", "Kim"), ("a", "She")])
    'a'
    """
    found = by_shelf(books)
    return max(found, key=lambda shelf: len(found[shelf]))
''',
                    "tests/test_group.py": """\
import unittest

from shelf.group import by_shelf, widest


class GroupTest(unittest.TestCase):
    def test_empty(self):
        self.assertEqual(list(by_shelf([])), [])

    def test_order(self):
        self.assertEqual(list(by_shelf([("z", "1"), ("a", "2")])), ["z", "a"])

    def test_together(self):
        self.assertEqual(by_shelf([("z", "1"), ("z", "2")])["z"], ["1", "2"])

    def test_widest(self):
        self.assertEqual(widest([("q", "1")]), "q")
""",
                },
            ),
            Commit(
                "Test with Python 3.12",
                {".github/workflows/ci.yml": ci(pythons=("3.9", "3.11", "3.12"), arguments="--doctest-modules")},
            ),
        ),
    ),
    Situation(
        name="own/slug-doctest-in-other-quotes",
        kind="doctest",
        action="explain",
        says=("quote", "doctest", "example", "docstring"),
        arguments=_MODULES,
        commits=(
            Commit(
                "Make slugs of titles",
                {
                    **project("titles", workflow=ci(arguments="--doctest-modules"), flat=True),
                    "titles/slug.py": 'import re\n\n\ndef slug(title):\n'
                    '    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")\n',
                    "tests/test_slug.py": """\
import pytest

from titles.slug import slug


@pytest.mark.parametrize(
    ("title", "wanted"),
    [("Tea", "tea"), ("Two Words", "two-words"), ("  x ", "x"), ("A, b!", "a-b"), ("", "")],
)
def test_slug(title, wanted):
    assert slug(title) == wanted
""",
                },
            ),
            Commit(
                "Give an example of a slug",
                {
                    "titles/slug.py": '''\
import re


def slug(title):
    """A title as a part of an address.

    >>> slug("Tea for Two")
    "tea-for-two"
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
'''
                },
            ),
        ),
    ),
)  # fmt: skip
