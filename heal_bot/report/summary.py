"""Short texts around a result: the step summary, replies, and what could not be pushed."""

from __future__ import annotations

from heal_bot.outcome import OutcomeRecord
from heal_bot.report import markdown, sections
from heal_bot.text import clip, fence, for_markdown

# GitHub drops a larger step summary as a whole; measured in bytes.
STEP_LIMIT = 1 << 20


def step(record: OutcomeRecord, published: str, reason: str, url: str) -> str:
    """The step summary of a run: the result first, then all that a pull request would say."""
    said = [_result(record, published, reason, url)]
    if record.patch is not None:
        said.append(markdown.pull_request(record)[1])
    else:
        parts = (
            sections.still_failing(record),
            sections.suspects(record),
            sections.attempts(record, diffs=1_000),
            sections.doubts(record),
            sections.cost(record),
        )
        said += [part for part in parts if part]
    return fit("\n\n".join(said), STEP_LIMIT)


def failed(reason: str) -> str:
    """The step summary of a run that could not be made."""
    return f"**heal-bot did not run.** {for_markdown(reason, 1_000)}"


def reply(record: OutcomeRecord, published: str, reason: str, url: str) -> str:
    """The one comment that answers a request."""
    said = [_result(record, published, reason, url)]
    if record.patch is None:
        said += [f"- {sections.failure_line(f)}" for f in record.failures[:20]]
    return clip("\n".join(said), markdown.LIMIT - 200)


def not_pushed(mark: str, record: OutcomeRecord, shown: markdown.Shown) -> str:
    """What changed, for a branch that holds somebody else's commits."""
    head = sections.verdict(record, len(shown.functions), claimed=shown.claimed)
    return "\n\n".join(
        (
            mark,
            f"{head} This branch has commits that are not heal-bot's, so nothing was pushed."
            " The change would be:",
            fence(shown.diff, "diff", 50_000),
        )
    )


def fit(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, cut at the end of a line."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode()
    note = "\n\n… cut; the bundle has the whole.\n"
    kept = data[: limit - len(note.encode())].decode("utf-8", "ignore")
    return kept.rpartition("\n")[0] + note


def _result(record: OutcomeRecord, published: str, reason: str, url: str) -> str:
    """One line: how the run ended, and where its result is."""
    where = {
        "created": f"The change is proposed in {url}.",
        "updated": f"The change is proposed in {url}.",
        "unchanged": f"The change is proposed in {url}, without news.",
    }.get(published, for_markdown(reason, 500))
    status = record.status.replace("_", " ")
    told = for_markdown(record.reason, 500)
    return f"**heal-bot: {status}.** {where}" + (f" {told}" if told else "")
