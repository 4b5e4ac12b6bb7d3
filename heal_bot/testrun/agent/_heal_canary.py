"""Tests whose results only the client knows: they show a reporting chain that was tampered with.

They never enter the session's list of items: no hook of the project, no selection and no fixture
sees them.
"""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol

from _heal_pristine_stdlib import os


class Canary(pytest.Item):
    """Passes when the product of its first two numbers is the third."""

    numbers = (0, 0, 0)

    def runtest(self):
        left, right, product = self.numbers
        assert left * right == product

    def repr_failure(self, excinfo, style=None):
        # Rendering it would walk the source of pytest itself.
        return "a canary"

    def reportinfo(self):
        return os.path.dirname(__file__), 0, self.name


def make(session, numbers):
    """An item outside of the repository's folders, so that no conftest hook applies to it."""
    place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "canary")
    if int(pytest.__version__.split(".")[0]) >= 7:
        import pathlib

        where = {"path": pathlib.Path(place)}
    else:
        where = {"fspath": type(session.fspath)(place)}
    name = "canary-" + "-".join(map(str, numbers))
    item = Canary.from_parent(session, name=name, nodeid=name, **where)
    item.numbers = tuple(numbers)
    return item


def run(item):
    """Its phase reports, made by the same hooks as those of every test."""
    return runtestprotocol(item, log=False, nextitem=None)
