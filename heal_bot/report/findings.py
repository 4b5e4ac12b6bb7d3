"""What a run proved by runs in the sandbox, what follows without proof, what it did not show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING

from heal_bot.core.model import (
    Bump,
    Certificate,
    Cluster,
    Outcome,
    PackageChange,
    Regression,
    Suite,
    Target,
)
from heal_bot.core.statuses import FailureStatus
from heal_bot.core.text import count, list_some
from heal_bot.report.failure_status import Fate, list_fates

if TYPE_CHECKING:
    from heal_bot.core.outcome import OutcomeRecord

# What a check says that could not be made.
_OPEN = ("in-process", "not measured", "could not", "configured, not installed")
_INSIDE = "in-process: "
_NAMED = 3
_CAUSES = 5


def list_findings(outcome: Outcome) -> dict[str, tuple[str, ...]]:
    """Plain sentences by the field of `outcome.json`; those of checks as `list_checks` does."""
    suggestion = outcome.suggestion.confirmed.certificate if outcome.suggestion else None
    certificate, ends = outcome.certificate or suggestion, list_fates(outcome)
    return {
        "proved": tuple(_proved(outcome)),
        "inferred": tuple(_inferred(outcome, ends)),
        "not_shown": tuple(_not_shown(outcome, certificate, ends)),
    }


def list_checks(record: OutcomeRecord) -> tuple[str, ...]:
    """What each check said, and what was missing, as far as `not_shown` does not."""
    if (found := record.certificate) is None:
        return ()
    suite = found.environment.suite
    said = [] if found.full_suite.complete else [_tell_partial(suite, "patch")]
    said += [_tell_gate(gate.name, gate.result) for gate in found.gates]
    said += [f"isolation layer missing: {layer}" for layer in found.isolation.missing]
    return tuple(line for line in said if line not in record.not_shown)


def _tell_gate(name: str, result: str) -> str:
    """What a check said, in words where the name of the check says nothing to a reader."""
    if result.startswith(_INSIDE):
        return f"the change ran in the process of the assertions: {result.removeprefix(_INSIDE)}"
    return f"check {name}: {result}"


def _tell_partial(suite: Suite, change: str) -> str:
    return f"the {suite.said or 'whole suite'} did not run with the {change}"


def list_culprits(record: OutcomeRecord) -> Iterator[str]:
    """What the fields of a record prove to have broken tests: its sentences are anybody's.

    Numbers of runs are left out, which a repeated verification does not compare.
    """
    if (cause := record.regression) and cause.confirmed:
        if found := cause.package:
            bump = Bump(found.name, found.good, found.bad)
            yield PackageChange((bump,), cause.tests, cause.runs).said
        else:
            yield Regression(cause.good_sha, cause.bad_sha, cause.title, cause.tests).said


def _proved(outcome: Outcome) -> Iterator[str]:
    regressions = (one for one in outcome.history.regressions if one.confirmed)
    culprits: tuple[Regression | PackageChange, ...] = (*regressions, *outcome.history.packages)
    for one in culprits:
        yield one.said if len(culprits) == 1 else f"{one.said}: {_tests(one.tests)}"
    if outcome.patch and outcome.certificate:
        yield _held("the patch", outcome.patch.fixed, outcome.certificate)
    if found := outcome.suggestion:
        change = "either of two changes" if outcome.question else "the suggested change"
        yield _held(change, found.fixed, found.confirmed.certificate)


def _held(change: str, fixed: Sequence[str], certificate: Certificate) -> str:
    passes = "passes" if len(fixed) == 1 else "pass"
    suite = certificate.environment.suite.said or "suite"
    ran = f"the {suite}" if certificate.full_suite.complete else "the tests that ran"
    return (
        f"{count(len(fixed), 'failing test')} {passes} with {change} in"
        f" {count(certificate.verify_runs, 'cold run')} of {ran}, in which no other test"
        f" breaks, after {count(certificate.baseline_runs, 'failed run')} without it"
    )


def _inferred(outcome: Outcome, ends: Sequence[Fate]) -> Iterator[str]:
    edits = dict.fromkeys(outcome.patch.edits if outcome.patch else ())
    former = (a.candidate.edits for a in outcome.attempts if a.candidate.family == "reversal")
    back = {edit for taken in former if edits.keys() >= set(taken) for edit in taken}
    if back:
        yield "the fault is what the patch takes back of the commit: without it the tests pass"
    if places := dict.fromkeys(_name(one.target) for one in edits if one not in back):
        yield f"the fault is in {', '.join(places)}, where the tests pass with the change"
    held = set(outcome.patch.fixed if outcome.patch else ())
    if found := outcome.suggestion:
        held.update(found.fixed)
        if outcome.question is None:
            where = ", ".join(dict.fromkeys(_name(e.target) for e in found.attempt.candidate.edits))
            yield f"the fault may be in {where}, where the tests pass with the suggested change"
    open_ = list(_list_open(outcome, ends, held))
    for cluster in open_[:_CAUSES]:
        tests = count(len(cluster.failures), "test")
        yield f"the fault behind {tests} is in {_name(cluster.suspects[0].target)}, by ranking"
    if len(open_) > _CAUSES:
        yield f"and {count(len(open_) - _CAUSES, 'more cause')}"
    known = {test for change in outcome.history.packages for test in change.tests}
    told = Counter(end.status for end in ends if end.failure.test not in known)
    if outside := told[FailureStatus.EXPLAINED] + told[FailureStatus.ENVIRONMENT]:
        is_ = "is" if outside == 1 else "are"
        reason = "red for a reason outside of the code, which is named for each"
        yield f"{count(outside, 'test')} {is_} {reason}"
    if stale := told[FailureStatus.STALE_TEST]:
        yield f"{count(stale, 'test')} {'looks' if stale == 1 else 'look'} out of date"


def _list_open(outcome: Outcome, ends: Sequence[Fate], held: Set[str]) -> Iterator[Cluster]:
    """The causes that are suspected of their tests alone: no change that held passes one."""
    open_ends = {FailureStatus.STILL_FAILING, FailureStatus.NOT_ATTEMPTED}
    left = {end.failure.test for end in ends if end.status in open_ends}
    for cluster in outcome.clusters:
        tests = {failure.test for failure in cluster.failures}
        if cluster.suspects and left & tests and not held & tests:
            yield cluster


def _name(target: Target) -> str:
    return f"`{target.path}::{target.qualname}`"


def _not_shown(
    outcome: Outcome, certificate: Certificate | None, ends: Sequence[Fate]
) -> Iterator[str]:
    if outcome.question:
        yield f"what `{outcome.question.call}` should give, which decides between two changes"
    if outcome.history.reason:
        yield outcome.history.reason
    if late := sum(end.status == FailureStatus.NOT_ATTEMPTED for end in ends):
        yield f"{count(late, 'test')} {'was' if late == 1 else 'were'} not attempted"
    if certificate is None:
        missing = outcome.baseline.suite.isolation.missing if outcome.baseline else ()
    else:
        missing = certificate.isolation.missing
        if not certificate.full_suite.complete:
            change = "patch" if outcome.certificate else "change"
            yield _tell_partial(certificate.environment.suite, change)
        for name, result in certificate.gates:
            if result.startswith(_OPEN):
                yield _tell_gate(name, result)
    for layer in missing:
        yield f"isolation layer missing: {layer}"


def _tests(names: Sequence[str]) -> str:
    return list_some([f"`{name}`" for name in names], _NAMED)
