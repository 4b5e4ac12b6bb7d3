"""publish(): a bundle written by an attacker in, at most one pull request out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from heal_bot.core.errors import ForgeError
from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest
from heal_bot.core.outcome import OutcomeRecord, PatchRecord
from heal_bot.core.text import one_line, printable
from heal_bot.ports.code_host import Annotation, Check, Forge, ForgePull, try_aside
from heal_bot.publish.delivery_consent import is_told
from heal_bot.publish.delivery_options import DEFAULT, Options, Published
from heal_bot.publish.delivery_strategies import Delivery, deliver, list_own_pulls
from heal_bot.publish.open_proposals import find_twin, holds_change, is_for, read_change
from heal_bot.publish.prior_decision import (
    Prior,
    Situation,
    explain_refused,
    point_to,
    recall,
)
from heal_bot.publish.pull_adoption import is_refused
from heal_bot.publish.recompute import BundleRefused, RecomputedChange, Superseded, recompute
from heal_bot.publish.run_memory import remember_run
from heal_bot.report import pull_request_body, status_comment, step_summary
from heal_bot.report.causes import find_suspect
from heal_bot.report.proposed_change import render_claimed
from heal_bot.report.status_sentences import describe_failure, describe_run
from heal_bot.source.allowed_paths import explain_outside

_PROPOSED = frozenset({"created", "updated"})
# Results that say nothing of the branch: it moved, or the bundle is not of it.
_UNTRUE = frozenset({"superseded", "refused"})
_QUIET = frozenset({"unchanged", "superseded", "refused", "dry_run", "declined"})
# Ends of a run that are no news for a commit: the tests pass, or what failed is not its code.
_SILENT = frozenset(
    {"nothing_to_do", "not_reproduced", "refused", "sandbox_error", "environment_error"}
)


@dataclass(frozen=True, slots=True)
class _Publication:
    """A record, what it is for, and where and how it is published."""

    run: Run
    record: OutcomeRecord
    request: HealRequest
    forge: Forge
    options: Options
    claimed: bool
    prior: Prior


def publish(
    run: Run,
    record: OutcomeRecord,
    request: HealRequest,
    forge: Forge,
    options: Options = DEFAULT,
    *,
    claimed: bool = False,
    prior: Prior | None = None,
) -> Published:
    """Open or update the pull request of a record, for the repository and commit of `request`.

    Only `request` and the forge say which repository, commit, branch and pull request this is
    about; the record is believed in nothing that they can say. `claimed` marks a record that no
    trusted run has verified; `prior` is what was recalled before the run. Raises ForgeError when
    GitHub fails before anything is delivered; what fails beside or after that is a warning.
    """
    prior = prior or recall(run, request, Situation(), forge, options)
    job = _Publication(run, record, request, forge, options, claimed, prior)
    done, change = _publish(job)
    if options.mode == "dry-run":
        return done
    if not claimed and done.status not in _UNTRUE and not (change and change.foreign):
        try_aside(
            run, lambda: remember_run(run, record, request, done, change, prior, forge, options)
        )
    shown = change.shown if change is not None and done.status in _PROPOSED else None
    number, asked = request.answered_in, request.reply_to is not None
    mark = status_comment.mark_of(request.reply_to, request.actor)
    answered = done.status == "commented" and done.number == number
    if number is not None and asked and not answered:
        told = (done.status, done.reason, done.url)
        text = status_comment.render_reply(mark, record, *told, shown, claimed=claimed)
        try_aside(run, lambda: forge.talk.comment(run, number, mark, text))
    elif number is not None and done.status == "nothing" and options.diagnosis_comment:
        text = status_comment.render_diagnosis(mark, record, claimed=claimed)
        done = _commented(run, number, mark, text, forge, done)
    elif number is not None and shown is not None:
        text = status_comment.render_stacked(mark, record, shown, done.url)
        try_aside(run, lambda: forge.talk.comment(run, number, mark, text))
    if done.status in _QUIET or (record.status in _SILENT and not asked):
        return done
    return replace(done, checked=try_aside(run, lambda: _check(job, done)))


def _commented(
    run: Run, number: int, mark: str, text: str, forge: Forge, done: Published
) -> Published:
    """The one comment of a diagnosis; where it cannot be written the step summary has it."""
    try:
        url = forge.talk.comment(run, number, mark, text)
    except ForgeError as error:
        return replace(done, status="summary", reason=f"{done.reason}; {error}")
    return Published("commented", done.reason, url, number)


def _publish(job: _Publication) -> tuple[Published, RecomputedChange | None]:
    """What came of it, with the change where it was looked at."""
    run, record, request = job.run, job.record, job.request
    forge, options = job.forge, job.options
    patch = record.patch
    if patch is None or record.certificate is None:
        reason = f"the run ended as {record.status} without a verified patch"
        if record.suggestion is not None:
            reason = "a change passes and is not called the repair: no pull request"
        if record.question is not None:
            reason = "two changes pass, and an answer decides which is proposed"
        return Published("nothing", reason), None
    if noted := _find_noted(job, patch):
        return Published("unchanged", "no news", noted.url, noted.number, noted.head_ref), None
    known = forge.pulls_from(run, f"{options.prefix}{record.fingerprint}")
    opened = next((pull for pull in known if pull.state == "open"), None)
    if options.mode != "dry-run" and is_told(run, request, _name(record), opened, forge, options):
        return Published("unchanged", "no news"), None
    change = _recompute(job, patch)
    if isinstance(change, Published):
        return change, None
    doubts = tuple(dict.fromkeys((*record.certificate.doubts, *change.doubts)))
    certificate = record.certificate.model_copy(update={"doubts": doubts})
    record = record.model_copy(update={"certificate": certificate})
    if options.mode != "dry-run" and not change.foreign:
        if settled := _settle(job, change, known):
            return settled, change
        opened, held = _choose_pull(job, change, opened)
        if held is not None:
            return held, change
        change = _shown_for(change, opened, job.prior)
    return deliver(Delivery(run, record, change, request, opened, forge, options)), change


def _recompute(job: _Publication, patch: PatchRecord) -> RecomputedChange | Published:
    """The change that the patch makes, or why it is not one to deliver."""
    options = job.options
    try:
        change = recompute(
            job.run, job.record, patch, job.request, job.forge,
            claimed=job.claimed, prefix=options.prefix, project=options.project,
        )  # fmt: skip
    except Superseded as error:
        return Published("superseded", str(error), head=error.head)
    except BundleRefused as error:
        return Published("refused", one_line(str(error), 500))
    if reason := explain_outside(options.paths, (file.path for file in change.files)):
        return Published("refused", reason)
    return change


def _shown_for(
    change: RecomputedChange, opened: ForgePull | None, prior: Prior
) -> RecomputedChange:
    """The change as the pull request is to show it."""
    shown = change.shown
    if opened is not None:
        shown = replace(shown, branch=opened.head_ref)
    if shown.change is not None:
        reported = {"reported": prior.situation.reported}
        shown = replace(shown, change=shown.change.model_copy(update=reported))
    return replace(change, shown=shown)


def _find_noted(job: _Publication, patch: PatchRecord) -> ForgePull | None:
    """The open pull request that the state names for these failures, where it says all of this."""
    record = job.record
    entry = job.prior.state.entries.get(record.fingerprint)
    if job.options.mode != "pull-request" or entry is None or entry.proposal is None:
        return None
    if job.request.base_sha not in {"", patch.base_sha}:
        return None
    number = entry.proposal.pull
    listed = list_own_pulls(job.run, job.forge, job.options.prefix)
    pull = next((pull for pull in listed if pull.number == number), None)
    there = pull_request_body.read_mark(pull.body) if pull is not None else None
    own = pull_request_body.render_mark(record, render_claimed(record).digest)
    # For other failures that it repairs too, its words are those of the run that opened it.
    alike = there is not None and there.fingerprint != own.fingerprint and there.patch == own.patch
    return pull if alike or there == own else None


def _settle(
    job: _Publication, change: RecomputedChange, known: Sequence[ForgePull]
) -> Published | None:
    """The result where people refused this very change, or it is proposed where it comes from."""
    run, forge, prior = job.run, job.forge, job.prior
    own, into = change.shown.change, prior.situation.into
    listed = list_own_pulls(run, forge, job.options.prefix)
    if into and into != change.base_ref:
        for pull in listed:
            if pull.base_ref == into and own is not None and holds_change(own, pull):
                return point_to(pull)
    if job.request.verb == "retry" or any(pull.state == "open" for pull in known):
        return None
    opened = {pull.number for pull in listed}
    for base in dict.fromkeys(filter(None, (change.base_ref, into))):
        for one in prior.settled(base):
            number = one.proposal.pull
            if own and one.proposal.change.change == own.change and number not in opened:
                reason = explain_refused(number, one.how)
                return Published("declined", reason, f"{forge.page}/pull/{number}", number)
    told = {one.proposal.pull for one in prior.state.list_settled()}
    for pull in known:
        if pull.number not in told and _is_refused(run, pull, change, forge):
            reason = explain_refused(pull.number, pull.state)
            return Published("declined", reason, pull.url, pull.number, pull.head_ref)
    return None


def _is_refused(run: Run, pull: ForgePull, change: RecomputedChange, forge: Forge) -> bool:
    """Whether a closed pull request of the same failures says that people refused this change."""
    there, own, mark = (
        read_change(pull),
        change.shown.change,
        pull_request_body.read_mark(pull.body),
    )
    if pull.state == "merged":
        return mark is not None and mark.patch == change.shown.digest
    # What an older version wrote names no change: it counts for whatever repairs these failures.
    same = there is None or own is None or there.change == own.change
    return same and is_refused(run, pull, forge)


def _choose_pull(
    job: _Publication, change: RecomputedChange, opened: ForgePull | None
) -> tuple[ForgePull | None, Published | None]:
    """The pull request to update, or the result where an open one holds the change."""
    if opened is not None and is_for(job.record.fingerprint, opened):
        return opened, None
    others = [
        pull
        for pull in list_own_pulls(job.run, job.forge, job.options.prefix)
        if pull.base_ref == change.base_ref and not (opened and pull.number == opened.number)
    ]
    own = change.shown.change
    twin = find_twin(own, (*([opened] if opened else []), *others)) if own else None
    if twin is None:
        return opened, None
    pull = job.forge.pull(job.run, twin.pull.number)
    if pull is None or pull.state != "open":
        return None, None
    if twin.grows:
        return pull, None
    reason = f"pull request {pull.number} proposes this, or a part that comes first"
    url, number, branch = pull.url, pull.number, pull.head_ref
    return pull, Published("unchanged", reason, url, number, branch, elsewhere=not twin.whole)


def _check(job: _Publication, done: Published) -> None:
    """A check run on the commit that was healed: never a second red one beside the tests' own."""
    record, request, forge, claimed = job.record, job.request, job.forge, job.claimed
    if not request.base_sha or request.head_repo.lower() not in {"", forge.repo.lower()}:
        return
    title = f"{describe_run(record)}: {one_line(done.reason, 150)}"
    conclusion = "success" if record.status == "healed" else "neutral"
    text = step_summary.render_step(record, done.status, done.reason, done.url, claimed=claimed)
    found = Check(
        request.base_sha,
        conclusion,
        title,
        step_summary.fit_bytes(text, 60_000),
        suspected_lines(record),
        _name(record),
    )
    forge.talk.check(job.run, found)


def _name(record: OutcomeRecord) -> str:
    """What tells one result on a commit from another."""
    return str(pull_request_body.render_mark(record, render_claimed(record).digest))


def suspected_lines(record: OutcomeRecord) -> tuple[Annotation, ...]:
    """The likeliest place of each failure, as far as there is one; plain text for GitHub."""
    found = {}
    for failure in record.failures:
        if suspect := find_suspect(record, failure):
            fixed = failure.status == "fixed"
            told = "is repaired by the proposal" if fixed else describe_failure(failure)
            message = printable(f"{one_line(failure.test, 300)} {told}")
            level = "notice" if fixed else "warning"
            place = (suspect.path, max(1, suspect.first_line), message)
            found[place] = Annotation(suspect.path, max(1, suspect.first_line), level, message)
    return tuple(found.values())
