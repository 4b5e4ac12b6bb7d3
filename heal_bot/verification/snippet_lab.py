"""Looks and second opinions: code run in the sandbox for what it shows, never for a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from heal_bot.core.events import Run
from heal_bot.core.model import Confirmed, Edit, Opinion, Verdict
from heal_bot.core.statuses import VerdictStatus
from heal_bot.ports import Brief, Critic, Lab, Observed, RunContext
from heal_bot.source import edit


@dataclass(frozen=True, slots=True)
class SandboxLab:
    """The Lab port: each snippet runs in a fresh copy of the commit, patched where asked."""

    context: RunContext

    def snippet(self, code: str, edits: Sequence[Edit] = ()) -> Observed:
        """What `code` prints; EditError when the edits do not go together."""
        context, tree = self.context, self.context.tree
        if edits:
            tree = context.patched(edit.patch_files(tree, edits))
        return context.runner.snippet(context.run, tree, context.env, code)


@dataclass(frozen=True, slots=True)
class Panel:
    """The critics, and what they need to look at a patch."""

    run: Run
    critics: Sequence[Critic]
    brief: Brief
    lab: Lab

    def heard(self, verified: Confirmed | Verdict) -> Confirmed | Verdict:
        """The patch with what its critics ask among its doubts, or why it is refused."""
        if isinstance(verified, Verdict):
            return verified
        opinions = self._opinions(verified)
        if refusal := next((o.refusal for o in opinions if o.refusal), ""):
            return Verdict(VerdictStatus.UNCONFIRMED, detail=refusal)
        asked = [question for opinion in opinions for question in opinion.questions]
        doubts = tuple(dict.fromkeys((*verified.certificate.doubts, *asked)))
        certificate = replace(verified.certificate, doubts=doubts)
        return Confirmed(verified.patch, certificate, (*verified.objections, *asked), heard=True)

    def refusal(self, confirmed: Confirmed) -> str:
        """Why a patch is wrong; '' where no check shows it, or none did when it was heard."""
        if confirmed.heard:
            return ""
        return next((o.refusal for o in self._opinions(confirmed) if o.refusal), "")

    def _opinions(self, confirmed: Confirmed) -> list[Opinion]:
        asked = (critic for critic in self.critics if not self.run.over())
        return [one.opinion(self.run, confirmed, self.brief, self.lab) for one in asked]
