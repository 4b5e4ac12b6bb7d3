"""Proposals that are no longer needed: the tests pass without us."""

from __future__ import annotations

from functools import partial

from heal_bot.core.events import Noted, Run
from heal_bot.ports.code_host import STOPPED, Forge, try_aside
from heal_bot.publish.branch import all_ours
from heal_bot.publish.delivery_strategies import list_own_pulls
from heal_bot.report import pull_request_memory

_SAID = "The tests pass on `{base}` at `{sha}` without this change, so it is closed."


def close_stale(run: Run, base_ref: str, sha: str, forge: Forge, prefix: str) -> tuple[int, ...]:
    """Close our pull requests into `base_ref`, where the tests pass at `sha`, and their branches.

    A proposal that was verified on a later commit than `sha` stays, and so does one whose branch
    holds a commit of somebody else. Returns the numbers that were closed.
    """
    closed = []
    for pull in list_own_pulls(run, forge, prefix):
        noted = pull_request_memory.read(pull.body)
        if pull.base_ref != base_ref or noted is None or STOPPED in pull.labels:
            continue
        if not forge.objects.contains(run, sha, noted.base_sha):
            continue
        head = forge.objects.head(run, pull.head_ref)
        if head is not None and not all_ours(run, base_ref, head, forge):
            message = f"pull request {pull.number} has commits that are not ours; it stays"
            run.emit(Noted(stage="publish", message=message))
            continue
        mark = f"<!-- heal-bot green {sha[:12]} -->"
        said = _SAID.format(base=base_ref.replace("`", ""), sha=sha[:12])
        text = f"{mark}\n{said}"
        try_aside(run, partial(forge.talk.comment, run, pull.number, mark, text))
        forge.close_pull(run, pull.number, pull_request_memory.withdraw(pull.body))
        try_aside(run, partial(forge.objects.delete_branch, run, pull.head_ref))
        closed.append(pull.number)
    return tuple(closed)
