"""Who may ask, and for which commit: decided by the API, never by a name or an event."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heal_bot.events import Run
from heal_bot.forge_port import Forge
from heal_bot.model import HealRequest, Trust

LEVELS = ("read", "triage", "write", "maintain", "admin")


@dataclass(frozen=True, slots=True)
class Admission:
    """A request with its commit fixed, or (with trust refused) the reason why not."""

    request: HealRequest
    refusal: str = ""


def admit(run: Run, request: HealRequest, forge: Forge, level: str = "write") -> Admission:
    """Fix the commit of a request and decide whether it is served.

    A comment needs an author whose role is `level` or better and a head in this repository; every
    commit must lie on the branch it is said to be of. The commit is read once, here.
    """
    if request.trigger == "comment":
        role = forge.permission(run, request.actor)
        if not _reaches(role, level):
            return _refused(request, f"@{request.actor} needs {level} permission to ask for this")
        completed = _of_pull(run, request, forge)
        if isinstance(completed, str):
            return _refused(request, completed)
        request = completed
    if request.head_repo.lower() != forge.repo.lower():
        return _refused(request, "the code is from a fork; that is not served here")
    if not forge.objects.contains(run, request.base_ref, request.base_sha):
        reason = f"commit {request.base_sha[:12]} is not on branch {request.base_ref}"
        return _refused(request, reason)
    return Admission(replace(request, trust=Trust.TRUSTED))


def _of_pull(run: Run, request: HealRequest, forge: Forge) -> HealRequest | str:
    """The request with commit and branch of its pull request, or why it has none."""
    pull = forge.pull(run, request.pull_number or 0)
    if pull is None or pull.state != "open":
        return "the pull request is not open"
    if pull.head_repo.lower() != forge.repo.lower():
        return "the code is from a fork; that is not served here"
    if request.base_sha and request.base_sha != pull.head_sha:
        return f"the head is {pull.head_sha[:12]}, not {request.base_sha[:12]}"
    return replace(
        request,
        base_sha=pull.head_sha,
        tested_sha=pull.head_sha,
        base_ref=pull.head_ref,
        head_repo=pull.head_repo,
    )


def _reaches(role: str, level: str) -> bool:
    return role in LEVELS and level in LEVELS and LEVELS.index(role) >= LEVELS.index(level)


def _refused(request: HealRequest, reason: str) -> Admission:
    return Admission(replace(request, trust=Trust.REFUSED), reason)
