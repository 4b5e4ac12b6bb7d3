"""publish(): a bundle written by an attacker in, at most one pull request out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.errors import ForgeForbiddenError
from heal_bot.events import Noted, Run
from heal_bot.forge_port import Forge, ForgeCommit, ForgePull
from heal_bot.model import HealRequest
from heal_bot.outcome import OutcomeRecord
from heal_bot.recompute import Change, Refused, Stale, recompute
from heal_bot.report import markdown, summary

_TREE = re.compile(r"^Heal-Bot-Tree: ([0-9a-f]{40})$", re.MULTILINE)
_PATCH = re.compile(r"^Heal-Bot-Patch: ([0-9a-f]{16})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Published:
    """What came of publishing.

    status: created | updated | unchanged | commented | declined | branch_only | stale | refused |
    nothing. `reason` is one plain sentence.
    """

    status: str
    reason: str
    url: str = ""
    number: int | None = None
    branch: str = ""


def publish(
    run: Run, record: OutcomeRecord, request: HealRequest, forge: Forge, *, claimed: bool = False
) -> Published:
    """Open or update the pull request of a record, for the repository and commit of `request`.

    Only `request` and the forge say which repository, commit, branch and pull request this is
    about; the record is believed in nothing that they can say. `claimed` marks a record that no
    trusted run has verified. Raises ForgeError when GitHub fails.
    """
    done = _publish(run, record, request, forge, claimed)
    if request.pull_number is not None and request.reply_to is not None:
        mark = f"<!-- heal-bot request {request.reply_to} -->"
        text = summary.reply(record, done.status, done.reason, done.url)
        forge.comment(run, request.pull_number, mark, f"{mark}\n{text}")
    return done


def _publish(
    run: Run, record: OutcomeRecord, request: HealRequest, forge: Forge, claimed: bool
) -> Published:
    patch = record.patch
    if patch is None or record.certificate is None:
        return Published("nothing", f"the run ended as {record.status} without a verified patch")
    try:
        change = recompute(run, record, patch, request, forge, claimed)
    except Stale as error:
        return Published("stale", str(error))
    except Refused as error:
        return Published("refused", str(error))
    pulls = forge.pulls_from(run, change.shown.branch)
    if declined := _declined(pulls, record, change, request):
        return declined
    return _deliver(run, record, change, pulls, forge)


def _declined(
    pulls: Sequence[ForgePull], record: OutcomeRecord, change: Change, request: HealRequest
) -> Published | None:
    """Why this is not proposed again: people closed it, or merged this very patch before."""
    if request.verb == "retry" or any(pull.state == "open" for pull in pulls) or not pulls:
        return None
    last, branch = pulls[0], change.shown.branch
    known = markdown.marker(record, change.shown.digest) in last.body
    if last.state == "merged" and not known:
        return None
    how = "merged" if last.state == "merged" else "closed"
    reason = f"pull request {last.number} for these failures was {how}; ask with /heal retry"
    return Published("declined", reason, last.url, last.number, branch)


def _deliver(
    run: Run, record: OutcomeRecord, change: Change, pulls: Sequence[ForgePull], forge: Forge
) -> Published:
    """Bring the branch up to date without losing anybody's commit, then the pull request."""
    title, body = markdown.pull_request(record, change.shown)
    opened = next((p for p in pulls if p.state == "open"), None)
    branch = change.shown.branch
    state = _push(run, title, change, forge)
    if state == "human":
        reason = f"branch {branch} has commits that are not ours; nothing was pushed"
        if opened is None:
            return Published("declined", reason, branch=branch)
        mark = f"<!-- heal-bot patch {change.shown.digest} -->"
        url = forge.comment(
            run, opened.number, mark, summary.not_pushed(mark, record, change.shown)
        )
        return Published("commented", reason, url, opened.number, branch)
    if opened is None:
        draft = bool(record.certificate and record.certificate.doubts)
        try:
            made = forge.open_pull(run, branch, change.base_ref, title, body, draft=draft)
        except ForgeForbiddenError as error:
            return Published("branch_only", f"branch {branch} is pushed; {error}", branch=branch)
        return Published("created", "a new pull request", made.url, made.number, branch)
    if (opened.title, opened.body) == (title, body) and state == "unchanged":
        return Published("unchanged", "no news", opened.url, opened.number, branch)
    if (opened.title, opened.body) != (title, body):
        forge.edit_pull(run, opened.number, title, body)
    return Published("updated", "updated in place", opened.url, opened.number, branch)


def _push(run: Run, title: str, change: Change, forge: Forge) -> str:
    """unchanged | pushed | human: the state the branch was found in or brought to."""
    objects, branch, digest = forge.objects, change.shown.branch, change.shown.digest
    head = objects.head(run, branch)
    parents: tuple[str, ...] = (change.base.sha,)
    if head is not None:
        ours = objects.ahead(run, change.base_ref, head)
        if ours is None or not all(_is_ours(commit) for commit in ours):
            return "human"
        if ours and (known := _PATCH.search(ours[-1].message)) and known[1] == digest:
            return "unchanged"
        # The base becomes a parent where the branch lacks it, so that the move stays a
        # fast-forward and the pull request still shows our change alone.
        parents = (head,)
        if not objects.contains(run, head, change.base.sha):
            parents = (head, change.base.sha)
    tree = objects.save_tree(run, change.base, change.files)
    message = f"{title}\n\nHeal-Bot-Patch: {digest}\nHeal-Bot-Tree: {tree}\n"
    commit = objects.save_commit(run, message, tree, parents)
    make = objects.create_branch if head is None else objects.advance_branch
    if make(run, branch, commit.sha):
        return "pushed"
    run.emit(Noted(stage="publish", message=f"branch {branch} moved meanwhile", level="warning"))
    return "human"


def _is_ours(commit: ForgeCommit) -> bool:
    """Whether the commit is as we wrote it: an amended one no longer has the tree it names."""
    named = _TREE.search(commit.message)
    return named is not None and named[1] == commit.tree
