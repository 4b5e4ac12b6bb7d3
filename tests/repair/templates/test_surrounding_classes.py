"""Families that take what they offer from the class around a function, or from those it uses."""

from __future__ import annotations

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


def test_what_a_class_holds_is_offered_in_the_place_of_what_is_wrong(bench) -> None:
    source = bench.target(STOCK, "Table.take").source
    wanted = source.replace("item.held", "item.free")
    found = [c.edits[0].new_source for c in bench.candidates(STOCK, "Table.take")]
    assert wanted in found[:30]
