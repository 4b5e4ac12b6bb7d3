"""The rungs of delivery: each is taken only where the one before is refused, and says why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import quote

from heal_bot.core.errors import ForgeError, ForgeForbiddenError, ForgeNoDraftsError
from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.ports.code_host import ACTIONS, STOPPED, Forge, ForgePull, try_aside
from heal_bot.publish import branch as branches
from heal_bot.publish import codeowners, review_suggestions
from heal_bot.publish.delivery_consent import find_red_pull, withhold
from heal_bot.publish.delivery_options import MOST_OPEN, Options, Published
from heal_bot.publish.recompute import RecomputedChange
from heal_bot.report import pull_request_body, pull_request_memory, status_comment

# As conventionalcommits.org has it: a type, perhaps a scope, perhaps `!`, a colon, a text.
_CONVENTIONAL = re.compile(
    r"(?:build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(?:\([^()\n]{1,60}\))?!?: \S"
)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A verified change, what it is for, and the pull request of ours that is open, if one is."""

    run: Run
    record: OutcomeRecord
    change: RecomputedChange
    request: HealRequest
    opened: ForgePull | None
    forge: Forge
    options: Options


def deliver(job: Delivery) -> Published:
    """Bring the change to people in the way that was chosen, or the next that is allowed."""
    change, request, options = job.change, job.request, job.options
    if options.mode == "dry-run":
        return Published("dry_run", "dry-run: nothing was written")
    red = find_red_pull(job.run, request, job.forge)
    # What was asked for once is kept up to date unasked.
    sha = change.base.sha
    if withheld := withhold(job.run, request, sha, red, job.opened, job.forge, options):
        return withheld
    if change.foreign or options.mode == "comment":
        why = "the code is from a fork, where nothing is pushed" if change.foreign else ""
        return _comment(job, why)
    undoes = job.record.certificate.undoes if job.record.certificate else ""
    number = request.pull_number
    if undoes and number:
        why = f"it takes commit {undoes[:12]} back, which this pull request may have meant"
        return _comment(job, why)
    try:
        if options.mode == "suggest" and number:
            return review_suggestions.suggest(job.run, job.record, change, number, job.forge)
        if options.mode == "push" and number:
            return _push(job)
        return _pull_request(job, (red.title,) if red is not None else None)
    except ForgeForbiddenError as error:
        return _comment(job, str(error))


def _push(job: Delivery) -> Published:
    """A commit on the pull request's own branch."""
    change = job.change
    title = job.options.title or pull_request_body.render_title(job.record, change.shown)
    pushed = branches.push_to_head(job.run, title, change, job.forge, job.options)
    if pushed.state == "human":
        reason = f"{change.base_ref} moved on from {change.base.sha[:12]}; nothing was pushed"
        return _comment(job, reason)
    reason = f"one commit was pushed to {change.base_ref}"
    number, branch = job.request.pull_number, change.base_ref
    return Published("pushed", reason, number=number, branch=branch, commit=pushed.commit)


def _pull_request(job: Delivery, titles: Sequence[str] | None) -> Published:
    """Bring the branch up to date without losing anybody's commit, then the pull request.

    `titles` show the style that people write them in; None to read it off the branch's commits.
    """
    run, record, change, opened, forge = job.run, job.record, job.change, job.opened, job.forge
    branch = change.shown.branch
    if opened is not None and STOPPED in opened.labels:
        reason = f"pull request {opened.number} bears the label {STOPPED}"
        return Published("declined", reason, opened.url, opened.number, branch)
    if opened is None and (crowd := _find_crowd(run, change.base_ref, forge, job.options)):
        return _comment(job, crowd)
    title = job.options.title or _style_title(job, titles)
    shown = replace(change.shown, waiting=forge.me(run) == ACTIONS)
    body = pull_request_body.pull_request(record, shown, title)[1]
    pushed = branches.push(run, title, change, opened, forge, job.options)
    if pushed.state == "human":
        return _leave_to_people(job)
    if opened is None:
        return replace(_opened(job, title, body), commit=pushed.commit)
    turned = _turned(run, record, opened, forge, job.options)
    if not pull_request_body.is_own_title(opened.body, opened.title):
        title = opened.title
    if pushed.state == "unchanged" and _says_same(opened, title, body) and not turned:
        return Published("unchanged", "no news", opened.url, opened.number, branch)
    if (opened.title, opened.body) != (title, body):
        forge.edit_pull(run, opened.number, title, body)
    place = (opened.url, opened.number, branch)
    return Published("updated", "updated in place", *place, commit=pushed.commit)


def _style_title(job: Delivery, titles: Sequence[str] | None) -> str:
    """Our title as people here would write it; as it is where their commits cannot be read."""
    title = pull_request_body.render_title(job.record, job.change.shown)
    if titles is None:
        try:
            titles = job.forge.objects.subjects(job.run, job.change.base.sha)
        except ForgeError as error:
            job.run.warn("publish", f"style of titles: {error}")
            return title
    return fit_style(title, titles)


def fit_style(title: str, subjects: Sequence[str]) -> str:
    """The title as it is, or as a conventional commit where most of the subjects are such."""
    if 2 * sum(_CONVENTIONAL.match(one) is not None for one in subjects) <= len(subjects):
        return title
    word, _, rest = title.partition(" ")
    if word == "Fix":
        return f"fix: repair {rest}"
    return f"fix: {title[:1].lower()}{title[1:]}"


def _says_same(opened: ForgePull, title: str, body: str) -> bool:
    """Whether the pull request tells these news already, on whatever commit."""
    there, own = (pull_request_body.read_mark(text) for text in (opened.body, body))
    return opened.title == title and there == own


def _turned(
    run: Run, record: OutcomeRecord, opened: ForgePull, forge: Forge, options: Options
) -> bool:
    """Whether a doubt made the pull request a draft, or it is ready since the last one is gone.

    A draft that no doubt of ours made is a person's, and stays one.
    """
    wanted = _in_doubt(record, options)
    noted = pull_request_memory.read(opened.body)
    ours = noted is not None and noted.doubts > 0
    if wanted == opened.draft or not (wanted or ours):
        return False
    return try_aside(run, lambda: forge.set_draft(run, opened.number, draft=wanted))


def _in_doubt(record: OutcomeRecord, options: Options) -> bool:
    """Whether the pull request is to be a draft."""
    certificate = record.certificate
    return options.draft or bool(certificate and (certificate.doubts or certificate.undoes))


def _find_crowd(run: Run, base_ref: str, forge: Forge, options: Options) -> str:
    """Why no further pull request is opened into a branch, or nothing."""
    listed = list_own_pulls(run, forge, options.prefix)
    ours = [pull for pull in listed if pull.base_ref == base_ref]
    if len(ours) < MOST_OPEN:
        return ""
    numbers = ", ".join(str(pull.number) for pull in ours)
    return (
        f"{len(ours)} pull requests of heal-bot are open here ({numbers}); merge or close one first"
    )


def list_own_pulls(run: Run, forge: Forge, prefix: str) -> tuple[ForgePull, ...]:
    """Our open pull requests: from our branches of this repository, made with this token."""
    return select_own(run, forge.open_pulls(run), forge, prefix)


def select_own(
    run: Run, pulls: Iterable[ForgePull], forge: Forge, prefix: str
) -> tuple[ForgePull, ...]:
    """Those of some pull requests that are ours."""
    repo = forge.repo.lower()
    found = [p for p in pulls if p.head_ref.startswith(prefix) and p.head_repo.lower() == repo]
    return tuple(pull for pull in found if pull.author == forge.me(run))


def _leave_to_people(job: Delivery) -> Published:
    """Somebody else's commits are on the branch: they stay, and a comment says what changed."""
    opened, branch = job.opened, job.change.shown.branch
    reason = f"branch {branch} has commits that are not ours; nothing was pushed"
    if opened is None:
        return Published("declined", reason, branch=branch)
    mark = status_comment.mark_of(None)
    text = status_comment.not_pushed(mark, job.record, job.change.shown)
    url = job.forge.talk.comment(job.run, opened.number, mark, text)
    return Published("commented", reason, url, opened.number, branch)


def _opened(job: Delivery, title: str, body: str) -> Published:
    """A new pull request, or where that is refused the branch with a link to open one."""
    run, change, forge, options = job.run, job.change, job.forge, job.options
    branch = change.shown.branch
    try:
        made = _open(job, title, body)
    except ForgeError as error:
        base, head = quote(change.base_ref, safe="/"), quote(branch, safe="/")
        link = f"{forge.page}/compare/{base}...{head}?expand=1"
        return Published("branch_only", f"branch {branch} is pushed; {error}", link, branch=branch)
    if options.labels:
        try_aside(run, lambda: forge.talk.label(run, made.number, options.labels))
    if options.assignees:
        try_aside(run, lambda: forge.talk.assign(run, made.number, options.assignees))
    if options.reviewers:
        try_aside(run, lambda: _ask(run, made.number, change, forge, options))
    return Published("created", "a new pull request", made.url, made.number, branch)


def _open(job: Delivery, title: str, body: str) -> ForgePull:
    """A new pull request; a plain one that says so where the repository can have no drafts."""
    place = (job.run, job.change.shown.branch, job.change.base_ref, title)
    try:
        return job.forge.open_pull(*place, body, draft=_in_doubt(job.record, job.options))
    except ForgeNoDraftsError:
        return job.forge.open_pull(*place, pull_request_body.tell_no_draft(body), draft=False)


def _ask(run: Run, number: int, change: RecomputedChange, forge: Forge, options: Options) -> None:
    """Ask whoever the options mean for a review."""
    asked = codeowners.resolve(run, options.reviewers, change, forge)
    try:
        if asked:
            forge.talk.ask_review(run, number, asked)
    except ForgeError:
        # GitHub refuses all for the sake of one; each alone says which one it is.
        if len(asked) == 1:
            raise
        for name in asked:
            try_aside(run, partial(forge.talk.ask_review, run, number, (name,)))


def _comment(job: Delivery, why: str) -> Published:
    """The verified diff in a comment; where there is no place for one, in the step summary."""
    reason, change = why or "mode comment", job.change
    number = job.request.answered_in
    if number is None:
        return Published("summary", reason)
    mark = status_comment.mark_of(job.request.reply_to, job.request.actor)
    text = status_comment.render_by_hand(mark, job.record, change.shown, change.base.sha, reason)
    try:
        url = job.forge.talk.comment(job.run, number, mark, text)
    except ForgeError as error:
        return Published("summary", f"{reason}; {error}")
    return Published("commented", reason, url, number)
