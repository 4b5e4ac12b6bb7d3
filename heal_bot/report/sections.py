"""What is folded below a summary, each part from the record alone, all foreign text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING

from heal_bot.core.model import stable_test_ids
from heal_bot.core.text import code_span, count, fence, for_markdown, one_line
from heal_bot.report.causes import describe_attempt, list_alternatives
from heal_bot.report.causes import list_causes as causes_of
from heal_bot.report.compact_diff import shorten_diff
from heal_bot.report.failure_status import describe_uncollected
from heal_bot.report.findings import list_checks
from heal_bot.report.markdown import fold, more, prose, sentence
from heal_bot.report.parameter_groups import group_tests
from heal_bot.report.status_sentences import describe_failure, describe_verdict

if TYPE_CHECKING:
    from heal_bot.core.outcome import AttemptRecord, FailureRecord, OutcomeRecord, SuggestionRecord

_ROWS = 20
_MESSAGE = 600
_LAYERS = 20
_REPEATED = 20
_DIFFS = 5
_LINES = 60


def list_tests(record: OutcomeRecord, rows: int = _ROWS, message: int = _MESSAGE) -> str:
    """Every failure: those that are fixed by name alone, the others with what they say and why."""
    every = [failure.test for failure in record.failures]
    fixed = group_tests((f.test for f in record.failures if f.status == "fixed"), every)
    lines = [
        f"- fixed: {code_span(group.name)}{f': {group.parameters}' if group.parameters else ''}"
        for group in fixed[:rows]
    ]
    lines += more(sum(len(group.tests) for group in fixed[rows:]), "more fixed")
    lines += [f"- {prose(said, 600)}" for said in describe_uncollected(record)]
    others = [f for f in record.failures if f.status not in {"fixed", "collection_error"}]
    reasons: set[str] = set()
    for failure in others[:rows]:
        lines += _failing(failure, message, known=failure.reason in reasons)
        reasons.add(failure.reason)
    lines += more(len(others) - rows)
    return fold(f"Tests ({len(every)})", "\n".join(lines))


def _failing(failure: FailureRecord, message: int, *, known: bool) -> list[str]:
    """A failure with its message, and with its reason unless another had the same."""
    told = f": {prose(failure.reason, 300)}" if failure.reason and not known else ""
    line = f"- {prose(describe_failure(failure))}: {code_span(failure.test)}{told}"
    text = f"{failure.kind}: {failure.message}".strip(": ")
    if not text or not message:
        return [line]
    block = fence(text, "", message).split("\n")
    return [line, "", *(f"  {each}" for each in block), ""]


def list_suspects(record: OutcomeRecord, rows: int = 12) -> str:
    """Who was suspected of each cause, and why; of each cause the first few."""
    changed = {(f.path, f.qualname) for f in record.patch.functions} if record.patch else set()
    each = max(1, rows // max(1, len(record.clusters)))
    ranked = [
        (number, suspect)
        for number, cluster in enumerate(record.clusters, 1)
        for suspect in cluster.suspects[:each]
    ]
    table = [
        f"| {number} | {code_span(f'{s.path}:{s.first_line}')} | {code_span(s.qualname)}"
        f"{' (changed)' if (s.path, s.qualname) in changed else ''}"
        f" | {for_markdown('; '.join(s.evidence), 300)} |"
        for number, s in ranked[:rows]
    ]
    if not table:
        return ""
    every = sum(len(cluster.suspects) for cluster in record.clusters)
    head = ["| cause | where | what | evidence |", "| --- | --- | --- | --- |"]
    return fold(f"Suspects ({every})", "\n".join([*head, *table, *more(every - len(table))]))


def list_attempts(record: OutcomeRecord, rows: int = _ROWS, diffs: int = _DIFFS) -> str:
    """The log of attempts: a table, then the changes that fix what the patch does not."""
    if not record.attempts:
        return ""
    tried = max(len(record.attempts), sum(search.tried for search in record.searches))
    held = {cause.attempt.number for cause in causes_of(record)}
    intro = []
    if held and any(a.verdict == "fixed" and a.number not in held for a in record.attempts):
        intro = ["Where several fix the same tests, the likeliest was taken.", ""]
    table = [_attempt_row(a, taken=a.number in held) for a in record.attempts[:rows]]
    head = ["| # | by | function | result | what happened | seconds |",
            "| --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    lines = [*intro, *head, *table, *more(len(record.attempts) - rows)]
    fixed = set(record.patch.fixed) if record.patch else set()
    left = [a for a in record.attempts if a.diff and not fixed.issuperset(a.fixed)]
    for attempt in left[:diffs]:
        lines += ["", f"Attempt {attempt.number}:", ""]
        lines.append(fence(shorten_diff(attempt.diff, _LINES), "diff", 4_000))
    title = f"Attempts ({len(record.attempts)} of {tried:,} candidates)"
    return fold(title, "\n".join(lines))


def _attempt_row(attempt: AttemptRecord, *, taken: bool) -> str:
    where = code_span(", ".join(attempt.functions[:3]), 160) if attempt.functions else ""
    who = for_markdown(f"{attempt.proposer} {attempt.family}", 60)
    told = attempt.reason if attempt.word == "regression" else describe_attempt(attempt)
    what = prose(told, 200)
    result = f"{describe_verdict(attempt)}{', in the patch' if taken else ''}"
    return f"| {attempt.number} | {who} | {where} | {result} | {what} | {attempt.seconds:.1f} |"


def list_evidence(record: OutcomeRecord, doubts: Sequence[str], rows: int = 10) -> str:
    """What follows without proof, what no run showed, further doubts, and remarks."""
    lists = {
        "Further doubts": list(doubts),
        "Inferred": [prose(one, 400) for one in record.inferred],
        "Not shown": [prose(one, 400) for one in record.not_shown],
        "Remarks": [prose(one, 400) for one in record.notes],
    }
    parts = [
        "\n".join([f"{head}:\n", *(f"- {one}" for one in said[:rows]), *more(len(said) - rows)])
        for head, said in lists.items()
        if said
    ]
    return fold("What is not proved", "\n\n".join(parts))


def show_suggestion(record: OutcomeRecord, limit: int = 20_000) -> str:
    """A change that passes beside the patch, and why it is not proposed."""
    if (found := record.suggestion) is None:
        return ""
    parts = [f"This change {describe_suggestion(found)}", fence(found.diff, "diff", limit)]
    for other in list_alternatives(record)[:_DIFFS]:
        parts.append(f"In its place, attempt {other.number} passes too, unconfirmed:")
        parts.append(fence(shorten_diff(other.diff, _LINES), "diff", 4_000))
    return fold("Suggestion", "\n\n".join(parts))


def describe_suggestion(found: SuggestionRecord) -> str:
    """What it passes, and what its evidence lacks."""
    why = " ".join(sentence(reason) for reason in found.why[:_LAYERS])
    tests = count(len(found.fixed), "failing test")
    return f"passes {tests} in cold runs, but is not proposed as the fix. {why}"


def show_choices(record: OutcomeRecord, limit: int = 20_000) -> str:
    """The whole change of each choice, and how one is taken from the bundle."""
    if not record.choices:
        return ""
    commands = (f"`heal-bot apply --bundle DIR --pick {choice.id}`" for choice in record.choices)
    parts = [f"{choice.id}:\n\n{fence(choice.diff, 'diff', limit)}" for choice in record.choices]
    picks = " or ".join(f"`/heal pick {choice.id}`" for choice in record.choices)
    told = (
        f"Comment {picks} to have one proposed. In a checkout, {' or '.join(commands)} writes one;"
        " `DIR` is the bundle of the run."
    )
    return fold("Both changes", "\n\n".join([*parts, told]))


def show_commit(record: OutcomeRecord) -> str:
    """What the commit changed that broke the tests."""
    if record.regression is None or not record.regression.diff:
        return ""
    return fold("What the commit changed", fence(record.regression.diff, "diff", 4_000))


def show_change(diff: str, limit: int = 50_000) -> str:
    """A diff as `git apply` takes it."""
    return fold("The whole change", fence(diff, "diff", limit)) if diff else ""


def show_certificate(record: OutcomeRecord) -> str:
    """What ran, isolated how, and which checks it passed."""
    certificate = record.certificate
    if certificate is None:
        return ""
    suite, isolation = certificate.full_suite, certificate.isolation
    hashed = f" (hash {code_span(certificate.tests_hash[:16])})" if certificate.tests_hash else ""
    layers = for_markdown(", ".join(isolation.layers[:_LAYERS]), 400)
    kept = "unchanged" if certificate.tests_unchanged else "CHANGED"
    lines = [
        f"- commit `{certificate.base_sha}`, {suite.skipped} skipped, {suite.seconds:.1f} s",
        f"- tests and test configuration {kept}{hashed}",
        f"- isolation {isolation.mode}: {layers or 'none'}",
    ]
    added = ", ".join(certificate.environment.added[:_LAYERS])
    lines += [f"- added to the environment: {for_markdown(added, 400)}"] if added else []
    variables = ", ".join(certificate.environment.variables[:_LAYERS])
    lines += [f"- variables of the workflow: {for_markdown(variables, 400)}"] if variables else []
    hosts = ", ".join(certificate.environment.network[:_LAYERS])
    lines += [f"- packages were built with network to: {for_markdown(hosts, 400)}"] if hosts else []
    lines += [f"- {for_markdown(said, 400)}" for said in list_checks(record)[:_LAYERS]]
    return fold("Certificate", "\n".join(lines))


def show_reproduction(record: OutcomeRecord, branch: str) -> str:
    """One command that checks the claim on the branch of the patch."""
    fixed = (f.test for f in record.failures if f.status == "fixed")
    tests = list(dict.fromkeys(map(stable_test_ids.runnable, fixed)))
    command = f"git fetch origin {branch} && git checkout FETCH_HEAD && python -m pytest"
    names = [group.name for group in group_tests(tests)]
    shown = " \\\n  ".join([command, *(quote(one_line(test)) for test in names[:_REPEATED])])
    left = more(len(names) - _REPEATED)
    return fold("Reproduce", "\n".join([fence(shown, "sh", 6_000), *left]))


def show_cost(record: OutcomeRecord) -> str:
    """What the run took, in one line."""
    spent = record.cost
    usd = "an unknown sum" if spent.usd is None else f"${spent.usd:.2f}"
    tokens = f" for {count(spent.input_tokens + spent.output_tokens, 'token')}"
    asked = tokens if spent.input_tokens + spent.output_tokens else ""
    version = for_markdown(record.heal_bot, 40)
    return f"heal-bot {version} · {spent.seconds:.0f} s · {usd}{asked}"
