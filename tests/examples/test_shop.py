from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SHOP = Path(__file__).parent.parent.parent / "examples" / "shop"
HELPER = ("shop/pricing.py", "quantity > tier.quantity and", "quantity >= tier.quantity and")
METHOD = ("shop/catalog.py", "self.shelves[code.upper()]", "self.shelves[code.strip().upper()]")
ALGORITHM = (
    "shop/discounts.py",
    "    return [Money(amount.cents * weight // whole) for weight in weights]\n",
    "    parts = [amount.cents * weight // whole for weight in weights]\n"
    "    order = sorted(range(len(parts)), key=lambda i: -(amount.cents * weights[i] % whole))\n"
    "    for index in order[: amount.cents - sum(parts)]:\n"
    "        parts[index] += 1\n"
    "    return [Money(part) for part in parts]\n",
)


@pytest.fixture
def red_after(tmp_path):
    """The red tests of the shop after some text edits, without their parameters."""

    def run(*edits: tuple[str, str, str]) -> set[str]:
        folder = tmp_path / "shop"
        shutil.copytree(SHOP, folder, ignore=shutil.ignore_patterns("__pycache__"))
        for path, old, new in edits:
            text = (folder / path).read_text()
            assert text.count(old) == 1
            (folder / path).write_text(text.replace(old, new))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
            cwd=folder, env={"PATH": os.defpath}, capture_output=True, text=True,
        )  # fmt: skip
        return set(re.findall(r"^FAILED \S+::(\w+)", done.stdout, re.MULTILINE))

    return run


@pytest.mark.long
def test_three_bugs_are_planted(red_after):
    assert red_after() == {
        "test_the_tier_of_a_line",
        "test_the_value_of_tea_by_quantity",
        "test_finds_what_a_supplier_typed",
        "test_stock_is_taken_whatever_the_customer_typed",
        "test_odd_cents_go_to_the_largest_remainders_and_of_equals_to_the_first",
    }


@pytest.mark.long
def test_two_of_them_have_a_small_repair(red_after):
    assert red_after(HELPER, METHOD) == {
        "test_odd_cents_go_to_the_largest_remainders_and_of_equals_to_the_first"
    }


@pytest.mark.long
def test_with_an_algorithm_all_is_green(red_after):
    assert red_after(HELPER, METHOD, ALGORITHM) == set()


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("shop/cart.py", "Line(code, product", "Line(code.strip(), product"),
        ("shop/catalog.py", "self.find(code)\n", "self.find(code.strip())\n"),
        ("shop/catalog.py", "self.shelves[code.upper()]", "self.shelves[code.lstrip().upper()]"),
        ("shop/pricing.py", "unit_price(product, quantity)", "unit_price(product, quantity + 1)"),
        ("shop/pricing.py", "quantity > tier.quantity and", "quantity != tier.quantity and"),
        ("shop/orders.py", "line.price.cents for", "bool(line.price.cents) for"),
        ("shop/discounts.py", "cents * weight //", "cents * weight + 1 //"),
    ],
)
def test_a_repair_beside_the_bug_is_noticed(red_after, path, old, new):
    others = [edit for edit in (HELPER, METHOD, ALGORITHM) if edit[0] != path]
    assert red_after((path, old, new), *others) != set()
