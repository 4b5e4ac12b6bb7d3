"""The copy of a tree in a slot, which ends with the time that is left."""

from __future__ import annotations

import pytest

from heal_bot.core.errors import BudgetError
from heal_bot.core.model.regression import MAX_FILES
from heal_bot.sandbox.job_spec import Limits
from heal_bot.sandbox.scratch_slots import Slot
from heal_bot.testrun.scratch_dirs import fill_slot


@pytest.fixture
def slot(tmp_path):
    made = Slot(0, None, tmp_path / "slots/0")
    made.root.parent.mkdir()
    made.renew()
    return made


@pytest.fixture
def root(tmp_path):
    for number in range(300):
        (tmp_path / f"tree/{number}").mkdir(parents=True)
        (tmp_path / f"tree/{number}/m.py").write_text("")
    return tmp_path / "tree"


def test_a_copy_that_takes_more_than_is_left_ends_the_run(slot, root) -> None:
    with pytest.raises(BudgetError, match="raise max-minutes"):
        fill_slot(slot, root, lambda: 0.001, least=0.0)


def test_a_small_copy_is_made_also_when_the_time_is_over(slot, root) -> None:
    fill_slot(slot, root, lambda: -1.0)
    assert len(list(slot.repo.rglob("m.py"))) == 300


def test_a_job_on_the_largest_tree_may_have_as_many_files_besides() -> None:
    assert Limits().scratch_files == 2 * MAX_FILES
