"""Outcome to record: what the pipeline knows, flattened to what `outcome.json` says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from heal_bot.core import VERSION
from heal_bot.core.model import (
    Attempt,
    Broken,
    Certificate,
    ChangedFile,
    Choice,
    Cluster,
    Confidence,
    Edit,
    History,
    Outcome,
    PackageChange,
    Patch,
    Question,
    Search,
    Suggestion,
    SuiteTotals,
    Suspect,
    stable_test_ids,
)
from heal_bot.core.outcome import MAX_SENTENCES, SCHEMA, OutcomeRecord
from heal_bot.core.text import Secret, clip, hide_values, printable, redact
from heal_bot.report.failure_status import Fate, list_fates
from heal_bot.report.findings import list_findings
from heal_bot.source import edit, guard, paths

_TEXT = 8_000
_NAME = 900
_SUSPECTS = 5
_PLACES = 20
_DIFF = 200_000
_CHANGE = 20_000


def flatten(outcome: Outcome, secrets: Sequence[Secret] = (), project: str = "") -> OutcomeRecord:
    """The record of an outcome; foreign text is redacted, clipped, without control characters.

    Tests whose ids change from run to run have names that hold in the next one. `project` is the
    folder whose tests they are, where the repository holds several.
    """
    names = _lasting(outcome)

    def text(value: str, limit: int = _TEXT, *, source: bool = False) -> str:
        hide = hide_values if source else redact
        return clip(printable(hide(names.get(value, value), secrets)), limit)

    return OutcomeRecord.model_validate(
        {
            "schema": SCHEMA,
            "heal_bot": VERSION,
            "status": outcome.status,
            "stopped": outcome.stopped,
            "limit": outcome.limit if outcome.stopped == "budget" else "",
            "reason": text(outcome.reason),
            "fingerprint": fingerprint_failures(outcome, project),
            "request": _request(outcome, text),
            "failures": tuple(_failure(fate, text) for fate in list_fates(outcome)),
            "clusters": tuple(_cluster(cluster, text) for cluster in outcome.clusters),
            "searches": tuple(_search(search) for search in outcome.searches),
            "attempts": tuple(_attempt(attempt, text) for attempt in outcome.attempts),
            "patch": _patch(outcome.patch, names, outcome.confidence),
            "certificate": _certificate(outcome, text),
            "report": {
                "flags": tuple(text(flag, _NAME) for flag in outcome.report.flags),
                "skipped": tuple(text(case, _NAME) for case in outcome.report.skipped),
            },
            "memory": {
                "tried": tuple(
                    {"digest": digest, "verdict": verdict}
                    for digest, verdict in outcome.memory.tried
                ),
                "lessons": outcome.memory.lessons,
            },
            "cost": {
                "usd": outcome.cost.usd,
                "input_tokens": outcome.cost.input_tokens,
                "output_tokens": outcome.cost.output_tokens,
                "seconds": round(outcome.seconds, 3),
            },
            "notes": tuple(text(note) for note in outcome.notes),
            "suggestion": _suggestion(outcome.suggestion, text, names),
            "regression": _regression(outcome.history, text),
            **{
                name: tuple(" ".join(text(one, _NAME).split()) for one in said[:MAX_SENTENCES])
                for name, said in list_findings(outcome).items()
            },
            **_question(outcome.question, text, names),
        }
    )


def _search(search: Search) -> dict[str, Any]:
    return {
        "proposer": search.proposer,
        "path": search.target.path,
        "qualname": search.target.qualname,
        "family": search.family,
        "tried": search.tried,
        "best_fixed": search.best_fixed,
    }


def _lasting(outcome: Outcome) -> dict[str, str]:
    """The names that hold, by the ids of this run."""
    baseline = outcome.baseline
    return stable_test_ids.placed(baseline.suite.collected, baseline.unsteady) if baseline else {}


def _patch(
    patch: Patch | None, names: Mapping[str, str], confidence: Confidence | None
) -> dict[str, Any] | None:
    if patch is None:
        return None
    return {
        "base_sha": patch.base_sha,
        "diff": patch.diff,
        "files": tuple(map(asdict, patch.files)),
        "functions": _functions(patch.edits),
        "fixed": tuple(names.get(test, test) for test in patch.fixed),
        "still_failing": tuple(names.get(test, test) for test in patch.still_failing),
        "confidence": asdict(confidence) if confidence else None,
    }


def _functions(edits: Sequence[Edit]) -> tuple[dict[str, str], ...]:
    changed = dict.fromkeys((edit.target.path, edit.target.qualname) for edit in edits)
    return tuple({"path": path, "qualname": name} for path, name in changed)


def _regression(history: History, text: Clean) -> dict[str, Any] | None:
    if not history.regressions:
        return _package(history.packages, text)
    found = history.regressions[0]
    return {
        "good_sha": found.good_sha,
        "bad_sha": found.bad_sha,
        "title": text(found.title, _NAME),
        "confirmed": found.confirmed,
        "tests": tuple(text(test, _NAME) for test in found.tests),
        "runs": history.runs,
        "diff": text("".join(map(_changed, found.files)), _CHANGE, source=True),
    }


def _changed(file: ChangedFile) -> str:
    """The change of a source file as a diff; '' for tests, and for what is no text."""
    try:
        before, after = guard.check_text(file.before), guard.check_text(file.after)
    except guard.SourceRejected:
        return ""
    shown = file.path.endswith(".py") and not paths.is_test(file.path)
    return edit.diff(file.path, before, after) if shown else ""


def _package(changes: Sequence[PackageChange], text: Clean) -> dict[str, Any] | None:
    found = next((change for change in changes if change.single), None)
    if found is None:
        return None
    bump = found.bumps[0]
    return {
        "confirmed": True,
        "tests": tuple(text(test, _NAME) for test in found.tests),
        "runs": found.runs,
        "package": {"name": bump.name, "good": bump.good, "bad": bump.bad},
    }


def _suggestion(
    suggestion: Suggestion | None, text: Clean, names: Mapping[str, str]
) -> dict[str, Any] | None:
    if suggestion is None:
        return None
    attempt = suggestion.attempt
    return {
        "diff": attempt.diff,
        "functions": _functions(attempt.candidate.edits),
        "proposer": attempt.candidate.proposer,
        "why": tuple(text(reason) for reason in (*suggestion.why, *_beneath(suggestion.base))),
        "attempt": attempt.number,
        "fixed": tuple(text(test, _NAME) for test in suggestion.fixed),
        "patch": _patch(suggestion.confirmed.patch, names, attempt.confidence),
    }


def _question(question: Question | None, text: Clean, names: Mapping[str, str]) -> dict[str, Any]:
    if question is None:
        return {}
    answers = tuple(
        {"choice": choice.id, "result": text(choice.result, _NAME, source=True)}
        for choice in question.choices
    )
    return {
        "choices": tuple(_choice(choice, names) for choice in question.choices),
        "question": {"call": text(question.call, _NAME, source=True), "answers": answers},
    }


def _choice(choice: Choice, names: Mapping[str, str]) -> dict[str, Any]:
    patch, attempt = choice.confirmed.patch, choice.attempt
    return {
        "id": choice.id,
        "diff": patch.diff,
        "functions": _functions(patch.edits),
        "proposer": attempt.candidate.proposer,
        "attempt": attempt.number,
        "patch": _patch(patch, names, None),
    }


def _beneath(base: Patch | None) -> tuple[str, ...]:
    """What a suggestion stands on, which its diff does not show."""
    if base is None:
        return ()
    names = ", ".join(f"{f['path']}::{f['qualname']}" for f in _functions(base.edits))
    return (f"it was confirmed on top of a change of {names}",)


def fingerprint_failures(outcome: Outcome, project: str = "") -> str:
    """Twelve hex digits that name this set of failures on this branch, whatever the commit.

    Two projects may have tests of one name; those that bear the folder in it are told apart so.
    """
    baseline = outcome.baseline
    names = _lasting(outcome)
    tests = sorted(names.get(f.test, f.test) for f in baseline.confirmed) if baseline else []
    named = [outcome.request.repo, outcome.request.base_ref, tests]
    apart = project and not any(test.startswith(f"{project}/") for test in tests)
    key = json.dumps([*named, project] if apart else named)
    return hashlib.sha256(key.encode()).hexdigest()[:12]


Clean = Callable[..., str]


def _request(outcome: Outcome, text: Clean) -> dict[str, Any]:
    request = outcome.request
    return {
        "repo": text(request.repo, _NAME),
        "base_sha": request.base_sha,
        "base_ref": text(request.base_ref, _NAME),
        "tested_sha": request.tested_sha,
        "head_repo": text(request.head_repo, _NAME),
        "trigger": request.trigger,
        "actor": text(request.actor, _NAME),
        "trust": request.trust.value,
        "run_id": request.run_id,
        "pull_number": request.pull_number,
        "verb": request.verb,
        "instruction": text(request.instruction),
    }


def _failure(fate: Fate, text: Clean) -> dict[str, Any]:
    failure, broken = fate.failure, fate.failure.broken or Broken("", 0, "")
    return {
        "test": text(failure.test, _NAME),
        "status": fate.status,
        "kind": text(failure.kind, _NAME),
        "message": text(failure.message),
        "reason": text(fate.reason),
        "flake_rate": fate.flake_rate,
        "best_attempt": fate.best_attempt,
        "cluster_ids": tuple(cluster.id for cluster in fate.clusters),
        "suspects": _suspects(fate.clusters[0].suspects if fate.clusters else (), text),
        "source": text(broken.path, _NAME),
        "line": broken.line,
        "commit": broken.sha,
        "title": text(broken.title, _NAME),
        "failed_on": tuple(text(place, _NAME) for place in failure.failed_on[:_PLACES]),
    }


def _cluster(cluster: Cluster, text: Clean) -> dict[str, Any]:
    return {
        "id": cluster.id,
        "tests": tuple(text(failure.test, _NAME) for failure in cluster.failures),
        "suspects": _suspects(cluster.suspects, text),
        "signature": text(cluster.signature),
    }


def _suspects(suspects: Sequence[Suspect], text: Clean) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "path": suspect.target.path,
            "qualname": suspect.target.qualname,
            "nth": suspect.target.nth,
            "kind": suspect.target.kind,
            "first_line": suspect.target.first_line,
            "score": round(suspect.score, 4),
            "evidence": tuple(text(line, _NAME) for line in suspect.evidence),
        }
        for suspect in suspects[:_SUSPECTS]
    )


def _attempt(attempt: Attempt, text: Clean) -> dict[str, Any]:
    candidate, verdict = attempt.candidate, attempt.verdict
    return {
        "number": attempt.number,
        "cluster": attempt.cluster,
        "proposer": candidate.proposer,
        "family": text(candidate.family, _NAME),
        "rationale": text(candidate.rationale),
        "functions": tuple(
            dict.fromkeys(f"{e.target.path}::{e.target.qualname}" for e in candidate.edits)
        ),
        "diff": text(attempt.diff, _DIFF, source=True),
        "verdict": verdict.status,
        "cause": verdict.cause.value,
        "detail": text(verdict.detail),
        "fixed": tuple(text(test, _NAME) for test in verdict.fixed),
        "still_failing": tuple(text(f.test, _NAME) for f in verdict.still_failing),
        "newly_failing": tuple(text(f.test, _NAME) for f in verdict.newly_failing),
        "messages": {
            text(f.test, _NAME): text(f"{f.kind}: {f.message}".strip(": "), 2_000)
            for f in (*verdict.still_failing, *verdict.newly_failing)[:100]
        },
        "seconds": round(attempt.seconds, 3),
        "cost_usd": candidate.cost.usd,
        "tokens": {
            "input": candidate.cost.input_tokens,
            "output": candidate.cost.output_tokens,
            "cached": candidate.cost.cached_tokens,
        },
    }


def _list_unrun(outcome: Outcome, certificate: Certificate) -> tuple[str, ...]:
    """The systems and Pythons of CI where the failures were seen, and this was not verified."""
    reproduced = outcome.baseline.reproduced if outcome.baseline else ()
    legs = {leg for item in reproduced for leg in item.failure.legs}
    places = {leg.differs(certificate.environment.version) for leg in legs}
    return tuple(sorted(places - {""})[:_PLACES])


def _certificate(outcome: Outcome, text: Clean) -> dict[str, Any] | None:
    if (certificate := outcome.certificate) is None:
        return None
    environment = certificate.environment
    return {
        "base_sha": certificate.base_sha,
        "tree_sha": certificate.tree_sha,
        "tests_hash": certificate.tests_hash,
        "environment": {
            "python": environment.version,
            "lock_hash": environment.lock_hash,
            "manifest_hash": environment.manifest_hash,
            "network": tuple(text(host, _NAME) for host in environment.network),
            "added": tuple(text(package, _NAME) for package in environment.added),
            "doctests": tuple(text(path, _NAME) for path in environment.doctests),
            "variables": tuple(text("=".join(one), _NAME) for one in environment.variables),
            "command": text(environment.suite.command, _NAME),
        },
        "isolation": asdict(certificate.isolation),
        "baseline_runs": certificate.baseline_runs,
        "verify_runs": certificate.verify_runs,
        "before_after": tuple(
            {"test": text(test, _NAME), "before": before, "after": after}
            for test, before, after in certificate.before_after
        ),
        "full_suite": _suite(certificate.full_suite),
        "tests_unchanged": certificate.tests_unchanged,
        "methods": dict(certificate.methods),
        "gates": tuple(
            {"name": name, "result": text(result, _NAME)} for name, result in certificate.gates
        ),
        "doubts": tuple(text(doubt) for doubt in certificate.doubts),
        "suite_before": certificate.suite_before and _suite(certificate.suite_before),
        "not_run": tuple(text(place, _NAME) for place in _list_unrun(outcome, certificate)),
        "undoes": certificate.undoes,
    }


def _suite(suite: SuiteTotals) -> dict[str, Any]:
    return asdict(suite) | {"seconds": round(suite.seconds, 3)}
