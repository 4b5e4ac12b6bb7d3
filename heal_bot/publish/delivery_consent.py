"""Whether a change may be proposed unasked, and whether it still may right before it is written."""

from __future__ import annotations

from heal_bot.core.errors import ForgeError
from heal_bot.core.events import Run
from heal_bot.core.model import ASKED, HealRequest
from heal_bot.ports.code_host import OPTED_IN, STOPPED, Forge, ForgePull, is_branch
from heal_bot.publish.change_identity import is_formatting_only
from heal_bot.publish.delivery_options import Options, Published

_BOT = "[bot]"


def withhold(
    run: Run,
    request: HealRequest,
    sha: str,
    pull: ForgePull | None,
    opened: ForgePull | None,
    forge: Forge,
    options: Options,
) -> Published | None:
    """Why nothing is written for a verified change at `sha` of this request; None to go on.

    `pull` is the pull request that was red, `opened` our proposal that is open already.
    """
    if pull is not None and (ended := _ended(run, pull, sha, forge)):
        return ended
    return _withhold_unasked(run, request, pull, opened, forge, options)


def is_told(
    run: Run,
    request: HealRequest,
    about: str,
    opened: ForgePull | None,
    forge: Forge,
    options: Options,
) -> bool:
    """Whether the change would be withheld, and the check run of the commit says so already."""
    pulls = forge.open_pulls(run)
    pull = next((p for p in pulls if p.number == request.pull_number), None)
    pull = pull or _find_of_branch(run, request, forge)
    withheld = _withhold_unasked(run, request, pull, opened, forge, options)
    try:
        return withheld is not None and forge.talk.is_checked(run, request.base_sha, about)
    except ForgeError:
        # What may not be read is written anew, or says then why it may not.
        return False


def _withhold_unasked(
    run: Run,
    request: HealRequest,
    pull: ForgePull | None,
    opened: ForgePull | None,
    forge: Forge,
    options: Options,
) -> Published | None:
    """Why nobody wants this change yet; None where somebody asked, or it is for all to have."""
    if opened is not None or request.trigger in ASKED or request.reply_to is not None:
        return None
    if pull is None:
        return _withhold_on_branch(run, request, forge, options)
    if pull.author.endswith(_BOT):
        reason = f"pull request {pull.number} is {pull.author}'s; it is explained, never changed"
        return Published("on_request", reason, pull.url, pull.number)
    foreign = pull.head_repo.lower() != forge.repo.lower()
    opted_in = options.when == "label" and OPTED_IN in pull.labels
    # Nobody can ask on a fork: whoever set up the workflows for forks has asked.
    if options.when == "auto" or opted_in or foreign:
        return None
    label = f" or set the label {OPTED_IN}" if options.when == "label" else ""
    reason = f"a change is verified; comment /heal on pull request {pull.number}{label} to get it"
    return Published("on_request", reason, pull.url, pull.number)


def _ended(run: Run, pull: ForgePull, sha: str, forge: Forge) -> Published | None:
    """Why a pull request takes no change of ours any more."""
    place = f"pull request {pull.number}"
    if STOPPED in pull.labels:
        return Published("declined", f"{place} bears the label {STOPPED}", pull.url, pull.number)
    if pull.state != "open":
        return Published("superseded", f"{place} was {pull.state} meanwhile", pull.url, pull.number)
    if pull.head_sha != sha and not is_formatting_only(run, forge, sha, pull.head_sha):
        moved = f"{place} moved from {sha[:12]} to {pull.head_sha[:12]} meanwhile"
        return Published("superseded", moved, pull.url, pull.number)
    return None


def find_red_pull(run: Run, request: HealRequest, forge: Forge) -> ForgePull | None:
    """The pull request whose head was red: the request's, or the one that is open for its branch.

    The request's is read anew, since people close, merge, push and say stop while a run heals. A
    branch's is of the list that was read before: whose it is counts, and not how it stands.
    """
    if request.pull_number is not None:
        return forge.pull(run, request.pull_number)
    return _find_of_branch(run, request, forge)


def _find_of_branch(run: Run, request: HealRequest, forge: Forge) -> ForgePull | None:
    repo, branch = forge.repo.lower(), request.base_ref
    return next(
        (
            pull
            for pull in forge.open_pulls(run)
            if branch and pull.head_ref == branch and pull.head_repo.lower() == repo
        ),
        None,
    )


def _withhold_on_branch(
    run: Run, request: HealRequest, forge: Forge, options: Options
) -> Published | None:
    """Branches that last are repaired unasked: the default one, protected ones, one that is named.

    On any other somebody is still at work.
    """
    branch = request.base_ref
    if options.when == "auto" or branch in {"", options.base, forge.default_branch(run)}:
        return None
    # What is no name of a branch is refused where the commit is compared.
    if not is_branch(branch) or forge.objects.is_protected(run, branch):
        return None
    reason = (
        f"a change for {branch} is verified; nobody asked to have it proposed: open a pull request"
        " and comment /heal, or set the input pull-requests to auto"
    )
    return Published("on_request", reason)
