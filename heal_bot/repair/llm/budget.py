"""What the model tier may spend: reserved before a call, settled after it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from heal_bot.core.errors import LLMError
from heal_bot.core.events import ModelSpoke, Noted, Run
from heal_bot.core.model import Cost
from heal_bot.core.text import count
from heal_bot.ports.language_model import Model

_LEAST_ANSWER = 4_000
# A prompt has at most three times the tokens that are estimated: one per byte.
_DENSEST = 3.0


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one call may cost at most; `usd` is None where the price is unknown."""

    model: Model
    input_tokens: int
    max_tokens: int
    usd: float | None
    estimate: int


@dataclass(slots=True)
class Budget:
    """Caps on dollars, on the tokens of calls without a known price, on calls.

    A reservation holds the whole prompt uncached and a full answer, so that a call ends beyond
    the cap only where a prompt has more tokens than estimated, which the next reservations
    allow for. What a failed call was charged for counts, and where nobody can know, all that was
    reserved.
    """

    usd: float = 1.0
    tokens: int = 300_000
    calls: int = 60
    limit: str = ""
    _usd: float = 0.0
    _unpriced: int = 0
    _calls: int = 0
    _input: int = 0
    _output: int = 0
    _cached: int = 0
    _unknown: bool = False
    _denser: float = 1.0

    def reserve(self, run: Run, model: Model, input_tokens: int, max_tokens: int) -> Reservation:
        """Room for a call, with a shorter answer where the whole one is not affordable.

        Raises LLMError of kind `budget`, naming the cap that is reached.
        """
        if self._calls >= self.calls:
            made = f"{count(self.calls, 'model call')} made, as many as allowed"
            raise self._over(run, model, "model call", made)
        allowed, estimate = max_tokens, input_tokens
        input_tokens = math.ceil(estimate * self._denser)
        while allowed >= min(_LEAST_ANSWER, max_tokens):
            usd = model.price(input_tokens, allowed)
            if usd is None and self._unpriced + input_tokens + allowed <= self.tokens:
                self._say_unknown(run, model)
                return Reservation(model, input_tokens, allowed, None, estimate)
            if usd is not None and self._usd + usd <= self.usd:
                return Reservation(model, input_tokens, allowed, usd, estimate)
            allowed = allowed * 3 // 4
        if model.price(input_tokens, 1) is None:
            most = f"{self.tokens} tokens without a price were allowed"
            raise self._over(run, model, "token", most)
        left = f"{max(0.0, self.usd - self._usd):.3f} of {self.usd:g} dollars are left"
        raise self._over(run, model, "spending", f"{left}, too little for another call")

    def settle(self, held: Reservation, cost: Cost | None) -> None:
        """Count a call that was answered; None, where the provider said no usage, as reserved."""
        if cost is None:
            self._count(held, held.input_tokens, held.max_tokens, held.usd)
            return
        seen = cost.input_tokens / max(1, held.estimate)
        self._denser = max(self._denser, min(seen, _DENSEST))
        self._count(held, cost.input_tokens, cost.output_tokens, cost.usd)
        self._cached += cost.cached_tokens

    def settle_failed(self, held: Reservation, error: LLMError) -> None:
        """Count a call that failed: what it was charged for, or all that was reserved."""
        if error.billed is None:
            self._count(held, held.input_tokens, held.max_tokens, held.usd)
        else:
            self._count(held, *error.billed, held.model.price(*error.billed))

    def spent(self) -> Cost:
        """All calls so far, failed ones included; `usd` is None when a price was unknown."""
        usd = None if self._unknown else self._usd
        return Cost(usd, self._input, self._output, self._cached)

    def _count(
        self, held: Reservation, input_tokens: int, output_tokens: int, usd: float | None
    ) -> None:
        self._calls += 1
        self._input += input_tokens
        self._output += output_tokens
        if usd is None:
            self._unpriced += input_tokens + output_tokens
            self._unknown = self._unknown or input_tokens + output_tokens > 0
        else:
            self._usd += usd

    def _say_unknown(self, run: Run, model: Model) -> None:
        if not self._unknown:
            self._unknown = True
            said = f"the price of {model.name} is unknown; {self.tokens} tokens are the limit"
            run.emit(Noted(stage="repair", message=said))

    def _over(self, run: Run, model: Model, limit: str, reason: str) -> LLMError:
        self.limit = limit
        run.emit(
            ModelSpoke(kind="budget", provider=model.provider, model=model.name, detail=reason)
        )
        return LLMError("budget", f"the model budget is spent: {reason}")
