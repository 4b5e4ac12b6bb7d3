"""The scenarios of `python -m benchmarks github` that run in one process."""

from __future__ import annotations

import pytest

from benchmarks._github_scenarios import quick
from benchmarks.github import Tally

SCENARIOS = quick()


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_scenario_ends_as_it_should(name: str) -> None:
    tally = Tally()
    tally.play(name, SCENARIOS[name])
    assert (tally.failed, tally.violations, tally.duplicates, tally.lost) == ([], 0, 0, 0)
