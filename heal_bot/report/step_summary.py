"""The step summary of a run, within what the runner takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from heal_bot.core.text import for_markdown
from heal_bot.report import mermaid_diagram, pull_request_body, status_comment
from heal_bot.report.markdown import fold
from heal_bot.report.proposed_change import render_claimed

if TYPE_CHECKING:
    from heal_bot.core.outcome import OutcomeRecord

# GitHub drops a larger step summary as a whole; measured in bytes.
STEP_LIMIT = 1 << 20
_UNPUSHED = frozenset({"summary", "dry_run", "commented", "declined"})


def render_step(
    record: OutcomeRecord, published: str, reason: str, url: str, *, claimed: bool = False
) -> str:
    """The step summary of a run: where the result is, then all that a pull request would say."""
    shown = replace(render_claimed(record), claimed=claimed)
    said = []
    if record.patch is not None:
        said.append(status_comment.render_result(record, published, reason, url))
        if published in _UNPUSHED:
            said.append(
                status_comment.render_hint(record.patch.base_sha, "patch.diff of the bundle")
            )
    said.append(pull_request_body.render_body(record, shown))
    if drawn := mermaid_diagram.draw_attempts(record):
        said.append(fold("What was tried", drawn))
    return fit_bytes("\n\n".join(said), STEP_LIMIT)


def render_failed(reason: str) -> str:
    """The step summary of a run that could not be made."""
    return f"**heal-bot did not run.** {for_markdown(reason, 1_000)}"


def fit_bytes(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, cut at the end of a line."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode()
    note = "\n\n… cut; the bundle has the whole.\n"
    kept = data[: limit - len(note.encode())].decode("utf-8", "ignore")
    return kept.rpartition("\n")[0] + note
