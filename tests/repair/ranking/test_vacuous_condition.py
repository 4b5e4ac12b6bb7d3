from __future__ import annotations

import pytest

from heal_bot.core.model import (
    Attempt,
    CallResult,
    Calls,
    Candidate,
    Edit,
    Failure,
    Target,
    Verdict,
)
from heal_bot.repair.ranking.patch_ranking import choose_patches
from heal_bot.repair.ranking.vacuous_condition import find_probes

SOURCE = '''    def fresh(self, names, seen):
        """Those that are new."""
        found = []
        for name in names:
            if name not in seen:
                found.append(name)
        return [name for name in found if name]
'''
TARGET = Target("m.py", "Box.fresh", 0, "function", 2, 8, SOURCE)


def _fix(number: int, *changes: tuple[str, str]) -> Attempt:
    source = SOURCE
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    edit = Edit(TARGET, source)
    candidate = Candidate((edit,), "rules", "variable", f"change {number}", prior=2.0)
    return Attempt(number, "c", candidate, Verdict("fixed", ("t",)))


TEST = ("if name not in seen", "if found not in seen")


def test_a_changed_condition_is_asked_for_with_and_without_it() -> None:
    (probe,) = find_probes(
        [_fix(1, TEST), _fix(2, ("if name not in seen", "if seen not in names"))]
    )
    assert probe.members == {0, 1}
    (always,), (never,) = probe.always.edits, probe.never.edits
    assert always.target == TARGET
    assert "            if True:\n" in always.new_source
    assert "            if False:\n" in never.new_source
    assert always.new_source.startswith("    def fresh(")


def test_the_filter_of_a_comprehension_is_a_condition() -> None:
    (probe,) = find_probes([_fix(1, ("for name in found if name]", "for name in found if found]"))])
    assert "for name in found if True]" in probe.always.edits[0].new_source


@pytest.mark.parametrize(
    "changes",
    [
        (TEST, ("found = []", "found = names")),
        (("found.append(name)", "found.append(names)"),),
        (("if name not in seen", "if True"),),
        ((" if name]", "]"),),
    ],
    ids=["more than the condition", "no condition", "a constant", "no condition left"],
)
def test_what_changes_more_or_less_than_one_condition_is_not_asked(
    changes: tuple[tuple[str, str], ...],
) -> None:
    assert find_probes([_fix(1, *changes)]) == ()


class Called:
    """A session that knows what unchanged code, one patch, `if True` and `if False` do."""

    def __init__(self, rows: str) -> None:
        self.rows = rows.split()

    def call(self, candidates: object, seed: int = 0) -> Calls:
        names = tuple(f"fresh({n})" for n in range(len(self.rows[0])))
        marks = (tuple(CallResult("returned", "list", m, m) for m in row) for row in self.rows)
        return Calls(names, 1, tuple(marks))


@pytest.mark.parametrize(
    ("rows", "offered"),
    [("abc axx axx ayy", False), ("abc ayy axx ayy", False),
     ("abc axy axx ayy", True), ("axx axx axx ayy", True)],
    ids=["always true", "always false", "it decides", "it never decided"],
)  # fmt: skip
def test_a_condition_that_decides_nothing_any_more_is_objected_to(rows: str, offered: bool) -> None:
    failures = (Failure("t", "AssertionError", ""),)
    (first,) = choose_patches(Called(rows), [_fix(1, TEST)], failures, lambda fix: False, 0.9)  # type: ignore[arg-type]
    objection = "a condition that told calls apart decides nothing with it"
    assert (objection not in (first.lacks or ())) is offered
