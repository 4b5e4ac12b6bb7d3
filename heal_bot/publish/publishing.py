"""publish(): a bundle written by an attacker in, at most one pull request out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heal_bot.core.errors import ForgeError
from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.core.text import one_line, printable
from heal_bot.ports.code_host import ACTIONS, Annotation, Check, Forge, ForgePull, try_aside
from heal_bot.publish.delivery_options import DEFAULT, Options, Published
from heal_bot.publish.delivery_strategies import deliver
from heal_bot.publish.recompute import BundleRefused, RecomputedChange, Superseded, recompute
from heal_bot.report import pull_request_body, status_comment, step_summary
from heal_bot.source.allowed_paths import explain_outside

_PROPOSED = frozenset({"created", "updated"})
# What cannot have been said before in the same words.
_NEWS = frozenset({"created", "updated", "pushed", "suggested"})
_QUIET = frozenset({"unchanged", "superseded", "refused", "dry_run"})


def publish(
    run: Run,
    record: OutcomeRecord,
    request: HealRequest,
    forge: Forge,
    options: Options = DEFAULT,
    *,
    claimed: bool = False,
) -> Published:
    """Open or update the pull request of a record, for the repository and commit of `request`.

    Only `request` and the forge say which repository, commit, branch and pull request this is
    about; the record is believed in nothing that they can say. `claimed` marks a record that no
    trusted run has verified. Raises ForgeError when GitHub fails before anything is delivered; what
    fails beside or after that is a warning.
    """
    done, change = _publish(run, record, request, forge, options, claimed)
    if options.mode == "dry-run":
        return done
    shown = change.shown if change is not None and done.status in _PROPOSED else None
    number = request.pull_number
    if number is not None and request.reply_to is not None:
        mark = status_comment.request_mark(request.reply_to)
        told = (done.status, done.reason, done.url)
        text = status_comment.render_reply(mark, record, *told, shown, claimed=claimed)
        try_aside(run, lambda: forge.talk.comment(run, number, mark, text))
    elif number is not None and done.status == "nothing" and record.suggestion is not None:
        mark = f"<!-- heal-bot suggestion {record.fingerprint} -->"
        text = status_comment.render_suggested(mark, record, claimed=claimed)
        done = _commented(run, number, mark, text, forge, done)
    elif number is not None and shown is not None:
        mark = f"<!-- heal-bot diff {record.fingerprint} -->"
        text = status_comment.render_stacked(mark, record, shown, done.url)
        try_aside(run, lambda: forge.talk.comment(run, number, mark, text))
    if done.status in _QUIET:
        return done
    return replace(
        done, checked=try_aside(run, lambda: _check(run, record, request, done, forge, claimed))
    )


def _commented(
    run: Run, number: int, mark: str, text: str, forge: Forge, done: Published
) -> Published:
    """The one comment of a suggestion; where it cannot be written the step summary has it."""
    try:
        url = forge.talk.comment(run, number, mark, text)
    except ForgeError as error:
        return replace(done, status="summary", reason=f"{done.reason}; {error}")
    return Published("commented", done.reason, url, number)


def _publish(
    run: Run,
    record: OutcomeRecord,
    request: HealRequest,
    forge: Forge,
    options: Options,
    claimed: bool,
) -> tuple[Published, RecomputedChange | None]:
    """What came of it, with the change where it was looked at."""
    patch = record.patch
    if patch is None or record.certificate is None:
        reason = f"the run ended as {record.status} without a verified patch"
        if record.suggestion is not None:
            reason = "a change passes and is not called the repair: no pull request"
        return Published("nothing", reason), None
    known = forge.pulls_from(run, f"{options.prefix}{record.fingerprint}")
    if request.base_sha in {"", patch.base_sha} and (
        settled := _settled(known, record, request, options)
    ):
        return settled, None
    try:
        change = recompute(
            run, record, patch, request, forge, claimed=claimed, prefix=options.prefix
        )
        if reason := explain_outside(options.paths, (file.path for file in change.files)):
            return Published("refused", reason), None
    except Superseded as error:
        return Published("superseded", str(error), head=error.head), None
    except BundleRefused as error:
        return Published("refused", one_line(str(error), 500)), None
    if not change.foreign and options.mode != "dry-run":
        waiting = forge.me(run) == ACTIONS
        change = replace(change, shown=replace(change.shown, waiting=waiting))
    return deliver(run, record, change, request, known, forge, options), change


def _settled(
    pulls: Sequence[ForgePull], record: OutcomeRecord, request: HealRequest, options: Options
) -> Published | None:
    """What needs no look at the commit: no news, or people closed or reverted this before."""
    if not pulls or options.mode == "dry-run":
        return None
    own = pull_request_body.render_mark(record, pull_request_body.render_claimed(record).digest)
    last = next((p for p in pulls if p.state == "open"), pulls[0])
    there = pull_request_body.read_mark(last.body)
    if last.state == "open":
        same = there == own and options.mode == "pull-request"
        known = Published("unchanged", "no news", last.url, last.number, last.head_ref)
        return known if same else None
    if request.verb == "retry" or (last.state == "merged" and not _same(there, own)):
        return None
    how = "merged" if last.state == "merged" else "closed"
    reason = f"pull request {last.number} for these failures was {how}; ask with /heal retry"
    return Published("declined", reason, last.url, last.number, last.head_ref)


def _same(there: pull_request_body.Mark | None, own: pull_request_body.Mark) -> bool:
    return there is not None and (there.fingerprint, there.patch) == (own.fingerprint, own.patch)


def _check(
    run: Run,
    record: OutcomeRecord,
    request: HealRequest,
    done: Published,
    forge: Forge,
    claimed: bool,
) -> None:
    """A check run on the commit that was healed: never a second red one beside the tests' own."""
    if not request.base_sha or request.head_repo.lower() not in {"", forge.repo.lower()}:
        return
    title = f"{record.status.replace('_', ' ')}: {one_line(done.reason, 150)}"
    conclusion = "success" if record.status == "healed" else "neutral"
    text = step_summary.render_step(record, done.status, done.reason, done.url, claimed=claimed)
    found = Check(
        request.base_sha,
        conclusion,
        title,
        step_summary.fit_bytes(text, 60_000),
        suspected_lines(record),
    )
    forge.talk.check(run, found, new=done.status in _NEWS)


def suspected_lines(record: OutcomeRecord) -> tuple[Annotation, ...]:
    """The likeliest place of each failure, as the run ranked them; plain text for GitHub."""
    found = {}
    for failure in record.failures:
        for suspect in failure.suspects[:1]:
            fixed = failure.status == "fixed"
            told = "is repaired by the proposal" if fixed else failure.status.replace("_", " ")
            message = printable(f"{one_line(failure.test, 300)} {told}")
            level = "notice" if fixed else "warning"
            place = (suspect.path, max(1, suspect.first_line), message)
            found[place] = Annotation(suspect.path, max(1, suspect.first_line), level, message)
    return tuple(found.values())
