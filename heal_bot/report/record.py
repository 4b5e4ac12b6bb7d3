"""Outcome to record: what the pipeline knows, flattened to what `outcome.json` says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

from heal_bot import __version__
from heal_bot.model import Attempt, Baseline, Certificate, Cluster, Failure, Outcome, Suspect
from heal_bot.outcome import SCHEMA, OutcomeRecord
from heal_bot.text import Secret, clip, printable, redact

_TEXT = 8_000
_NAME = 900
_SUSPECTS = 5
_DIFF = 200_000


def flatten(outcome: Outcome, secrets: Sequence[Secret] = ()) -> OutcomeRecord:
    """The record of an outcome; foreign text is redacted, clipped, without control characters."""

    def text(value: str, limit: int = _TEXT) -> str:
        return clip(printable(redact(value, secrets)), limit)

    patch = outcome.patch
    return OutcomeRecord.model_validate(
        {
            "schema": SCHEMA,
            "heal_bot": __version__,
            "status": outcome.status,
            "stopped": outcome.stopped,
            "reason": text(outcome.reason),
            "fingerprint": fingerprint(outcome),
            "request": _request(outcome, text),
            "failures": tuple(_failures(outcome, text)),
            "clusters": tuple(_cluster(cluster, text) for cluster in outcome.clusters),
            "searches": tuple(
                {
                    "proposer": search.proposer,
                    "path": search.target.path,
                    "qualname": search.target.qualname,
                    "family": search.family,
                    "tried": search.tried,
                    "best_fixed": search.best_fixed,
                }
                for search in outcome.searches
            ),
            "attempts": tuple(_attempt(attempt, text) for attempt in outcome.attempts),
            "patch": None
            if patch is None
            else {
                "base_sha": patch.base_sha,
                "diff": patch.diff,
                "files": tuple(
                    {"path": f.path, "base_blob": f.base_blob, "content": f.content}
                    for f in patch.files
                ),
                "functions": tuple(
                    {"path": path, "qualname": qualname}
                    for path, qualname in dict.fromkeys(
                        (edit.target.path, edit.target.qualname) for edit in patch.edits
                    )
                ),
                "fixed": patch.fixed,
                "still_failing": patch.still_failing,
            },
            "certificate": _certificate(outcome.certificate, text),
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
        }
    )


def fingerprint(outcome: Outcome) -> str:
    """Twelve hex digits that name this set of failures on this branch, whatever the commit."""
    baseline = outcome.baseline
    tests = sorted(f.test for f in baseline.confirmed) if baseline else []
    key = json.dumps([outcome.request.repo, outcome.request.base_ref, tests])
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


def _failures(outcome: Outcome, text: Clean) -> list[dict[str, Any]]:
    """Every reported failure with the status it ended in."""
    baseline = outcome.baseline or None
    if baseline is None:
        return []
    best = _best_attempts(outcome.attempts)
    rows = []
    for item in baseline.reproduced:
        failure = item.failure
        clusters = [c for c in outcome.clusters if failure in c.failures]
        status, reason = _status(outcome, baseline, failure, item.status)
        rows.append(
            {
                "test": text(failure.test, _NAME),
                "status": status,
                "kind": text(failure.kind, _NAME),
                "message": text(failure.message),
                "reason": text(reason),
                "flake_rate": item.flake_rate,
                "best_attempt": best.get(failure.test),
                "cluster_ids": tuple(cluster.id for cluster in clusters),
                "suspects": _suspects(clusters[0].suspects if clusters else (), text),
            }
        )
    return rows


def _status(
    outcome: Outcome, baseline: Baseline, failure: Failure, reproduced: str
) -> tuple[str, str]:
    """The final status of a failure, and the reason when it is not fixed."""
    if reproduced != "confirmed":
        return reproduced, failure.reason
    if outcome.patch is not None and failure.test in outcome.patch.fixed:
        return "fixed", ""
    tried = any(
        failure in cluster.failures
        for cluster in outcome.clusters
        for searched in (*outcome.searches,)
        if any(s.target == searched.target for s in cluster.suspects)
    ) or any(
        attempt.cluster == cluster.id
        for cluster in outcome.clusters
        if failure in cluster.failures
        for attempt in outcome.attempts
    )
    if not tried:
        return "not_attempted", failure.reason or outcome.reason
    return "still_failing", failure.reason or _why_not(outcome, failure)


def _why_not(outcome: Outcome, failure: Failure) -> str:
    """In words: what the best attempt lacked, or that none was worth recording."""
    ids = {cluster.id for cluster in outcome.clusters if failure in cluster.failures}
    mine = [attempt for attempt in outcome.attempts if attempt.cluster in ids]
    tried = sum(s.tried for s in outcome.searches)
    if any(a.verdict.status == "unconfirmed" for a in mine):
        return "a candidate passed the search but not the cold run"
    if any(a.verdict.status == "regression" for a in mine):
        broken = next(a for a in mine if a.verdict.status == "regression").verdict.newly_failing
        return f"regression in {broken[0].test}" if broken else "regression"
    if outcome.stopped == "budget":
        return "the budget ended before a candidate was found"
    return f"no candidate: none of {tried} tried made this test pass without breaking another"


def _best_attempts(attempts: Sequence[Attempt]) -> dict[str, int]:
    """Per test the attempt that fixed most while fixing it, else the closest one that failed it."""
    best: dict[str, tuple[tuple[bool, int], int]] = {}
    for attempt in attempts:
        verdict = attempt.verdict
        tests = [(test, True) for test in verdict.fixed]
        tests += [(failure.test, False) for failure in verdict.still_failing]
        for test, fixed in tests:
            rank = (fixed, len(verdict.fixed))
            if test not in best or rank > best[test][0]:
                best[test] = (rank, attempt.number)
    return {test: number for test, (_, number) in best.items()}


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
        "diff": text(attempt.diff, _DIFF),
        "verdict": verdict.status,
        "detail": text(verdict.detail),
        "fixed": tuple(text(test, _NAME) for test in verdict.fixed),
        "still_failing": tuple(text(f.test, _NAME) for f in verdict.still_failing),
        "newly_failing": tuple(text(f.test, _NAME) for f in verdict.newly_failing),
        "messages": {
            text(f.test, _NAME): text(f.message, 2_000)
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


def _certificate(certificate: Certificate | None, text: Clean) -> dict[str, Any] | None:
    if certificate is None:
        return None
    environment, isolation, suite = (
        certificate.environment,
        certificate.isolation,
        certificate.full_suite,
    )
    return {
        "base_sha": certificate.base_sha,
        "tree_sha": certificate.tree_sha,
        "tests_hash": certificate.tests_hash,
        "environment": {
            "python": environment.version,
            "lock_hash": environment.lock_hash,
            "manifest_hash": environment.manifest_hash,
        },
        "isolation": {
            "mode": isolation.mode,
            "layers": isolation.layers,
            "missing": isolation.missing,
        },
        "baseline_runs": certificate.baseline_runs,
        "verify_runs": certificate.verify_runs,
        "before_after": tuple(
            {"test": text(test, _NAME), "before": before, "after": after}
            for test, before, after in certificate.before_after
        ),
        "full_suite": {
            "complete": suite.complete,
            "passed": suite.passed,
            "failed": suite.failed,
            "skipped": suite.skipped,
            "seconds": round(suite.seconds, 3),
        },
        "tests_unchanged": certificate.tests_unchanged,
        "methods": dict(certificate.methods),
        "gates": tuple({"name": name, "result": result} for name, result in certificate.gates),
        "doubts": tuple(text(doubt) for doubt in certificate.doubts),
    }
