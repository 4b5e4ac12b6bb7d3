"""Snapshots and golden files: outdated by a change that was meant, or right and the code wrong."""

from __future__ import annotations

from benchmarks.street.own._files import changed, legacy, project
from benchmarks.street.situation import Commit, Situation

_MENU = """\
def render(dishes):
    rows = []
    for course in ("starter", "main", "dessert"):
        rows.append(f"== {course}s ==")
        rows += [f"{d['name']} ({d['price']})" for d in dishes if d["course"] == course]
    return "\\n".join(rows) + "\\n"
"""
_BADGE = """\
def badge(label, value, colour="green"):
    return f'<b class="{colour}">{label}: {value}</b>'


def share(done, total):
    return badge("done", f"{100 * done // total} %", "green" if done == total else "amber")
"""

SITUATIONS = (
    Situation(
        name="own/menu-golden-with-old-heads",
        kind="golden",
        action="explain",
        says=("golden", "menu.txt", "expected"),
        commits=(
            Commit(
                "Print the menu",
                {
                    **project("bistro", about="the menu of a bistro"),
                    "src/bistro/menu.py": _MENU,
                    "tests/data/menu.txt": "== starters ==\nSoup (4)\n== mains ==\nPie (9)\n"
                    "== desserts ==\nCake (5)\n",
                    "tests/test_menu.py": """\
from pathlib import Path

import pytest

from bistro.menu import render

DISHES = [
    {"name": "Pie", "course": "main", "price": 9},
    {"name": "Soup", "course": "starter", "price": 4},
    {"name": "Cake", "course": "dessert", "price": 5},
]


def test_menu_is_as_printed():
    assert render(DISHES) == Path(__file__).with_name("data").joinpath("menu.txt").read_text()


@pytest.mark.parametrize("name", ["Pie", "Soup", "Cake"])
def test_each_dish_is_there(name):
    assert name in render(DISHES)


def test_ends_with_a_newline():
    assert render([]).endswith("\\n")
""",
                },
            ),
            Commit("Ignore the prints", {".gitignore": "*.pdf\n*.egg-info/\n__pycache__/\n"}),
            Commit(
                "Set the heads of the menu in capitals\n\nThe printer asked for it: no more signs"
                " beside them.",
                {
                    "src/bistro/menu.py": changed(
                        _MENU, ('f"== {course}s =="', 'f"{course.upper()}S"')
                    )
                },
            ),
        ),
    ),
    Situation(
        name="own/badge-snapshot-of-syrupy",
        kind="golden",
        action="explain",
        says=("snapshot", "syrupy"),
        commits=(
            Commit(
                "Show the share of a task",
                {
                    **project("progress", tests=("syrupy",), about="badges", python=">=3.9"),
                    "src/progress/badge.py": _BADGE,
                    "tests/test_badge.py": """\
import pytest

from progress.badge import badge, share


def test_badge(snapshot):
    assert badge("state", "open") == snapshot


def test_share(snapshot):
    assert share(1, 4) == snapshot


@pytest.mark.parametrize(("done", "colour"), [(4, "green"), (1, "amber"), (0, "amber")])
def test_colour(done, colour):
    assert colour in share(done, 4)
""",
                    "tests/__snapshots__/test_badge.ambr": """\
# serializer version: 1
# name: test_badge
  '<b class="green">state: open</b>'
# ---
# name: test_share
  '<b class="amber">done: 25 %</b>'
# ---
""",
                },
            ),
            Commit(
                "Use span for badges so that screen readers do not stress them",
                {"src/progress/badge.py": changed(_BADGE, ("<b class", "<span class"), ("</b>", "</span>"))},
            ),
        ),
    ),
    Situation(
        name="own/atlas-golden-json-gets-a-field",
        kind="golden",
        action="explain",
        says=("golden", "expected", "schema"),
        commits=(
            Commit(
                "Export places as JSON",
                {
                    **legacy("atlas"),
                    "atlas/export.py": """\
import json


def as_json(places):
    rows = [{"name": name, "lat": lat, "lon": lon} for name, (lat, lon) in sorted(places.items())]
    return json.dumps({"places": rows}, indent=2)
""",
                    "tests/golden/places.json": """\
{
  "places": [
    {
      "name": "Bergen",
      "lat": 60.4,
      "lon": 5.3
    }
  ]
}
""",
                    "tests/test_export.py": """\
import json
import os
import unittest

from atlas.export import as_json

GOLDEN = os.path.join(os.path.dirname(__file__), "golden", "places.json")


class ExportTest(unittest.TestCase):
    def test_golden(self):
        with open(GOLDEN) as file:
            self.assertEqual(as_json({"Bergen": (60.4, 5.3)}), file.read().strip())

    def test_sorted(self):
        found = json.loads(as_json({"B": (1, 2), "A": (3, 4)}))["places"]
        self.assertEqual([place["name"] for place in found], ["A", "B"])

    def test_empty(self):
        self.assertEqual(json.loads(as_json({}))["places"], [])

    def test_coordinates(self):
        self.assertEqual(json.loads(as_json({"A": (3, 4)}))["places"][0]["lon"], 4)

    def test_is_indented(self):
        self.assertIn("\\n  ", as_json({}))
""",
                },
            ),
            Commit(
                "Write the number of the schema into the export\n\nReaders need it before the format"
                " changes in the next version.",
                {
                    "atlas/export.py": """\
import json

SCHEMA = 2


def as_json(places):
    rows = [{"name": name, "lat": lat, "lon": lon} for name, (lat, lon) in sorted(places.items())]
    return json.dumps({"schema": SCHEMA, "places": rows}, indent=2)
""",
                    "README.rst": "atlas\n=====\n\nThe export names its schema.\n",
                },
            ),
        ),
    ),
    Situation(
        name="own/ledger-words-of-humanize",
        kind="golden",
        action="explain",
        says=("humanize", "golden", "expected"),
        commits=(
            Commit(
                "Show the ledger as a table",
                {
                    **project("ledger", "humanize>=3", about="a ledger for people"),
                    "src/ledger/show.py": """\
import humanize


def size(amount):
    return humanize.intword(amount)


def ordinal(number):
    return f"the {humanize.ordinal(number)} entry"


def summary(entries):
    return "".join(f"{ordinal(n)}: {size(amount)}\\n" for n, amount in enumerate(entries, 1))
""",
                    "tests/golden/summary.txt": "the 1st entry: 1.2 million\nthe 2nd entry: 12400\n",
                    "tests/test_show.py": """\
from pathlib import Path

import pytest

from ledger.show import ordinal, size, summary


def test_summary():
    golden = Path(__file__).parent / "golden/summary.txt"
    assert summary([1_200_000, 12_400]) == golden.read_text()


@pytest.mark.parametrize(("number", "wanted"), [(1, "1st"), (2, "2nd"), (11, "11th")])
def test_ordinal(number, wanted):
    assert wanted in ordinal(number)


def test_size():
    assert size(2_000_000) == "2.0 million"
""",
                },
            ),
            Commit("Describe the summary", {"README.md": "# ledger\n\nA line for each entry.\n"}),
        ),
    ),
)  # fmt: skip
