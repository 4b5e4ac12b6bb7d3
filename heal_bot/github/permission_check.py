"""Who may ask, and for which commit: decided by the API, never by a name or an event."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest, Trust
from heal_bot.ports.code_host import STOPPED, Forge, ForgePull

LEVELS = ("read", "triage", "write", "maintain", "admin")
# Verbs that say something about the pull request and start nothing.
_TALK = frozenset({"help", "explain", "stop"})


@dataclass(frozen=True, slots=True)
class Admission:
    """A request with its commit fixed, or (with trust refused) the reason why not.

    `config_ref` is the branch whose configuration counts.
    """

    request: HealRequest
    refusal: str = ""
    config_ref: str = ""


def admit(
    run: Run,
    request: HealRequest,
    forge: Forge,
    level: str = "write",
    bots: Collection[str] = (),
) -> Admission:
    """Fix the commit of a request and decide whether it is served.

    A comment needs an author whose role is `level` or better (or who is listed in `bots`) and a
    head in this repository; a dispatched commit must lie on the branch it is said to be of. The
    commit is read once, here. Code by somebody who cannot write is run without any key, unless
    the comment names the commit.
    """
    if request.trigger == "comment":
        # No person's login can end like this: a name in the list admits no one but an App.
        listed = request.actor in bots and request.actor.endswith("[bot]")
        if not listed and not _may(run, forge, request.actor, level):
            return _refused(request, f"@{request.actor} needs {level} permission to ask for this")
        return _of_pull(run, request, forge)
    if request.head_repo.lower() != forge.repo.lower():
        return _refused(request, "the code is from a fork; that is not served here")
    config_ref = request.base_ref
    if request.pull_number is not None:
        pull = _pull(run, request.pull_number, forge)
        if pull is not None and STOPPED in pull.labels:
            return _refused(request, f"the pull request bears the label {STOPPED}")
        config_ref = pull.base_ref if pull is not None else forge.default_branch(run)
    # What a runner says of its own run is GitHub's word; a dispatch is anybody's with a token.
    if request.trigger == "dispatch" and not forge.objects.contains(
        run, request.base_ref, request.base_sha
    ):
        reason = f"commit {request.base_sha[:12]} is not on branch {request.base_ref}"
        return _refused(request, reason)
    return Admission(replace(request, trust=Trust.TRUSTED), config_ref=config_ref)


def _of_pull(run: Run, request: HealRequest, forge: Forge) -> Admission:
    """The request with commit and branch of its pull request, or why it has none."""
    pull = _pull(run, request.pull_number or 0, forge)
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
        named
        or request.verb in _TALK
        or pull.author == request.actor
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


def _pull(run: Run, number: int, forge: Forge) -> ForgePull | None:
    """A pull request, from the list of open ones where it is there."""
    listed = next((p for p in forge.open_pulls(run) if p.number == number), None)
    return listed or forge.pull(run, number)


def _may(run: Run, forge: Forge, login: str, level: str) -> bool:
    role = forge.permission(run, login)
    return role in LEVELS and level in LEVELS and LEVELS.index(role) >= LEVELS.index(level)


def _refused(request: HealRequest, reason: str) -> Admission:
    return Admission(replace(request, trust=Trust.REFUSED), reason)
