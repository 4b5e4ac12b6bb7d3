"""An answer while it arrives, and the check that it is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from heal_bot.core.errors import LLMError
from heal_bot.core.events import ModelSpoke, Run
from heal_bot.core.model import Cost
from heal_bot.llm_clients.pricing import Rates
from heal_bot.llm_clients.provider_errors import make_broken
from heal_bot.ports.language_model import Reply

_CAP = 2_000_000
_EVERY = 4_000
_TOKENS = 1_000_000_000


@dataclass(slots=True)
class Draft:
    """What arrived so far; `end` is the provider's word for why it stopped, `why` its reason.

    `started` says that the provider began to answer, so that the call may be billed; `counted`
    that it told the final usage.
    """

    provider: str
    model: str
    started: bool = False
    counted: bool = False
    end: str = ""
    why: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached: int = 0
    written: int = 0
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _told: int = 0

    @property
    def text(self) -> str:
        """The text so far; half a character, which cannot be written, becomes a question mark."""
        return "".join(self._parts).encode("utf-8", "replace").decode()

    @property
    def billed(self) -> tuple[int, int] | None:
        """What a failure now costs: nothing before the start, unknown before the usage."""
        if not self.started:
            return (0, 0)
        return (self.input_tokens, self.output_tokens) if self.counted else None

    def told(
        self, read: object, said: object, cached: object = 0, written: object = 0, *, final: bool
    ) -> None:
        """Take the usage so far, where `read` holds what was read from or written to a cache.

        What is no number of tokens counts as never told: then all that was reserved is charged.
        """
        self.started, self.counted = True, False
        try:
            self.input_tokens, self.output_tokens = parse_tokens(read), parse_tokens(said)
            self.cached = min(parse_tokens(cached), self.input_tokens)
            self.written = min(parse_tokens(written), self.input_tokens - self.cached)
        except ValueError:
            return
        self.counted = final

    def add(self, run: Run, text: str) -> None:
        """Append text; tells of progress by length alone, since a part may split a secret."""
        self.started = True
        self._parts.append(text)
        self._length += len(text)
        if self._length > _CAP:
            raise make_broken(self.model, "truncated", f"more than {_CAP} characters", self.billed)
        if self._length - self._told >= _EVERY:
            self._told = self._length
            said = f"{self._length} characters"
            run.emit(
                ModelSpoke(kind="delta", provider=self.provider, model=self.model, detail=said)
            )

    def reply(self, rates: Rates) -> Reply:
        """The complete answer with its cost."""
        return Reply(self.text, self.cost(rates), self.model, self.counted)

    def cost(self, rates: Rates) -> Cost:
        """The usage so far with its price, which is unknown as long as the usage is."""
        used = self.input_tokens, self.output_tokens, self.cached
        return Cost(rates.usd(*used, self.written) if self.counted else None, *used)


def parse_tokens(value: object) -> int:
    """A number of tokens as a server says it; ValueError for anything else."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _TOKENS:
        raise ValueError(f"{str(value)[:40]} is no number of tokens")
    return value


def add_tokens(*parts: object) -> int | None:
    """The sum of the numbers that a server told; None where it told none, or no number."""
    given = [part for part in parts if part is not None]
    try:
        return sum(map(parse_tokens, given)) if given else None
    except ValueError:
        return None


def check_end(run: Run, draft: Draft, rates: Rates, good: str, ends: Mapping[str, str]) -> None:
    """Tell the usage; raise LLMError unless the answer ended with `good` and says something.

    `ends` maps the provider's other words to kinds; a word it does not know is `transient`, and
    no word at all means that the stream was closed early.
    """
    run.emit(
        ModelSpoke(
            kind="usage",
            provider=draft.provider,
            model=draft.model,
            input_tokens=draft.input_tokens,
            output_tokens=draft.output_tokens,
            cached_tokens=draft.cached,
            usd=draft.cost(rates).usd,
        )
    )
    if draft.end == good and draft.text.strip():
        return
    if draft.end == good:
        raise make_broken(draft.model, "truncated", "the answer is empty", draft.billed)
    if not draft.end:
        kind = "transient" if draft.started else "bad_gateway"
        raise make_broken(draft.model, kind, "the stream ended before the answer did", draft.billed)
    kind = ends.get(draft.end, "transient")
    reason = f"ended with {draft.end}{f' ({draft.why})' if draft.why else ''}"
    if kind == "refusal":
        run.emit(
            ModelSpoke(kind="refusal", provider=draft.provider, model=draft.model, detail=reason)
        )
    raise LLMError(kind, f"{draft.model}: {kind}: {reason}", None, draft.billed)
