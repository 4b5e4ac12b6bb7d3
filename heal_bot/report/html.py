"""The report as one self-contained page: no network, no markup from data."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from html import escape
from importlib import resources
from typing import Any

from heal_bot.core.model import stable_test_ids
from heal_bot.core.outcome import AttemptRecord, FailureRecord, OutcomeRecord
from heal_bot.core.text import clip, printable
from heal_bot.report.causes import closest_attempt, list_causes
from heal_bot.report.deciding_question import list_answers
from heal_bot.report.explanation import explain_record
from heal_bot.report.failed_assertion import read_assertion
from heal_bot.report.failure_status import FAILING
from heal_bot.report.findings import list_checks
from heal_bot.report.parameter_groups import group_tests
from heal_bot.report.status_sentences import (
    describe_failure,
    describe_run,
    describe_verdict,
    rate_verdict,
)
from heal_bot.report.step_summary import fit_bytes

# What could end the script element or a line of JavaScript; inside JSON strings all are escapes.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
# A page for people stays below 2 MB with 500 failures; the rest is in the bundle.
_MOST = 1_800_000
_PLAIN = 100_000
_MESSAGES = 300_000
_REASONS = 100_000
_DIFFS = 400_000
_TOLD = 150_000
_LISTED = 5
_DIFF = 20_000
_MESSAGE = 1_000
_MARKS = 60_000
_SUSPECTS = 400
# How a result is coloured: what is neither good nor bad is in between.
_RUNS = {"healed": "good", "not_healed": "bad", "budget_exhausted": "bad",
         "environment_error": "bad", "sandbox_error": "bad"}  # fmt: skip
_FAILURES = {"fixed": "good", **dict.fromkeys(FAILING, "bad")}


def render_page(record: OutcomeRecord) -> str:
    """The HTML of an outcome.

    It says in plain text what the outcome is; the script puts tables and folds in its place. They
    come as JSON in a data block that the script reads and inserts as text alone; a content security
    policy allows this script and this style by their hash and nothing else.
    """
    said = escape(printable("\n".join(explain_record(record))), quote=False)
    style, script = _part("report.css"), _part("diff_view.js") + _part("report.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}';"
        " base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>heal-bot: {escape(describe_run(record))}</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n"
        f"<main>\n<pre>{fit_bytes(said, _PLAIN)}</pre>\n</main>\n"
        f'<script type="application/json" id="data">{_data(record)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _part(name: str) -> str:
    return resources.files("heal_bot.report").joinpath("templates", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"


def _data(record: OutcomeRecord) -> str:
    """What the page shows as JSON that is safe inside a script element.

    An escape takes six times the room, so what is full of them is cut once more.
    """
    text = ""
    for part in (1, 4, 16):
        text = json.dumps(_shown(record, part), ensure_ascii=False, separators=(",", ":"))
        for plain, escaped in _ESCAPES.items():
            text = text.replace(plain, escaped)
        if len(text.encode("utf-8", "replace")) <= _MOST:
            break
    return text


def _shown(record: OutcomeRecord, part: int) -> dict[str, Any]:
    """The outcome without what the page does not show, long texts cut to one of `part` parts.

    Tests are told by their place in `tests`.
    """
    broken = (test for attempt in record.attempts for test in attempt.newly_failing)
    names = (*(failure.test for failure in record.failures), *broken)
    places = {test: place for place, test in enumerate(dict.fromkeys(names))}
    message = _share(_MESSAGES // part, record.failures)
    reason = _share(_REASONS // part, record.failures)
    whole = record.model_dump(mode="json", by_alias=True,
                              include={"schema_version", "heal_bot", "cost"})  # fmt: skip
    findings = {"Proved": record.proved, "Inferred": record.inferred,
                "Not shown": record.not_shown, "Remarks": record.notes}  # fmt: skip
    fixed = sum(failure.status == "fixed" for failure in record.failures)
    failing = sum(failure.status in FAILING for failure in record.failures)
    closest = None if record.suggestion or record.question else closest_attempt(record)
    return whole | {
        "headline": describe_run(record), "reason": record.reason,
        "mood": _RUNS.get(record.status, "mixed"),
        "fixed": fixed, "total": fixed + failing,
        "findings": [[how, [clip(one, 400) for one in said]] for how, said in findings.items()
                     if said],
        "doubts": list(record.certificate.doubts) if record.certificate else [],
        "base_sha": record.request.base_sha,
        "tests": list(places),
        "groups": [{"said": group.said, "tests": [places[test] for test in group.tests]}
                   for group in group_tests(places)],
        "failures": [_failure(alike, message, reason) for alike in _alike(record)],
        "causes": _causes(record),
        "attempts": _attempts(record, places, part),
        "closest": closest.number if closest else None,
        "tried": sum(search.tried for search in record.searches),
        "suspects": _suspects(record),
        "diff": clip(printable(record.patch.diff), _DIFFS // part) if record.patch else "",
        "suggestion": None if record.question else _suggestion(record, part),
        "question": _question(record, part),
        "certificate": record.certificate
        and record.certificate.model_dump(mode="json", exclude={"before_after", "gates"}),
        "checks": list_checks(record),
    }  # fmt: skip


def _alike(record: OutcomeRecord) -> list[list[FailureRecord]]:
    """The failures in the order of their first, those of one function that end alike together."""
    found: dict[tuple[str, str, str], list[FailureRecord]] = {}
    for failure in record.failures:
        key = stable_test_ids.function(failure.test), describe_failure(failure), failure.reason
        found.setdefault(key, []).append(failure)
    return list(found.values())


def _failure(alike: list[FailureRecord], message: int, reason: int) -> dict[str, Any]:
    """One row of tests: what the first says stands for all."""
    first, (group, *_) = alike[0], group_tests(failure.test for failure in alike)
    values = read_assertion(first.message)
    told = (
        [clip(text, message) for text in (values.call, values.got, values.expected)]
        if values
        else None
    )
    return {
        "said": group.said, "status": describe_failure(first),
        "mood": _FAILURES.get(first.status, "mixed"), "values": told,
        "message": clip(f"{first.kind}: {first.message}".strip(": "), message),
        "reason": clip(first.reason, reason),
    }  # fmt: skip


def _share(total: int, items: Iterable[object], most: int = _MESSAGE) -> int:
    """How long each text may be so that all of them stay within the total."""
    return min(most, max(40, total // max(1, sum(1 for _ in items))))


def _attempts(record: OutcomeRecord, places: dict[str, int], part: int) -> list[dict[str, Any]]:
    """Every attempt, with less of each the more there are."""
    diff = _share(_DIFFS // part, record.attempts, _DIFF)
    told = _share(_TOLD // part, record.attempts)
    marks = _share(_MARKS, record.attempts, _MARKS)

    def listed(tests: Iterable[str]) -> list[int]:
        return [places[test] for test in tests if test in places][:marks]

    def texts(attempt: AttemptRecord) -> list[tuple[str, str]]:
        return [
            (clip(test, told), clip(text, told))
            for test, text in list(attempt.messages.items())[:_LISTED]
        ]

    return [
        {
            "number": a.number, "proposer": a.proposer, "family": a.family,
            "result": describe_verdict(a), "mood": rate_verdict(a),
            "rationale": clip(a.rationale, told), "detail": clip(a.detail, told),
            "functions": list(a.functions[:_LISTED]), "diff": clip(a.diff, diff),
            "fixed": listed(a.fixed), "still_failing": listed(a.still_failing),
            "newly_failing": listed(a.newly_failing),
            "messages": texts(a), "seconds": a.seconds, "usd": a.cost_usd,
        }
        for a in record.attempts
    ]  # fmt: skip


def _causes(record: OutcomeRecord) -> list[dict[str, Any]]:
    """What was wrong, one for each change of the patch."""
    return [
        {
            "attempt": cause.attempt.number, "function": cause.function,
            "test": cause.tests[0], "more": len(cause.tests) - 1,
            "said": clip(cause.said, 300), "repair": clip(cause.attempt.reason, 400),
        }
        for cause in list_causes(record)
    ]  # fmt: skip


def _suggestion(record: OutcomeRecord, part: int) -> dict[str, Any] | None:
    """A change that passes and is not called the repair."""
    if (found := record.suggestion) is None:
        return None
    why = [clip(reason, 400) for reason in found.why[:_LISTED]]
    return {
        "attempt": found.attempt,
        "why": why,
        "diff": clip(printable(found.diff), _DIFFS // part),
    }


def _question(record: OutcomeRecord, part: int) -> dict[str, Any] | None:
    """The call, and each choice with its answer, its change and the test that would hold it."""
    if record.question is None:
        return None
    answers = [
        {"id": answer.choice.id, "result": answer.result, "test": answer.test,
         "diff": clip(printable(answer.choice.diff), _DIFFS // part)}
        for answer in list_answers(record)
    ]  # fmt: skip
    return {"call": record.question.call, "answers": answers}


def _suspects(record: OutcomeRecord) -> list[dict[str, Any]]:
    """The suspects of each cause, the first causes first."""
    changed = {(f.path, f.qualname) for f in record.patch.functions} if record.patch else set()
    found = [
        {
            "cause": number, "tests": len(cluster.tests), "where": f"{s.path}:{s.first_line}",
            "what": s.qualname, "evidence": clip("; ".join(s.evidence), 300),
            "changed": (s.path, s.qualname) in changed,
        }
        for number, cluster in enumerate(record.clusters, 1)
        for s in cluster.suspects
    ]  # fmt: skip
    return found[:_SUSPECTS]
