"""What heal sees of a suite, and how rows become the figures."""

from __future__ import annotations

import pytest

from benchmarks._mending import Row, visible
from benchmarks._mutants import Mutant
from benchmarks._planting import Fault
from benchmarks.mutants import _summary

MUTANT = Mutant("m.py", "f", 0, "operator", 1, 2, "def f():\n    pass\n")
TESTS = tuple(f"t::test_{n}" for n in range(20))


@pytest.mark.parametrize("seed", range(5))
def test_half_of_the_suite_is_seen_and_a_test_that_fails_is_in_it(seed: int) -> None:
    fault = Fault("lib", MUTANT, frozenset({"t::test_7"}), frozenset({"t::test_7"}), TESTS)
    seen = visible(fault, seed)
    assert "t::test_7" in seen
    assert len(seen) in {10, 11}
    assert seen == visible(fault, seed)


def _row(kind: str, status: str, **fields: object) -> Row:
    return Row("lib", "m.py::f", kind, 1, 0, status, **fields)  # type: ignore[arg-type]


def test_a_patch_that_could_not_be_compared_is_neither_healed_nor_wrong() -> None:
    rows = [
        _row("operator", "healed", healed=True, same=True, seconds=4.0),
        _row("operator", "healed", wrong=True, calls=30, seconds=6.0),
        _row("guard", "healed", calls=12, seconds=9.0),
        _row("deleted", "not_healed", fixes=2, seconds=60.0),
        _row("guard", "not_healed", fixes=2, suggested=True, right=True, seconds=7.0),
        _row("guard", "not_healed", fixes=2, suggested=True, wrong=True, seconds=8.0),
    ]
    told = _summary(rows)
    counted = ("mutants", "invertible", "healed", "healed_invertible", "proposed", "wrong")
    assert [told[name] for name in counted] == [6, 2, 1, 1, 3, 1]
    assert (told["abstained"], told["uncompared"], told["precision"]) == (1, 1, 0.667)
    assert [told[f"suggestion{which}"] for which in ("", "_right", "_wrong")] == [2, 1, 1]
    assert told["median_seconds"] == 7.5


def test_without_a_proposal_the_precision_is_nought() -> None:
    assert _summary([_row("guard", "not_healed")])["precision"] == 0.0
