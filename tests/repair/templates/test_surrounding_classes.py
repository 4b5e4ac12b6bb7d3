"""Families that take what they offer from the class around a function, or from those it uses."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Failure

STOCK = """\
from dataclasses import dataclass


@dataclass
class Item:
    held: int = 0
    promised: int = 0

    @property
    def free(self):
        return self.held - self.promised


class Table:
    mark = "~"

    def __init__(self, names, between=";", rows=()):
        self.names = names
        self.between = between
        self.rows = tuple(rows)

    def line(self, values):
        return ";".join(values) + "~"

    def place(self, share):
        return int(share * 10)

    def width(self):
        return len(self.rows)

    def take(self, item, count):
        return count <= item.held

    def __eq__(self, other):
        return self.names == other.names and self.rows == other.rows

    def __hash__(self):
        return hash(repr(self))
"""


@pytest.mark.parametrize(
    ("family", "name", "wrong", "right", "most"),
    [
        ("literal", "Table.line", '";".join', "self.between.join", 2.9),
        ("literal", "Table.line", '+ "~"', "+ self.mark", 2.9),
        ("method", "Table.take", "item.held", "item.free", 3.2),
        ("hash", "Table.__hash__", "repr(self)", "(self.names, self.rows)", 3.3),
        (
            "extreme",
            "Table.place",
            "int(share * 10)",
            "min(int(share * 10), len(self.rows) - 1)",
            4.5,
        ),
    ],
)
def test_what_a_class_holds_is_offered_in_the_place_of_what_is_wrong(
    bench, family: str, name: str, wrong: str, right: str, most: float
) -> None:
    found = {
        (candidate.family, candidate.edits[0].new_source): candidate.prior
        for candidate in bench.candidates(STOCK, name)
    }
    source = bench.target(STOCK, name).source
    assert wrong in source
    assert found[family, source.replace(wrong, right)] <= most


def test_a_comparison_that_crashed_begins_with_the_class_of_the_other(bench) -> None:
    crashed = Failure("t", "AttributeError", "'int' object has no attribute 'names'")
    test = "if not isinstance(other, Table):\n            return NotImplemented"
    found = [c.edits[0].new_source for c in bench.candidates(STOCK, "Table.__eq__",
                                                             failures=(crashed,))]  # fmt: skip
    assert any(test in source for source in found)
    other = [c.edits[0].new_source for c in bench.candidates(STOCK, "Table.__eq__")]
    assert not any("NotImplemented" in source for source in other)


def test_a_deep_copy_brings_its_import(bench) -> None:
    text = "def f(a):\n    return dict(a)\n"
    found = [c for c in bench.candidates(text) if "deepcopy" in c.edits[0].new_source]
    assert found[0].edits[0].imports == ("from copy import deepcopy",)


@pytest.mark.parametrize(
    ("imported", "called"),
    [
        ("from copy import deepcopy", "return deepcopy(a)"),
        ("import copy", "return copy.deepcopy(a)"),
        ("import sys, copy", "return copy.deepcopy(a)"),
    ],
)
def test_a_deep_copy_is_called_as_the_module_imports_it(bench, imported: str, called: str) -> None:
    text = f"{imported}\n\n\ndef f(a):\n    return dict(a)\n"
    found = [c for c in bench.candidates(text, "f") if "deepcopy" in c.edits[0].new_source]
    assert found[0].edits[0].imports == ()
    assert called in found[0].edits[0].new_source
