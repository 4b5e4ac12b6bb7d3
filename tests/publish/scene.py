"""A repository with a planted bug on the loopback GitHub, and bundles published there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest
from heal_bot.core.text import Secret
from heal_bot.github.pulls import GitHub
from heal_bot.publish.delivery_options import DEFAULT, Options, Published
from heal_bot.publish.prior_decision import Prior, Situation, decide, recall
from heal_bot.publish.publishing import publish
from tests.github_server import records
from tests.github_server.server import LoopbackGitHub

BRANCH = "heal-bot/0123456789ab"
BETTER = records.BROKEN.replace("sum(prices[1:])", "sum(list(prices))")
ADA = ("Ada", "ada@example.invalid", "2026-01-03T00:00:00+00:00")


@dataclass
class Scene:
    """A repository with a planted bug on the loopback GitHub, and the bundle that repairs it."""

    github: LoopbackGitHub
    base: str
    events: list[Any] = field(default_factory=list)

    def publish(
        self,
        values: dict[str, Any] | None = None,
        options: Options = DEFAULT,
        *,
        claimed: bool = False,
        situation: Situation | None = None,
        **changes: Any,
    ) -> Published:
        """Publish the bundle, with a client of its own as a new process would have."""
        request = HealRequest("octo/shop", self.base, "main", head_repo="octo/shop")
        forge = GitHub.open(Secret("token-for-tests"), self.github.url, "octo/shop")
        record = records.record(values or records.data(self.base))
        request = replace(request, **changes)
        run = Run(self.events.append)
        known = recall(run, request, situation, forge, options) if situation else None
        return publish(run, record, request, forge, options, claimed=claimed, prior=known)

    def commit(self, branch: str, path: str, text: str, message: str = "By hand") -> str:
        """A person's commit on a branch."""
        git = self.github.world.git
        head = self.github.world.branch(branch)
        assert head is not None
        tree = git.save_tree(head, [("100644", path, git.save_blob(text.encode()))])
        sha = git.save_commit(message, tree, [head], ADA, ADA)
        git.set_ref(f"refs/heads/{branch}", sha)
        return sha

    def shown(self, branch: str, path: str = "shop/pricing.py") -> str:
        """A file on a branch."""
        return self.github.world.git.git("show", f"refs/heads/{branch}:{path}").decode()

    def decide(self, options: Options = DEFAULT, *, situation: Situation, **changes: Any) -> Prior:
        """What is known before a run heals, with a client of its own."""
        request = HealRequest("octo/shop", self.base, "main", head_repo="octo/shop")
        forge = GitHub.open(Secret("token-for-tests"), self.github.url, "octo/shop")
        request, run = replace(request, **changes), Run(self.events.append)
        prior = recall(run, request, situation, forge, options)
        return decide(run, prior, request, forge, options)

    def close(self, number: int, by: str = "ada") -> None:
        """A pull request closed by an account."""
        pull = self.github.world.pulls[number]
        pull.state, pull.closed_by = "closed", by

    def remembered(self) -> str:
        """The text behind the ref of the state."""
        return self.github.world.git.git("show", "refs/heal-bot/state:state.json").decode()
