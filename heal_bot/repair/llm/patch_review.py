"""A second opinion on a confirmed patch: a critic that reads, and checks that are run.

It never approves. A check that the patch breaks refuses it, and so does one that fails with it
where a second answer, which does not see the patch, confirms what it claims. What else it finds is
written under the patch's doubts.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from heal_bot.core.errors import HealBotError, LLMError
from heal_bot.core.events import ModelSpoke, Noted, Run
from heal_bot.core.model import Confirmed, Opinion, Patch, Suspect, Target
from heal_bot.core.text import Secret, clip, one_line, redact
from heal_bot.ports import Brief, Lab, Observed
from heal_bot.ports.language_model import Model
from heal_bot.repair.llm.answer_parser import ReplyError
from heal_bot.repair.llm.budget import Budget
from heal_bot.repair.llm.json_answer import parse
from heal_bot.repair.llm.model_request import Sizes, ask
from heal_bot.repair.llm.prompt_context import ContextFacts, gather_facts, list_imports
from heal_bot.repair.llm.prompts_fitted import Prompt, Prompter
from heal_bot.source import functions, guard

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


class SecondAnswer(BaseModel):
    """Whether correct code does what a check asserts, said without a look at the patch."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    holds: bool


Shape = TypeVar("Shape", Review, SecondAnswer)


@dataclass(frozen=True, slots=True)
class ModelCritic:
    """The Critic port: the first model that answers reads the patch and writes checks of it."""

    models: Sequence[Model]
    budget: Budget
    secrets: tuple[Secret, ...] = ()

    def opinion(self, run: Run, confirmed: Confirmed, brief: Brief, lab: Lab) -> Opinion:
        """Questions of the critic, and claims that do not hold with the patch."""
        patch = confirmed.patch
        suspects = tuple(
            Suspect(edit.target, 1.0, ("changed by the patch",)) for edit in patch.edits
        )
        failures = tuple(one for one in brief.cluster.failures if one.test in patch.fixed)
        cluster = replace(brief.cluster, failures=failures, suspects=suspects)
        nonce = f"{run.rng.getrandbits(64):016x}"
        facts = gather_facts(replace(brief, cluster=cluster))
        prompter = Prompter(cluster, facts, nonce, self.secrets)
        patched = Prompter(cluster, _patched(facts, patch), nonce, self.secrets)
        for model in self.models:
            review = self._answer(
                run, model, partial(patched.review, patch.diff, patch.reason), Review
            )
            if review is not None:
                said = f"second opinion: agrees: {review.agrees}, {len(review.checks)} checks"
                run.emit(
                    ModelSpoke(
                        kind="review", provider=model.provider, model=model.name, detail=said
                    )
                )
                return self._tried(run, model, review, confirmed, prompter, lab)
        return Opinion()

    def _answer(
        self, run: Run, model: Model, compose: Callable[[int], Prompt], shape: type[Shape]
    ) -> Shape | None:
        """What a model answers; None, and a note, where it answers nothing that can be used."""
        try:
            reply = ask(run, model, self.budget, _SIZES, compose, shape.model_json_schema())
            return parse(reply.text, shape)
        except (LLMError, ReplyError) as error:
            note = f"no second opinion from {model.name}: {error}"
            run.warn("repair", note)
        return None

    def _tried(
        self, run: Run, model: Model, review: Review, confirmed: Confirmed, prompter: Prompter,
        lab: Lab,
    ) -> Opinion:  # fmt: skip
        """The checks, run before and after the patch, and what they come to."""
        questions = []
        if not review.agrees:
            question = self._line(review.question) or "it would not merge this and says not why"
            questions.append(f"{model.name} read the patch and asks: {question}")
        for check in review.checks[:_CHECKS]:
            if run.over():
                break
            try:
                after = lab.snippet(check.code, confirmed.patch.edits)
                before = lab.snippet(check.code) if _fails(after) else after
            except HealBotError as error:
                run.emit(Noted(stage="repair", message=f"a check could not run: {error}"))
                break
            if not _fails(after):
                continue
            held = (before.how, before.code) == ("exited", 0)
            when = "before, but not after," if held else "neither before nor after"
            said = f"a check by {model.name} holds {when} the patch: {self._line(check.claim)}"
            if held or self._is_confirmed(run, check, prompter):
                code = clip(redact(check.code, self.secrets), 600)
                return Opinion(f"{said}\n{code}", tuple(questions))
            questions.append(said)
        return Opinion(questions=tuple(questions))

    def _is_confirmed(self, run: Run, check: Check, prompter: Prompter) -> bool:
        """Whether a second answer, of another model where there is one, says so too."""
        for model in reversed(self.models):
            compose = partial(prompter.claim, check.claim, check.code)
            if (second := self._answer(run, model, compose, SecondAnswer)) is not None:
                return second.holds
        return False

    def _line(self, text: str) -> str:
        return one_line(redact(text, self.secrets), 300)


def _patched(facts: ContextFacts, patch: Patch) -> ContextFacts:
    """The facts with suspects and imports as they are after a patch, where they are found there."""
    texts = facts.texts | {file.path: file.content for file in patch.files}
    after: dict[str, tuple[Target, ...]] = {}
    for file in patch.files:
        with contextlib.suppress(guard.SourceRejected):
            after[file.path] = functions.index_targets(file.path, file.content)
    suspects = []
    for one in facts.suspects:
        old = one.target
        new = functions.find_same(old, after.get(old.path, ()))
        said = ("as it is with the patch",) if new else one.evidence
        suspects.append(replace(one, target=new or old, evidence=said))
    return replace(facts, suspects=tuple(suspects), files=list_imports(texts))


def _fails(seen: Observed) -> bool:
    """Whether the asserted did not hold; a check that broke otherwise says nothing."""
    return (seen.how, seen.code) == ("exited", 1) and bool(_ASSERTION.search(seen.output))
