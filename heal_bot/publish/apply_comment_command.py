"""`/heal apply`: the open proposal of a pull request goes onto its branch."""

from __future__ import annotations

from heal_bot.core.events import Run
from heal_bot.ports.code_host import Forge, ForgePull, try_aside
from heal_bot.publish.branch import all_ours
from heal_bot.publish.delivery_options import Published
from heal_bot.publish.delivery_strategies import list_own_pulls
from heal_bot.report import pull_request_memory


def apply_proposal(run: Run, base_ref: str, sha: str, forge: Forge, prefix: str) -> Published:
    """Fast-forward `base_ref`, which is at `sha`, to our newest proposal into it.

    Nothing is merged and nothing forced: a branch that moved since needs a new proposal.
    """
    proposal = next((p for p in list_own_pulls(run, forge, prefix) if p.base_ref == base_ref), None)
    if proposal is None:
        return Published("declined", "no proposal into this branch is open; ask with /heal")
    number, branch = proposal.number, proposal.head_ref
    if not forge.objects.contains(run, proposal.head_sha, sha):
        reason = f"this branch moved since pull request {number} was made; ask with /heal again"
        return Published("superseded", reason, proposal.url, number, branch)
    if not all_ours(run, sha, proposal.head_sha, forge):
        reason = f"pull request {number} has commits that are not heal-bot's; merge it yourself"
        return Published("declined", reason, proposal.url, number, branch)
    if not forge.objects.advance_branch(run, base_ref, proposal.head_sha):
        return Published("superseded", "this branch moved meanwhile", proposal.url, number, branch)
    try_aside(run, lambda: forge.objects.delete_branch(run, branch))
    reason = f"the change of pull request {number} is on this branch now"
    return Published("pushed", reason, proposal.url, number, branch)


def explain_proposals(run: Run, base_ref: str, forge: Forge, prefix: str) -> str:
    """What our open proposals into a branch remember, as Markdown of our own words."""
    lines = [
        _line(pull) for pull in list_own_pulls(run, forge, prefix) if pull.base_ref == base_ref
    ]
    if not lines:
        return "No proposal into this branch is open; `/heal` makes one where it can."
    return "\n".join(lines)


def _line(pull: ForgePull) -> str:
    noted = pull_request_memory.read(pull.body)
    if noted is None:
        return f"- {pull.url}"
    verdicts = [verdict for _, verdict in noted.memory.tried]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in sorted(set(verdicts)))
    told = f": {noted.attempts} attempts recorded" + (f" ({counts})" if counts else "")
    return f"- {pull.url}, verified on `{noted.base_sha[:12]}`{told}; its text has each of them"
