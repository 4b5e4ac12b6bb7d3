"""Attributes and the methods that are mistaken for them."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Target
from heal_bot.repair.templates import attribute
from heal_bot.repair.templates.failure_hints import gather
from heal_bot.repair.templates.module_context import explore
from heal_bot.repair.templates.mutation_context import MutationContext, look
from heal_bot.repair.templates.target_ast import survey
from heal_bot.source import functions

TEXT = """\
class Role:
    def __init__(self, grants, parents):
        self.grants = grants
        self.parents = parents

    def all_grants(self):
        found = set(self.grants)
        for parent in self.parents:
            found |= parent.grants
        return found

    def shown(self):
        return sorted(self.grants)
"""


class Text:
    def read(self, path: str) -> bytes:
        return TEXT.encode()


def _scope(qualname: str) -> MutationContext:
    target: Target | None = functions.find_target(
        functions.index_targets("m.py", TEXT), qualname, "function"
    )
    assert target is not None
    around = explore(Text(), target)  # type: ignore[arg-type]
    return look(survey(target, target.source, None), around, gather([]))


@pytest.mark.parametrize(
    ("qualname", "expected"),
    [
        (
            "Role.all_grants",
            {"self.shown()", "parent.all_grants()", "parent.shown()"},
        ),
        ("Role.shown", {"self.all_grants()"}),
    ],
)
def test_a_plain_read_becomes_a_method_without_arguments_but_never_an_endless_call(
    qualname: str, expected: set[str]
) -> None:
    scope = _scope(qualname)
    made = [cut.text for change in attribute.methods(scope) for cut in change.cuts]
    assert expected <= set(made)
    assert f"self.{qualname.rpartition('.')[2]}()" not in made


LISTING = """
class Listing:
    rows = ()

    def get_rows(self):
        return [row for row in self.rows if row.visible]

    def count(self):
        return len(self.rows)
"""


def test_what_a_method_narrows_is_asked_of_the_method(bench) -> None:
    """As in web views that count `queryset` where `get_queryset()` filters it."""
    right = LISTING.replace("len(self.rows)", "len(self.get_rows())")
    place = bench.position(LISTING, right, 300, "Listing.count")
    assert (place or 9999) < 150
