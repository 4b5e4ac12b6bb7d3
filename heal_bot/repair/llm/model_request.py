"""One question to a model within the budget, and the name of what the answer depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heal_bot.core.errors import LLMError
from heal_bot.core.events import Run
from heal_bot.ports import Brief
from heal_bot.ports.language_model import Model, Reply
from heal_bot.repair.llm.budget import Budget
from heal_bot.repair.llm.prompt_context import ContextFacts
from heal_bot.repair.llm.prompts_fitted import VERSION, Prompt

_TRIES = 3
_AGAIN = frozenset({"transient", "bad_gateway", "overloaded"})


@dataclass(frozen=True, slots=True)
class Sizes:
    """The most tokens of a prompt and of an answer."""

    prompt: int = 40_000
    answer: int = 16_000


def ask(
    run: Run,
    model: Model,
    budget: Budget,
    sizes: Sizes,
    compose: Callable[[int], Prompt],
    schema: Mapping[str, Any] | None = None,
) -> Reply:
    """A complete answer to what `compose` makes of a limit of tokens; LLMError when none comes.

    Asks again with a smaller prompt or more room for the answer where that helps.
    """
    most = min(sizes.answer, model.max_output)
    limit = min(sizes.prompt, model.window - most)
    for remaining in reversed(range(_TRIES)):
        prompt = compose(limit)
        held = budget.reserve(run, model, prompt.tokens, most)
        try:
            reply = model.ask(run, prompt.system, prompt.messages, held.max_tokens, schema)
        except LLMError as error:
            budget.settle_failed(held, error)
            if not remaining or run.over():
                raise
            if error.kind in {"context_overflow", "over_tpm"}:
                limit = min(limit, prompt.tokens) // 2
            elif error.kind == "truncated" and most < model.max_output:
                most = min(2 * most, model.max_output)
            elif error.kind not in _AGAIN or error.billed == (0, 0):
                raise
        else:
            budget.settle(held, reply.cost if reply.counted else None)
            return reply
    raise AssertionError("unreachable: the last try returns or raises")


def answer_key(model: Model, brief: Brief, facts: ContextFacts) -> str:
    """Names an answer by all it depends on: code, tests, failures, lock, prompt, model."""
    parts = [
        VERSION,
        [model.provider, model.name],
        brief.lock_hash,
        brief.instruction,
        brief.cluster.signature,
        sorted([failure.test, failure.kind] for failure in brief.cluster.failures),
        [[group.source, *group.fixtures] for group in facts.failing],
        [[t.path, t.qualname, t.nth, t.source] for t in facts.targets],
        facts.base,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
