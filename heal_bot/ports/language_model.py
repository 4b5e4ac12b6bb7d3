"""The protocols of language models, and of what is kept of their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from heal_bot.core.events import Run
from heal_bot.core.model import Cost


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a prompt; `cached` marks the end of a block that later prompts repeat."""

    role: str
    text: str
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer of a model; never a truncated or refused one.

    Without `counted` the provider did not say what it used, and the budget takes the worst.
    """

    text: str
    cost: Cost
    model: str
    counted: bool = True


class Model(Protocol):
    """A language model behind one call; raises LLMError, never an SDK's own error."""

    @property
    def provider(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def window(self) -> int:
        """Tokens of context the prompt and the answer may take together."""

    @property
    def max_output(self) -> int:
        """Tokens one answer may have at most, thinking included."""

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars of a call with nothing cached; None where the price is unknown."""

    def ask(
        self,
        run: Run,
        system: str,
        messages: Sequence[Message],
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """One streamed call with retries; events go to `run`.

        With a JSON schema the text should be an object of that shape, where the provider can.
        """


class Replies(Protocol):
    """Answers that fixed something, by a key over all that they depend on."""

    def get(self, key: str) -> str | None:
        """The answer, or None."""

    def put(self, key: str, text: str) -> None:
        """Keep an answer."""

    def drop(self, key: str) -> None:
        """Forget an answer that did not hold."""
