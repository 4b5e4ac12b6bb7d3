"""A second opinion on a confirmed patch: a critic that reads, and checks that are run.

It can raise questions and never approve: what it finds is written under the patch's doubts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from heal_bot.errors import HealBotError, LLMError
from heal_bot.events import ModelSpoke, Noted, Run
from heal_bot.model import Cluster, Confirmed, Suspect
from heal_bot.model_port import Model
from heal_bot.ports import Brief, Lab, Observed, Tree
from heal_bot.repair.llm.budget import Budget
from heal_bot.repair.llm.context import gather
from heal_bot.repair.llm.exchange import Sizes, ask
from heal_bot.repair.llm.prompting import Prompter
from heal_bot.repair.llm.reply import ReplyError
from heal_bot.repair.llm.structured import parse
from heal_bot.text import Secret, one_line, redact

_CHECKS = 4
_SIZES = Sizes(prompt=24_000, answer=6_000)
_ASSERTION = re.compile(r"^AssertionError\b", re.MULTILINE)
Text = Annotated[str, Field(max_length=4_000)]


class Check(BaseModel):
    """A program that asserts what `claim` says."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    claim: Text
    code: Text


class Review(BaseModel):
    """What a critic makes of a patch."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    agrees: bool
    question: Text = ""
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelCritic:
    """The Critic port: the first model that answers reads the patch and writes checks of it."""

    models: Sequence[Model]
    budget: Budget
    secrets: tuple[Secret, ...] = ()

    def questions(
        self, run: Run, confirmed: Confirmed, clusters: Sequence[Cluster], tree: Tree, lab: Lab
    ) -> tuple[str, ...]:
        """Questions of the critic, and claims that do not hold with the patch."""
        patch = confirmed.patch
        suspects = tuple(
            Suspect(edit.target, 1.0, ("changed by the patch",)) for edit in patch.edits
        )
        failures = tuple(f for cluster in clusters for f in cluster.failures)
        brief = Brief(Cluster("review", failures, suspects), tree)
        nonce = f"{run.rng.getrandbits(64):016x}"
        prompter = Prompter(brief.cluster, gather(brief), nonce, self.secrets)
        for model in self.models:
            try:
                reply = ask(
                    run, model, self.budget, _SIZES,
                    lambda limit: prompter.review(patch.diff, limit),
                    Review.model_json_schema(),
                )  # fmt: skip
                review = parse(reply.text, Review)
            except (LLMError, ReplyError) as error:
                note = f"no second opinion from {model.name}: {error}"
                run.emit(Noted(stage="repair", message=note, level="warning"))
                continue
            asked = tuple(self._asked(run, model, review, confirmed, lab))
            said = f"second opinion: {len(asked)} questions, {len(review.checks)} checks"
            run.emit(
                ModelSpoke(kind="review", provider=model.provider, model=model.name, detail=said)
            )
            return asked
        return ()

    def _asked(
        self, run: Run, model: Model, review: Review, confirmed: Confirmed, lab: Lab
    ) -> Iterator[str]:
        if not review.agrees:
            question = self._line(review.question) or "it would not merge this and says not why"
            yield f"{model.name} read the patch and asks: {question}"
        for check in review.checks[:_CHECKS]:
            if run.over():
                return
            try:
                before = lab.snippet(check.code)
                after = lab.snippet(check.code, confirmed.patch.edits)
            except HealBotError as error:
                run.emit(Noted(stage="repair", message=f"a check could not run: {error}"))
                return
            if _fails(after):
                when = "neither before nor after" if _fails(before) else "before, but not after,"
                yield f"a check by {model.name} holds {when} the patch: {self._line(check.claim)}"

    def _line(self, text: str) -> str:
        return one_line(redact(text, self.secrets), 300)


def _fails(seen: Observed) -> bool:
    """Whether the asserted did not hold; a check that broke otherwise says nothing."""
    return (seen.how, seen.code) == ("exited", 1) and bool(_ASSERTION.search(seen.output))
