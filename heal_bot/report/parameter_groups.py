"""Tests in bulk: those of one parametrized function are told in one line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heal_bot.core.model import stable_test_ids


@dataclass(frozen=True, slots=True)
class TestGroup:
    """A test, or some parameter sets of one function; `of` is how many of that fail at all."""

    name: str
    tests: tuple[str, ...]
    of: int

    # pytest takes a class of this name for tests.
    __test__ = False

    @property
    def said(self) -> str:
        """The test, or the function with how many of its failing parameter sets are meant."""
        return f"{self.name}: {self.parameters}" if self.parameters else self.name

    @property
    def parameters(self) -> str:
        """How many parameter sets; '' for a single test, whose name has its own."""
        if len(self.tests) == 1:
            return ""
        of = f" of {self.of} failing" if self.of > len(self.tests) else ""
        return f"{len(self.tests)}{of} parameters"


def group_tests(tests: Iterable[str], failing: Iterable[str] = ()) -> tuple[TestGroup, ...]:
    """The tests in the order of their first; `failing` are all that there are to choose from."""
    wanted = tuple(dict.fromkeys(tests))
    sets, every = stable_test_ids.sets(wanted), stable_test_ids.sets((*failing, *wanted))
    found: dict[str, TestGroup] = {}
    for test in wanted:
        name = stable_test_ids.function(test)
        mine = sets.get(name, ())
        if test not in mine or len(mine) == 1:
            found[test] = TestGroup(test, (test,), 1)
        else:
            found[name] = TestGroup(name, tuple(mine), len(every[name]))
    return tuple(found.values())
