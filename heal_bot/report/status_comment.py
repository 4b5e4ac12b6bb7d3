"""What is said in comments: how a request stands, its result, and changes that nobody pushed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from heal_bot.core.text import clip, code_span, for_markdown
from heal_bot.report import outcome_summary, pull_request_body
from heal_bot.report.markdown import prose, sentence
from heal_bot.report.proposed_change import Shown, render_claimed
from heal_bot.report.pull_request_body import ASK
from heal_bot.report.status_sentences import describe_run

if TYPE_CHECKING:
    from heal_bot.core.outcome import OutcomeRecord

_LIMIT = pull_request_body.LIMIT - 200
_REMARK = 400
_TAKE = ("/heal apply", *ASK)
# Our own words in a comment that begins with the marker of a request.
HELP = """
`/heal` works on the head of this pull request. It knows:

- `/heal <hint>`: repair what is red; the hint, in words, may be left out
- `/heal path::name <hint>`: repair one test, or look at one function first
- `/heal @<full SHA>`: the same for exactly that commit
- `/heal retry <hint>`: try again, also what was closed, without what earlier runs remember
- `/heal pick A`: take a choice where a run ended with a question
- `/heal apply`: put the open proposal onto this branch
- `/heal explain`: what was tried so far
- `/heal stop`: leave this pull request alone until the label `heal-bot-stop` is removed

Whoever has write permission may ask. In a review, the line of a comment picks the function. On a
proposal of heal-bot, `/heal <hint>` repairs its base again, with what was said there as the hint.
""".strip()


def mark_of(request: int | None, actor: str = "") -> str:
    """The hidden first line of the one comment that answers a request, or of the unasked one.

    All requests of a bot have one answer, which is edited: to a new one it might answer again.
    """
    if request and actor.endswith("[bot]"):
        return f"<!-- heal-bot requests of {_plain(actor)} -->"
    return f"<!-- heal-bot request {request} -->" if request else "<!-- heal-bot report -->"


def person_mark(login: str) -> str:
    """The hidden first line of the one comment for what a person asks in vain."""
    return f"<!-- heal-bot person {_plain(login)} -->"


def _plain(login: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", login)


def render_working(mark: str, sha: str, run_url: str) -> str:
    """A request that is being served: for which commit, and where to watch."""
    watch = f" [The run]({run_url}) shows how far it is." if run_url else ""
    return f"{mark}\n**heal-bot: working** on `{sha[:40]}`.{watch}"


def render_refused(mark: str, reason: str) -> str:
    """A request that is not served, in one sentence."""
    return f"{mark}\nNot started: {for_markdown(reason, _REMARK)}."


def render_failed(mark: str, reason: str) -> str:
    """A request whose run broke."""
    return f"{mark}\n**heal-bot: failed.** {for_markdown(reason, _REMARK)}"


def render_reply(
    mark: str,
    record: OutcomeRecord,
    published: str,
    reason: str,
    url: str,
    shown: Shown | None = None,
    *,
    claimed: bool = False,
) -> str:
    """The result of a request; a proposal that is `shown` comes with how to take it."""
    if shown is not None:
        return _fitted(mark, f"{render_result(record, published, reason, url)} {_take(url)}",
                       record, replace(shown, commands=_TAKE))  # fmt: skip
    if record.patch is None:
        told = replace(render_claimed(record), claimed=claimed, commands=ASK)
        return _fitted(mark, "", record, told)
    return f"{mark}\n{render_result(record, published, reason, url)}"


def render_answer(mark: str, text: str) -> str:
    """Our own Markdown as the answer to a request."""
    return clip(f"{mark}\n{text}", _LIMIT)


def render_stacked(mark: str, record: OutcomeRecord, shown: Shown, url: str) -> str:
    """The comment on the pull request that was red: the proposal and how to take it."""
    return _fitted(mark, _take(url), record, replace(shown, commands=_TAKE))


def render_diagnosis(mark: str, record: OutcomeRecord, *, claimed: bool) -> str:
    """The comment on a red pull request where nothing is proposed: what was found."""
    commands = () if claimed else ASK
    told = replace(render_claimed(record), claimed=claimed, commands=commands)
    return _fitted(mark, "", record, told)


def not_pushed(mark: str, record: OutcomeRecord, shown: Shown) -> str:
    """What changed, for a branch that holds somebody else's commits."""
    told = "This branch has commits that are not heal-bot's, so nothing was pushed."
    return _fitted(mark, told, record, replace(shown, by_hand=True))


def render_by_hand(
    mark: str, record: OutcomeRecord, shown: Shown, base_sha: str, reason: str
) -> str:
    """A verified change that is not pushed: why, the diff, and the command that applies it."""
    hint = render_hint(base_sha, "the whole change below")
    told = f"Not pushed: {prose(reason, _REMARK)}. {hint}"
    return _fitted(mark, told, record, replace(shown, by_hand=True))


def _fitted(mark: str, told: str, record: OutcomeRecord, shown: Shown) -> str:
    """What is said of the result where it stands, then what a pull request would say of it."""
    body = pull_request_body.render_body(record, shown)
    return clip("\n\n".join(part for part in (f"{mark}\n{told}".strip(), body) if part), _LIMIT)


def render_review(mark: str, record: OutcomeRecord, shown: Shown) -> str:
    """The text above a review's suggestions."""
    names = ", ".join(code_span(name) for name in shown.functions[:10])
    return f"{mark}\n{outcome_summary.describe_fix(record, shown)}\n\nChanged: {names}."


def render_hint(base_sha: str, source: str) -> str:
    """The command that applies a diff by hand."""
    return (
        f"To apply it, save {source} as `heal-bot.patch` and run"
        f" `git checkout {base_sha[:40]} && git apply --index heal-bot.patch`."
    )


def _take(url: str) -> str:
    return f"Take it with `/heal apply`, or merge {url} into this branch."


def render_result(record: OutcomeRecord, published: str, reason: str, url: str) -> str:
    """One line: where the result of a run is, or how it ended."""
    proposed = {
        "created": f"**Fix proposed** in {url}.",
        "updated": f"**Fix proposed** in {url}, which is up to date now.",
        "unchanged": f"**Fix proposed** in {url}, as before.",
        "suggested": f"**Fix suggested** in {url}.",
        "branch_only": f"**Fix pushed**; [open the pull request]({url}) by hand."
        f" {sentence(reason, 500)}",
        "pushed": f"**Fix pushed.** {sentence(reason, 500)}",
        "superseded": f"**Superseded.** {sentence(reason, 500)}",
        "refused": f"**Refused.** {sentence(reason, 500)}",
    }
    if published in proposed:
        return proposed[published]
    how = "Fix found, and not pushed" if record.patch is not None else describe_run(record)
    return f"**{prose(how)}.** {sentence(reason, 500)}"
