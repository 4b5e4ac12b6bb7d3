"""Golden files and snapshots that are right where the code is wrong."""

from __future__ import annotations

from benchmarks.street.own._files import changed, project
from benchmarks.street.situation import Commit, Situation

_INVOICE = """\
def cents(amount):
    return f"{amount // 100}.{amount % 100:02d}"


def render(customer, items):
    lines = [f"Invoice for {customer}", ""]
    for name, count, price in items:
        lines.append(f"{count:>3} x {name:<16}{cents(count * price):>10}")
    total = sum(count * price for _, count, price in items)
    lines += ["", f"{'Total':<22}{cents(total):>10}"]
    return "\\n".join(lines) + "\\n"
"""
_TREE = """\
def render(node, depth=0):
    lines = ["  " * depth + node["name"]]
    for child in sorted(node.get("children", []), key=lambda child: child["name"]):
        lines += render(child, depth + 1).splitlines()
    return "\\n".join(lines) + "\\n"


def count(node):
    return 1 + sum(count(child) for child in node.get("children", []))
"""

SITUATIONS = (
    Situation(
        name="own/invoice-golden-is-right",
        kind="golden",
        action="repair",
        commits=(
            Commit(
                "Print invoices",
                {
                    **project("invoice", about="invoices as text", flat=True),
                    "invoice/text.py": _INVOICE,
                    "tests/golden/two-items.txt": "Invoice for Ada\n\n"
                    "  2 x tea                   9.00\n  1 x honey                 7.05\n"
                    "\nTotal                      16.05\n",
                    "tests/core/test_text.py": """\
from pathlib import Path

import pytest

from invoice.text import cents, render

GOLDEN = Path(__file__).parent / "golden"


def test_two_items():
    wanted = (GOLDEN / "two-items.txt").read_text()
    assert render("Ada", [("tea", 2, 450), ("honey", 1, 705)]) == wanted


@pytest.mark.parametrize(("amount", "wanted"), [(100, "1.00"), (1999, "19.99"), (50, "0.50")])
def test_cents(amount, wanted):
    assert cents(amount) == wanted


def test_no_items():
    assert "0.00" in render("Ada", [])
""",
                },
            ),
            Commit("Tell of goldens", {"README.md": "# invoice\n\nGoldens are in tests/golden.\n"}),
            Commit(
                "Tidy the formatting of amounts",
                {
                    "invoice/text.py": changed(
                        _INVOICE,
                        (
                            'return f"{amount // 100}.{amount % 100:02d}"',
                            'whole, part = divmod(amount, 100)\n    return f"{whole}.{part:<02d}"',
                        ),
                    )
                },
            ),
        ),
        right={"invoice/text.py": _INVOICE},
        hidden={
            "tests/test_hidden_text.py": """\
import pytest

from invoice.text import cents, render


@pytest.mark.parametrize(("amount", "wanted"), [(1, "0.01"), (209, "2.09"), (1000, "10.00")])
def test_cents(amount, wanted):
    assert cents(amount) == wanted


def test_total():
    assert render("Bo", [("ink", 3, 3)]).splitlines()[-1].split() == ["Total", "0.09"]
"""
        },
    ),
    Situation(
        name="own/tree-snapshot-is-right",
        kind="golden",
        action="repair",
        commits=(
            Commit(
                "Draw the tree of a collection",
                {
                    **project("herbarium", tests=("syrupy",), about="plants", python=">=3.9"),
                    "src/herbarium/tree.py": _TREE,
                    "tests/test_tree.py": """\
import pytest

from herbarium.tree import count, render

LEAF = {"name": "moss"}
WOOD = {
    "name": "wood",
    "children": [{"name": "oak", "children": [LEAF]}, {"name": "ash"}],
}


def test_wood(snapshot):
    assert render(WOOD) == snapshot


def test_leaf(snapshot):
    assert render(LEAF) == snapshot


@pytest.mark.parametrize(("node", "wanted"), [(LEAF, 1), (WOOD, 4)])
def test_count(node, wanted):
    assert count(node) == wanted


def test_begins_with_the_root():
    assert render(WOOD).startswith("wood\\n")
""",
                    "tests/__snapshots__/test_tree.ambr": """\
# serializer version: 1
# name: test_leaf
  '''
  moss
  
  '''
# ---
# name: test_wood
  '''
  wood
    ash
    oak
      moss
  
  '''
# ---
""",
                },
            ),
            Commit(
                "Build the lines of the tree in one pass",
                {"src/herbarium/tree.py": changed(_TREE, ("render(child, depth + 1)", "render(child, depth or 1)"))},
            ),
        ),
        right={"src/herbarium/tree.py": _TREE},
        hidden={
            "tests/test_hidden_tree.py": """\
from herbarium.tree import render


def test_four_deep():
    node = {"name": "d"}
    for name in "cba":
        node = {"name": name, "children": [node]}
    assert render(node) == "a\\n  b\\n    c\\n      d\\n"
"""
        },
    ),
)  # fmt: skip
