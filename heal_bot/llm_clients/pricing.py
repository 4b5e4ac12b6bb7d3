"""What a call costs and how much a model reads, from the price list that is installed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of one model; `provider` is the list's name for it, or `api_url` is looked up."""

    model: str
    provider: str = ""
    api_url: str = ""

    def usd(
        self, input_tokens: int, output_tokens: int, cached: int = 0, written: int = 0
    ) -> float | None:
        """Dollars of a call; `input_tokens` include those read from and written to a cache.

        None where the list does not know the model.
        """
        return _usd(self, input_tokens, output_tokens, cached, written)

    def window(self, fallback: int) -> int:
        """Tokens of context, `fallback` where the list does not say."""
        from genai_prices import data_snapshot

        url = self.api_url or None
        try:
            found = data_snapshot.get_snapshot().find_provider_model(
                self.model, None, self.provider or None, url
            )
        except LookupError:
            return fallback
        return int(found[1].context_window or fallback)


@lru_cache(maxsize=64)
def _usd(
    rates: Rates, input_tokens: int, output_tokens: int, cached: int, written: int
) -> float | None:
    """A call costs the same whenever it is asked about: for the event, the reply, the budget."""
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=cached,
        cache_write_tokens=written,
    )
    try:
        if rates.provider:
            price = calc_price(usage, rates.model, provider_id=rates.provider)
        else:
            price = calc_price(usage, rates.model, provider_api_url=rates.api_url)
    except (LookupError, ValueError):
        return None
    return float(price.total_price)
