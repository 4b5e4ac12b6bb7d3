"""Who may ask, and for which commit: decided by the API, never by a name or an event."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest, Trust
from heal_bot.ports.code_host import STOPPED, Forge, ForgePull

LEVELS = ("read", "triage", "write", "maintain", "admin")
_WRITING = LEVELS[2:]
# Verbs that say something about the pull request and start nothing.
_TALK = frozenset({"help", "explain", "stop"})
# Verbs that on a proposal of ours mean the branch it is for.
_OF_BASE = frozenset({"heal", "retry", "pick", "explain"})


@dataclass(frozen=True, slots=True)
class Admission:
    """A request with its commit fixed, or (with trust refused) the reason why not.

    `config_ref` is the branch whose configuration counts; `stranger` says that whoever asked may
    not ask at all.
    """

    request: HealRequest
    refusal: str = ""
    config_ref: str = ""
    stranger: bool = False


def admit(
    run: Run,
    request: HealRequest,
    forge: Forge,
    level: str = "write",
    bots: Collection[str] = (),
    prefix: str = "heal-bot/",
) -> Admission:
    """Fix the commit of a request and decide whether it is served.

    A comment needs an author whose role is `level` or better (or who is listed in `bots`) and a
    head in this repository; a commit that is dispatched or commented on must lie on its branch. The
    commit is read once, here. Code by somebody who cannot write is run without any key, unless
    the comment names the commit; who cannot write, which `level` may allow, vouches for none. On a
    proposal of ours, whose branch begins with `prefix`, what is asked for is another repair of its
    base.
    """
    vouches = False
    if request.trigger in {"comment", "commit"}:
        # No person's login can end like this: a name in the list admits no one but an App.
        listed = request.actor in bots and request.actor.endswith("[bot]")
        if not listed and not _may(run, forge, request.actor, level):
            reason = f"@{request.actor} needs {level} permission to ask for this"
            return replace(_refused(request, reason), stranger=True)
        vouches = listed or level in _WRITING or _may(run, forge, request.actor, "write")
    if request.trigger == "comment":
        return _of_pull(run, request, forge, prefix, vouches)
    if request.head_repo.lower() != forge.repo.lower():
        return _refused(request, "the code is from a fork; that is not served here")
    config_ref = request.base_ref
    if request.pull_number is not None:
        pull = _pull(run, request.pull_number, forge)
        if pull is not None and STOPPED in pull.labels:
            return _refused(request, f"the pull request bears the label {STOPPED}")
        config_ref = pull.base_ref if pull is not None else forge.default_branch(run)
    # What a runner says of its own run is GitHub's word; a dispatch is anybody's with a token.
    if request.trigger in {"dispatch", "commit"} and not forge.objects.contains(
        run, request.base_ref, request.base_sha
    ):
        reason = f"commit {request.base_sha[:12]} is not on branch {request.base_ref}"
        return _refused(request, reason)
    return Admission(replace(request, trust=Trust.TRUSTED), config_ref=config_ref)


def _of_pull(run: Run, request: HealRequest, forge: Forge, prefix: str, vouches: bool) -> Admission:
    """The request with commit and branch of its pull request, or why it has none.

    `vouches` says that who asks can write, and knows the code that is named or is their own.
    """
    pull = _pull(run, request.pull_number or 0, forge)
    if pull is not None and request.verb in _OF_BASE and _is_ours(run, pull, forge, prefix):
        return _of_base(run, request, pull, forge, vouches)
    if pull is None or pull.state != "open":
        return _refused(request, "the pull request is not open")
    if pull.head_repo.lower() != forge.repo.lower():
        return _refused(request, "the code is from a fork; that is not served here")
    named = bool(request.base_sha)
    if named and request.base_sha != pull.head_sha:
        reason = f"the head is {pull.head_sha[:12]}, not {request.base_sha[:12]}"
        return _refused(request, reason)
    if STOPPED in pull.labels and request.verb not in _TALK:
        return _refused(request, f"the pull request bears the label {STOPPED}; remove it first")
    trusted = (
        request.verb in _TALK
        or (vouches and (named or pull.author == request.actor))
        or _may(run, forge, pull.author, "write")
    )
    known = replace(
        request,
        base_sha=pull.head_sha,
        tested_sha=pull.head_sha,
        base_ref=pull.head_ref,
        head_repo=pull.head_repo,
        trust=Trust.TRUSTED if trusted else Trust.KEYLESS,
    )
    return Admission(known, config_ref=pull.base_ref)


def _is_ours(run: Run, pull: ForgePull, forge: Forge, prefix: str) -> bool:
    """Whether this token opened a pull request, from a branch of ours in this repository."""
    here = pull.head_repo.lower() == forge.repo.lower() and pull.head_ref.startswith(prefix)
    return here and pull.author == forge.me(run)


def _of_base(
    run: Run, request: HealRequest, pull: ForgePull, forge: Forge, vouches: bool
) -> Admission:
    """The request for the newest commit of the branch that a proposal of ours is for."""
    if pull.state != "open" and request.verb != "retry":
        return _refused(request, "the pull request is not open; ask with /heal retry")
    if STOPPED in pull.labels and request.verb not in _TALK:
        return _refused(request, f"the pull request bears the label {STOPPED}; remove it first")
    sha = forge.objects.head(run, pull.base_ref)
    if sha is None:
        return _refused(request, f"branch {pull.base_ref} is gone")
    below = next((p for p in forge.open_pulls(run) if p.head_ref == pull.base_ref), None)
    trusted = (
        below is None
        or (vouches and below.author == request.actor)
        or _may(run, forge, below.author, "write")
    )
    known = replace(
        request,
        base_sha=sha,
        tested_sha=sha,
        base_ref=pull.base_ref,
        head_repo=forge.repo,
        pull_number=None,
        thread=pull.number,
        # What is proposed is known: whoever asks here wants another look.
        verb="retry" if request.verb == "heal" else request.verb,
        trust=Trust.TRUSTED if trusted else Trust.KEYLESS,
    )
    return Admission(known, config_ref=pull.base_ref)


def _pull(run: Run, number: int, forge: Forge) -> ForgePull | None:
    """A pull request, from the list of open ones where it is there."""
    listed = next((p for p in forge.open_pulls(run) if p.number == number), None)
    return listed or forge.pull(run, number)


def _may(run: Run, forge: Forge, login: str, level: str) -> bool:
    role = forge.permission(run, login)
    return role in LEVELS and level in LEVELS and LEVELS.index(role) >= LEVELS.index(level)


def _refused(request: HealRequest, reason: str) -> Admission:
    return Admission(replace(request, trust=Trust.REFUSED), reason)
