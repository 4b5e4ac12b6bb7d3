"""Looks and second opinions: code run in the sandbox for what it shows, never for a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from heal_bot.events import Run
from heal_bot.model import Candidate, Cluster, Confirmed, Edit, Environment
from heal_bot.ports import Critic, Lab, Observed, Runner, Tree, Workspace
from heal_bot.source import edit


@dataclass(frozen=True, slots=True)
class SandboxLab:
    """The Lab port: each snippet runs in a fresh copy of the commit, patched where asked."""

    run: Run
    runner: Runner
    workspace: Workspace
    tree: Tree
    env: Environment

    def snippet(self, code: str, edits: Sequence[Edit] = ()) -> Observed:
        """What `code` prints; EditError when the edits do not go together."""
        tree = self.tree
        if edits:
            files = edit.patched(tree, Candidate(tuple(edits), "heal-bot", "look"))
            tree = self.workspace.patched(self.run, tree, files)
        return self.runner.snippet(self.run, tree, self.env, code)


def questioned(
    run: Run,
    confirmed: Confirmed | None,
    critics: Sequence[Critic],
    clusters: Sequence[Cluster],
    tree: Tree,
    lab: Lab,
) -> Confirmed | None:
    """The confirmed patch with what its critics ask among its doubts."""
    if confirmed is None:
        return None
    asked = [
        question
        for critic in critics
        if not run.over()
        for question in critic.questions(run, confirmed, clusters, tree, lab)
    ]
    doubts = tuple(dict.fromkeys((*confirmed.certificate.doubts, *asked)))
    return replace(confirmed, certificate=replace(confirmed.certificate, doubts=doubts))
