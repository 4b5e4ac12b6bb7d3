"""What of an outcome its record says."""

from __future__ import annotations

from heal_bot.core.model import (
    Attempt,
    Candidate,
    Certificate,
    Confirmed,
    Edit,
    HealRequest,
    Outcome,
    Patch,
    PatchedFile,
    Report,
    Suggestion,
    SuiteTotals,
    Target,
    Verdict,
)
from heal_bot.report.outcome_record import flatten
from tests.fakes import ENVIRONMENT, ISOLATION, SHA


def _edit(name: str) -> Edit:
    source = f"def {name}():\n    return 0\n"
    return Edit(Target("m.py", name, 0, "function", 1, 2, source), source.replace("0", "1"))


def _confirmed(edits: tuple[Edit, ...], *fixed: str) -> Confirmed:
    totals = SuiteTotals(complete=True, passed=1, failed=0, skipped=0, seconds=0.1)
    certificate = Certificate(
        SHA, SHA, "", ENVIRONMENT, ISOLATION, 2, 2, (), totals, tests_unchanged=True
    )
    return Confirmed(Patch(SHA, (PatchedFile("m.py", SHA, ""),), "", edits, fixed, ()), certificate)


def test_a_suggestion_says_what_the_cold_runs_saw_it_fix_and_what_it_stands_on() -> None:
    first, second = _edit("f"), _edit("g")
    warm = Verdict("fixed", ("t::two", "t::fails_cold"))
    attempt = Attempt(2, "c", Candidate((second,), "rules", "constant"), warm, diff="-0\n+1\n")
    base = _confirmed((first,), "t::one").patch
    for beneath, edits, why in (
        (None, (second,), ("weak",)),
        (base, (first, second), ("weak", "it was confirmed on top of a change of m.py::f")),
    ):
        before = beneath.fixed if beneath else ()
        confirmed = _confirmed(edits, *before, "t::two")
        found = Outcome(
            HealRequest("o/r", SHA), "not_healed", "done", "", Report(()),
            suggestion=Suggestion(attempt, confirmed, ("weak",), beneath),
        )  # fmt: skip
        record = flatten(found).suggestion
        assert record is not None
        assert (record.fixed, record.why) == (("t::two",), why)
        assert record.patch is not None
        assert [f.qualname for f in record.patch.functions] == [e.target.qualname for e in edits]
