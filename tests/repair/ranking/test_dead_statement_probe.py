from __future__ import annotations

from collections.abc import Sequence

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
from heal_bot.repair.ranking.dead_statement_probe import find_omissions
from heal_bot.repair.ranking.patch_ranking import choose_patches

SOURCE = '''    def slug(self, text, mark):
        """Words with marks in between."""
        if mark:
            text = re.sub("%s+" * mark, mark, text)
        return text
'''
TARGET = Target("m.py", "Box.slug", 0, "function", 2, 6, SOURCE)
PATTERN = '"%s+" * mark'


def _fix(number: int, prior: float, new: str, old: str = PATTERN) -> Attempt:
    assert old in SOURCE
    edit = Edit(TARGET, SOURCE.replace(old, new))
    candidate = Candidate((edit,), "rules", "operand", f"change {number}", prior=prior)
    return Attempt(number, "c", candidate, Verdict("fixed", ("t",)))


class Called:
    """A session that knows what the texts of a pattern do; nothing matches any other one.

    A number added to a text raises.
    """

    def __init__(self, *working: str) -> None:
        self.working = working

    def call(self, candidates: Sequence[Candidate], seed: int = 0) -> Calls:
        rows = [(self._did("", at=0), *map(self._of, candidates))]
        return Calls(("slug('a')", "slug('b')"), 2, tuple((row, row) for row in rows[0]))

    def _of(self, candidate: Candidate) -> CallResult:
        source = candidate.edits[0].new_source
        if "+ 1" in source:
            return self._did("", at=0)
        return self._did(next((w for w in self.working if w in source), "nothing"))

    def _did(self, mark: str, at: int = 1) -> CallResult:
        return CallResult("returned" if at else "raised", "str" if at else "TypeError", mark, mark)


def test_a_statement_that_several_patches_change_is_left_out() -> None:
    (omission,) = find_omissions([_fix(1, 1.0, '"%s+" % mark'), _fix(2, 1.6, "mark")])
    assert omission.members == {0, 1}
    (edit,) = omission.without.edits
    assert edit.target == TARGET
    assert "re.sub" not in edit.new_source
    assert "        if mark:\n            pass\n        return text\n" in edit.new_source


@pytest.mark.parametrize(
    ("new", "old"),
    [("if not mark", "if mark"), ("mark, text)\n            text += 1", "mark, text)")],
    ids=["a condition", "one statement more"],
)
def test_what_changes_no_simple_statement_is_not_asked(new: str, old: str) -> None:
    assert find_omissions([_fix(1, 1.0, new, old), _fix(2, 1.0, new, old)]) == ()


def test_what_one_patch_changes_is_not_asked() -> None:
    assert find_omissions([_fix(1, 1.0, "mark"), _fix(2, 1.0, "if not mark", "if mark")]) == ()


def _chosen(*working: str) -> list[int]:
    fixes = [_fix(1, 1.2, '"%s+" % mark'), _fix(2, 1.5, "mark"), _fix(3, 1.5, "mark + mark")]
    failures = (Failure("t", "TypeError", ""),) * 15
    ranked = choose_patches(
        Called('"%s+" % mark', *working), fixes, failures, lambda fix: False, 0.9
    )  # type: ignore[arg-type]
    return [fix.number for fix in ranked]


def test_patches_that_do_nothing_do_not_support_each_other() -> None:
    assert _chosen() == [1, 2]


def test_patches_that_agree_in_doing_something_do() -> None:
    assert _chosen("re.sub(mark") == [2, 1]
