"""The parts of a pull request's text, each from the record alone, all foreign text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING

from heal_bot.core.model import stable_test_ids
from heal_bot.core.text import code_span, count, fence, for_markdown, one_line
from heal_bot.report.causes import describe_attempt
from heal_bot.report.causes import list_causes as causes_of
from heal_bot.report.failure_status import FAILING, describe_uncollected
from heal_bot.report.findings import list_proved

if TYPE_CHECKING:
    from heal_bot.core.outcome import AttemptRecord, FailureRecord, OutcomeRecord

_ROWS = 40
_MESSAGE = 600
_LAYERS = 20
_REPEATED = 20


def verdict(record: OutcomeRecord, changed: int, *, claimed: bool) -> str:
    """One line: what came of the run, and on what authority."""
    fixed = sum(f.status == "fixed" for f in record.failures)
    failing = sum(f.status in FAILING for f in record.failures)
    words = {"healed": "Healed", "partly_healed": "Partly healed"}
    head = words.get(record.status, record.status.replace("_", " ").capitalize())
    if record.patch is None:
        return f"**{head}.** {count(failing, 'test')} still {'fails' if failing == 1 else 'fail'}."
    told = f"{count(fixed, 'failing test')} {'passes' if fixed == 1 else 'pass'} again"
    if failing:
        told += f", {failing} still {'fails' if failing == 1 else 'fail'}"
    certificate = record.certificate
    if claimed:
        how = "claimed by an unprivileged run, not verified here"
    elif certificate is None:
        how = "not verified"
    else:
        how = f"verified in a fresh checkout of `{certificate.base_sha[:12]}`"
    undoes = f"**undoes {certificate.undoes}.** " if certificate and certificate.undoes else ""
    return f"{undoes}**{head}.** {count(changed, 'function')} changed: {told}; {how}."


def findings(
    record: OutcomeRecord, rows: int = 10, limit: int = 400, *, claimed: bool = False
) -> str:
    """What is proved, what is inferred, what is not shown; without a patch the guilty commit."""
    how = "Claimed by an unprivileged run" if claimed else "Proved"
    lists = {
        how: tuple(list_proved(record)),
        "Inferred": record.inferred,
        "Not shown": record.not_shown,
    }
    parts = []
    for head, said in lists.items():
        lines = [f"- {_prose(one, limit)}" for one in said[:rows]]
        if lines:
            parts.append("\n".join([f"**{head}:**\n", *lines, *_more(len(said) - rows)]))
    if record.patch is None and record.regression and record.regression.diff:
        shown = fence(record.regression.diff, "diff", 4_000)
        head = "<details><summary>What the commit changed</summary>"
        parts.append(f"{head}\n\n{shown}\n\n</details>")
    return "\n\n".join(parts)


def causes(record: OutcomeRecord) -> str:
    """One sentence per change that the patch holds: where, which tests it broke, the repair."""
    lines = []
    for cause in causes_of(record):
        more = f" and {len(cause.tests) - 1} more" if len(cause.tests) > 1 else ""
        said = f" ({for_markdown(cause.said, 160)})" if cause.said else ""
        why = _prose(cause.attempt.reason, 400).rstrip(".")
        lines.append(
            f"- {code_span(cause.function)} made {code_span(cause.tests[0])}{more} fail{said}"
            f"{f'; repair: {why}' if why else ''}."
        )
    return _section("What was wrong", "\n".join(lines))


def change(diff: str, limit: int = 40_000) -> str:
    """The verified diff; nothing where there is none."""
    return "" if not diff else _section("The change", fence(diff, "diff", limit))


def suggestion(record: OutcomeRecord, limit: int = 20_000) -> str:
    """A change that passes and is not called the repair: why not, and the change."""
    if (found := record.suggestion) is None:
        return ""
    who = for_markdown(found.proposer, 60)
    head = f"This change of {who} is not called the repair, and nothing is proposed:"
    why = [f"- {for_markdown(reason, 400)}" for reason in found.why[:_LAYERS]]
    shown = fence(found.diff, "diff", limit)
    return _section("A suggestion, no repair", "\n\n".join([head, "\n".join(why), shown]))


def before_after(record: OutcomeRecord, rows: int = _ROWS) -> str:
    """What each reported failure said before and after."""
    if record.certificate is None:
        return ""
    pairs = record.certificate.before_after
    table = [
        f"| {code_span(row.test)} | {for_markdown(row.before, 40)}"
        f" | {for_markdown(row.after, 40)} |"
        for row in pairs[:rows]
    ]
    head = ["| test | before | after |", "| --- | --- | --- |"]
    return _section(
        "Before and after", "\n".join([*head, *table, *_more(len(pairs) - rows)]) if table else ""
    )


def still_failing(record: OutcomeRecord, rows: int = _ROWS, message: int = _MESSAGE) -> str:
    """The tests that fail yet, with what they say and why nothing was found."""
    words = {
        "flaky": "flaky: fails only sometimes",
        "order_dependent": "depends on the order of the tests",
        "environment": "fails because of its environment",
        "stale_test": "the test, not the code, seems out of date",
        "not_reproduced": "did not fail here",
        "not_attempted": "not attempted",
        "explained": "its cause is known, and nothing to repair in the code",
    }
    failing = [f for f in record.failures if f.status != "fixed"]
    lines = [f"- {_prose(said, 600)}" for said in describe_uncollected(record)]
    others = [f for f in failing if f.status != "collection_error"]
    for failure in others[:rows]:
        reason = failure.reason or words.get(failure.status, "")
        told = f": {for_markdown(reason, 300)}" if reason else ""
        lines.append(f"- {code_span(failure.test)} ({failure.status.replace('_', ' ')}){told}")
        text = f"{failure.kind}: {failure.message}".strip(": ")
        if text and message:
            block = fence(text, "", message)
            lines.append("\n" + "\n".join(f"  {line}" for line in block.split("\n")) + "\n")
    return _section(
        f"Not fixed ({len(failing)})", "\n".join([*lines, *_more(len(others) - rows)])
    ) if failing else ""  # fmt: skip


def suspects(record: OutcomeRecord, rows: int = 12) -> str:
    """Who was suspected of each cause, how strongly, and why; of each cause the first few."""
    changed = {(f.path, f.qualname) for f in record.patch.functions} if record.patch else set()
    each = max(1, rows // max(1, len(record.clusters)))
    ranked = [
        (number, suspect)
        for number, cluster in enumerate(record.clusters, 1)
        for suspect in cluster.suspects[:each]
    ]
    table = [
        f"| {number} | {code_span(f'{s.path}:{s.first_line}')} | {code_span(s.qualname)}"
        f"{' (changed)' if (s.path, s.qualname) in changed else ''} | {s.score:.2f}"
        f" | {for_markdown('; '.join(s.evidence), 300)} |"
        for number, s in ranked[:rows]
    ]
    left = sum(len(cluster.suspects) for cluster in record.clusters) - len(table)
    head = ["| cause | where | what | score | evidence |", "| --- | --- | --- | --- | --- |"]
    text = "\n".join([*head, *table, *_more(left)]) if table else ""
    return _section("Suspects", text)


def attempts(record: OutcomeRecord, rows: int = _ROWS, diffs: int = 4_000) -> str:
    """The log of every attempt: a table, then each diff and its messages to unfold."""
    tried = sum(search.tried for search in record.searches)
    intro = f"{count(tried, 'candidate')} tried, {count(len(record.attempts), 'attempt')} recorded."
    held = {cause.attempt.number for cause in causes_of(record)}
    if held and any(a.verdict == "fixed" and a.number not in held for a in record.attempts):
        intro += " Where several fix the same tests, the likeliest was taken."
    table = [_attempt_row(a, taken=a.number in held) for a in record.attempts[:rows]]
    head = ["| # | by | function | verdict | fixed | what happened | seconds |",
            "| --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    lines = [intro, "", *head, *table, *_more(len(record.attempts) - rows)] if table else [intro]
    if diffs:
        lines += [_attempt_details(a, diffs) for a in record.attempts[:rows] if a.diff]
    return _section(f"Attempts ({len(record.attempts)})", "\n".join(lines))


def _attempt_row(attempt: AttemptRecord, *, taken: bool) -> str:
    where = code_span(", ".join(attempt.functions[:3]), 160) if attempt.functions else ""
    who = for_markdown(f"{attempt.proposer} {attempt.family}", 60)
    what = _prose(describe_attempt(attempt), 200)
    verdict = f"{attempt.word}, in the patch" if taken else attempt.word
    return (
        f"| {attempt.number} | {who} | {where} | {verdict} | {len(attempt.fixed)}"
        f" | {what} | {attempt.seconds:.1f} |"
    )


def _attempt_details(attempt: AttemptRecord, limit: int) -> str:
    # Nothing foreign goes into the summary: Markdown's escapes do not hold inside HTML.
    title = f"Attempt {attempt.number}: {attempt.word}, fixes {len(attempt.fixed)}"
    lines = [
        "",
        "<details>",
        f"<summary>{title}</summary>",
        "",
        fence(attempt.diff, "diff", limit),
    ]
    if attempt.messages:
        told = "\n".join(
            f"{one_line(test)}\n    {one_line(message, 400)}"
            for test, message in list(attempt.messages.items())[:5]
        )
        lines += ["", fence(told, "", min(limit, 2_000))]
    return "\n".join([*lines, "", "</details>"])


def verification(record: OutcomeRecord, *, claimed: bool) -> str:
    """What ran, isolated how, and which checks it passed."""
    certificate = record.certificate
    if certificate is None:
        return ""
    suite, isolation = certificate.full_suite, certificate.isolation
    hashed = f" (hash {code_span(certificate.tests_hash[:16])})" if certificate.tests_hash else ""
    layers = for_markdown(", ".join(isolation.layers[:_LAYERS]), 400)
    kept = "unchanged" if certificate.tests_unchanged else "CHANGED"
    lines = [
        f"- suite after the change: {suite.passed} passed, {suite.failed} failed,"
        f" {suite.skipped} skipped in {suite.seconds:.1f} s",
        f"- tests and test configuration {kept}{hashed}",
        f"- Python {for_markdown(certificate.environment.python, 60)}, isolation"
        f" {isolation.mode}: {layers or 'none'}",
    ]
    added = ", ".join(certificate.environment.added[:_LAYERS])
    lines += [f"- added to the environment: {for_markdown(added, 400)}"] if added else []
    hosts = ", ".join(certificate.environment.network[:_LAYERS])
    lines += [f"- packages were built with network to: {for_markdown(hosts, 400)}"] if hosts else []
    lines += [f"- {for_markdown(said, 400)}" for said in record.checks[:_LAYERS]]
    title = "What the unprivileged run says it did" if claimed else "How this was verified"
    return _section(title, "\n".join(lines))


def doubts(record: OutcomeRecord, extra: Sequence[str] = ()) -> str:
    """What a reviewer should look at twice."""
    known = record.certificate.doubts if record.certificate else ()
    own = [for_markdown(doubt, 400) for doubt in (*known, *record.notes)[:_ROWS]]
    return _section("Doubts and remarks", "\n".join(f"- {line}" for line in (*extra, *own)))


def reproduce(record: OutcomeRecord, branch: str) -> str:
    """One command that checks the claim."""
    fixed = (f.test for f in record.failures if f.status == "fixed")
    tests = list(dict.fromkeys(map(stable_test_ids.runnable, fixed)))
    command = f"git fetch origin {branch} && git checkout FETCH_HEAD && python -m pytest"
    shown = " \\\n  ".join([command, *(quote(one_line(test)) for test in tests[:_REPEATED])])
    more = _more(len(tests) - _REPEATED)
    return _section("Reproduce", "\n".join([fence(shown, "sh", 6_000), *more]))


def cost(record: OutcomeRecord) -> str:
    """What the run took."""
    spent = record.cost
    usd = "an unknown sum" if spent.usd is None else f"${spent.usd:.2f}"
    tokens = f"{spent.input_tokens:,} tokens in, {spent.output_tokens:,} out"
    version = for_markdown(record.heal_bot, 40)
    return f"---\nCost: {usd}, {tokens}, {spent.seconds:.0f} s. heal-bot {version}."


def failure_line(failure: FailureRecord) -> str:
    """One failing test as one line of Markdown."""
    text = for_markdown(f"{failure.kind}: {failure.message}".strip(": "), 200)
    return f"{code_span(failure.test)} {failure.status.replace('_', ' ')}: {text}"


def _prose(text: str, limit: int) -> str:
    """Foreign prose, its `code` kept as code; an odd backtick stays a character."""
    parts = one_line(text, limit).split("`")
    if len(parts) % 2 == 0:
        return for_markdown(text, limit)
    return "".join(
        code_span(part) if number % 2 and part.strip() else _plain(part, limit)
        for number, part in enumerate(parts)
    )


def _plain(part: str, limit: int) -> str:
    """Escaped, with the space at either end that parts it from its neighbours."""
    if not part.strip():
        return part
    left, right = " " * part.startswith(" "), " " * part.endswith(" ")
    return f"{left}{for_markdown(part, limit)}{right}"


def _section(title: str, text: str) -> str:
    return f"### {title}\n\n{text}" if text.strip() else ""


def _more(left: int) -> list[str]:
    return [f"\n… and {left} more, in the bundle."] if left > 0 else []
