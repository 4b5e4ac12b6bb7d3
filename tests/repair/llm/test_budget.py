from __future__ import annotations

import pytest

from heal_bot.core.errors import LLMError
from heal_bot.core.events import Event, Run
from heal_bot.core.model import Cost
from heal_bot.repair.llm.budget import Budget


class Priced:
    """A dollar per million tokens in, ten out; or no price at all."""

    provider, name, window, max_output = "claude", "m", 100_000, 32_000

    def __init__(self, known: bool = True) -> None:
        self.known = known

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        return (input_tokens + 10 * output_tokens) / 1e6 if self.known else None

    def ask(self, *args: object) -> None:
        raise AssertionError("a budget asks nobody")


@pytest.fixture
def heard() -> list[Event]:
    return []


@pytest.fixture
def run(heard) -> Run:
    now = iter(range(10_000))
    return Run(heard.append, clock=lambda: float(next(now)))


def test_a_call_is_reserved_at_its_dearest_and_settled_at_its_price(run) -> None:
    budget = Budget(usd=1.0)
    held = budget.reserve(run, Priced(), 10_000, 16_000)
    assert held.usd == pytest.approx(0.17)
    budget.settle(held, Cost(0.02, 10_000, 1_000, 8_000))
    assert budget.spent() == Cost(pytest.approx(0.02), 10_000, 1_000, 8_000)


def test_near_the_cap_the_answer_is_shortened_and_then_refused(run, heard) -> None:
    budget = Budget(usd=0.1)
    held = budget.reserve(run, Priced(), 10_000, 16_000)
    assert 4_000 <= held.max_tokens <= 9_000
    assert held.usd is not None
    assert held.usd <= 0.1
    budget.settle(held, Cost(0.08, 10_000, 7_000))
    with pytest.raises(LLMError, match=r"0\.020 of 0\.1 dollars are left") as caught:
        budget.reserve(run, Priced(), 10_000, 16_000)
    assert caught.value.kind == "budget"
    assert [event.kind for event in heard] == ["budget"]


@pytest.mark.parametrize(("billed", "usd"), [((0, 0), 0.0), ((1_000, 100), 0.002), (None, 0.17)])
def test_a_failed_call_costs_what_it_was_charged_for_or_all_of_it(run, billed, usd) -> None:
    budget = Budget(usd=1.0)
    held = budget.reserve(run, Priced(), 10_000, 16_000)
    budget.settle_failed(held, LLMError("transient", "cut", None, billed))
    assert budget.spent().usd == pytest.approx(usd)


def test_an_answer_without_usage_costs_all_that_was_reserved(run) -> None:
    budget = Budget(usd=1.0)
    held = budget.reserve(run, Priced(), 10_000, 16_000)
    budget.settle(held, None)
    assert budget.spent() == Cost(pytest.approx(0.17), 10_000, 16_000)


def test_without_a_price_tokens_are_the_limit(run, heard) -> None:
    budget = Budget(usd=0.0, tokens=30_000)
    held = budget.reserve(run, Priced(known=False), 10_000, 16_000)
    assert held.usd is None
    assert "price of m is unknown" in heard[0].message
    budget.settle(held, Cost(None, 10_000, 12_000))
    assert budget.spent().usd is None
    with pytest.raises(LLMError, match="30000 tokens without a price"):
        budget.reserve(run, Priced(known=False), 10_000, 16_000)


def test_a_prompt_of_more_tokens_than_estimated_is_reserved_as_such_from_then_on(run) -> None:
    budget = Budget(usd=1.0)
    held = budget.reserve(run, Priced(), 10_000, 4_000)
    budget.settle(held, Cost(0.02, 20_000, 10))
    assert budget.reserve(run, Priced(), 10_000, 4_000).input_tokens == 20_000
    budget.settle(held, Cost(0.02, 10**9, 10))
    assert budget.reserve(run, Priced(), 10_000, 4_000).input_tokens == 30_000


def test_calls_are_a_limit_too(run) -> None:
    budget = Budget(calls=1)
    held = budget.reserve(run, Priced(), 1, 100)
    budget.settle(held, Cost(0.0, 1, 1))
    with pytest.raises(LLMError, match="1 model call made"):
        budget.reserve(run, Priced(), 1, 100)
