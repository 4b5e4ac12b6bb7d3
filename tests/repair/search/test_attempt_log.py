"""What the log of attempts calls the repair, and what it keeps as a suggestion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.core.model import (
    Attempt,
    Candidate,
    Certificate,
    Confidence,
    Confirmed,
    Edit,
    Patch,
    Proposal,
    Suggestion,
    SuiteTotals,
    Target,
    Verdict,
)
from heal_bot.core.statuses import ConfidenceLevel
from heal_bot.repair.search.attempt_log import AttemptLog
from tests.fakes import ENVIRONMENT, ISOLATION, FolderTree, quiet_run

TARGET = Target("m.py", "add", 0, "function", 1, 2, "def add(a, b):\n    return a - b\n")
WEAK = ("one failing test alone vouches for it",)


def _attempt(number: int, level: ConfidenceLevel | None, tests: int = 2) -> Attempt:
    edit = Edit(TARGET, TARGET.source.replace("-", "+" * number))
    confidence = Confidence(level, 0.8, "of 10 patches, 8 were right") if level else None
    candidate = Candidate((edit,), "rules", "operator")
    fixed = tuple(f"t{number}[{n}]" for n in range(tests))
    return Attempt(
        number, f"cause {number}", candidate, Verdict("fixed", fixed), lacks=WEAK,
        confidence=confidence,
    )  # fmt: skip


def _confirm(winner: Attempt) -> Confirmed:
    totals = SuiteTotals(complete=True, passed=1, failed=0, skipped=0, seconds=0.1)
    certificate = Certificate(
        "1" * 40, "2" * 40, "", ENVIRONMENT, ISOLATION, 2, 2, (), totals, tests_unchanged=True,
        doubts=("slower",),
    )  # fmt: skip
    patch = Patch("1" * 40, (), "", winner.candidate.edits, winner.verdict.fixed, ())
    return Confirmed(patch, certificate)


def _log(tmp_path: Path, *suggested: Attempt) -> AttemptLog:
    log = AttemptLog(FolderTree.of(tmp_path, {"m.py": TARGET.source}))
    for attempt in suggested:
        log.attempts.append(attempt)
        log.settle(quiet_run()[0], Proposal((attempt,)), _confirm(attempt))
    assert log.suggestion is not None
    return log


def test_a_likely_suggestion_is_the_repair_with_its_doubt_first(tmp_path: Path) -> None:
    log = _log(tmp_path, _attempt(1, ConfidenceLevel.MEDIUM))
    log.accept_likely()
    assert log.confirmed is not None
    assert log.confirmed.certificate.doubts == (*WEAK, "slower")
    assert [winner.number for winner in log.held] == [1]
    assert log.suggestion is None


@pytest.mark.parametrize(
    ("level", "tests"),
    [(ConfidenceLevel.LOW, 2), (None, 2), (ConfidenceLevel.MEDIUM, 1)],
    ids=["unlikely", "not rated", "one test alone"],
)
def test_what_is_unlikely_or_has_one_test_stays_a_suggestion(
    tmp_path: Path, level: ConfidenceLevel | None, tests: int
) -> None:
    log = _log(tmp_path, _attempt(1, level, tests))
    log.accept_likely()
    assert (log.confirmed, log.held) == (None, ())
    assert log.suggestion is not None


def test_what_is_objected_to_besides_stays_a_suggestion(tmp_path: Path) -> None:
    log = _log(tmp_path, _attempt(1, ConfidenceLevel.MEDIUM))
    (found,) = log.suggestions.values()
    objected: Suggestion = replace(found, why=("it newly reaches for os.system", *WEAK))
    log.suggestions[found.attempt.cluster] = objected
    log.accept_likely()
    assert log.confirmed is None


def test_beside_a_patch_that_stands_a_likely_suggestion_stays_one(tmp_path: Path) -> None:
    log = _log(tmp_path, _attempt(1, ConfidenceLevel.MEDIUM))
    strong = replace(_attempt(2, None), lacks=None)
    log.attempts.append(strong)
    log.settle(quiet_run()[0], Proposal((strong,)), _confirm(strong))
    log.accept_likely()
    assert [winner.number for winner in log.held] == [2]
    assert log.suggestion is not None


def test_a_likely_suggestion_that_was_confirmed_with_what_stands_joins_it(tmp_path: Path) -> None:
    strong, likely = replace(_attempt(1, None), lacks=None), _attempt(2, ConfidenceLevel.MEDIUM)
    log = AttemptLog(FolderTree.of(tmp_path, {"m.py": TARGET.source}))
    log.attempts += [strong, likely]
    log.settle(quiet_run()[0], Proposal((strong,)), _confirm(strong))
    log.settle(quiet_run()[0], Proposal((strong, likely)), _confirm(likely))
    log.accept_likely()
    assert [winner.number for winner in log.held] == [1, 2]
    assert log.confirmed is not None
    assert log.confirmed.certificate.doubts == (*WEAK, "slower")


def test_what_a_critic_asks_keeps_a_likely_change_a_suggestion(tmp_path: Path) -> None:
    log = _log(tmp_path, _attempt(1, ConfidenceLevel.MEDIUM))
    (found,) = log.suggestions.values()
    log.hear(found, replace(found.confirmed, objections=("what of negative totals?",), heard=True))
    log.accept_likely()
    assert log.confirmed is None
    assert log.suggestion is not None
    assert log.suggestion.why == (*WEAK, "what of negative totals?")


def test_a_likely_suggestion_comes_before_one_that_fixes_more(tmp_path: Path) -> None:
    unlikely, likely = _attempt(1, ConfidenceLevel.LOW, 4), _attempt(2, ConfidenceLevel.MEDIUM)
    log = _log(tmp_path, unlikely, likely)
    log.accept_likely()
    assert [winner.number for winner in log.held] == [2]
    assert [one.attempt.number for one in log.suggestions.values()] == [1]
