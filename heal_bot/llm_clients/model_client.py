"""One call of a model, whatever its provider: streamed, with our deadlines and our retries."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heal_bot.core.errors import LLMError
from heal_bot.core.events import ModelSpoke, Run
from heal_bot.core.text import Secret
from heal_bot.llm_clients.http_timeouts import LONGEST, Endpoint, WatchedConnection
from heal_bot.llm_clients.pricing import Rates
from heal_bot.llm_clients.provider_errors import make_broken
from heal_bot.llm_clients.retry import RetryPolicy, ask_again
from heal_bot.llm_clients.streamed_answer import Draft, check_end
from heal_bot.ports.language_model import Message, Reply

if TYPE_CHECKING:
    import httpx2

MAX_OUTPUT = 32_000


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked."""

    model: str
    system: str
    messages: Sequence[Message]
    max_tokens: int
    schema: Mapping[str, Any] | None = None


def _pass(*_: object) -> None:
    """For a provider that has nothing to add."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one provider is spoken to.

    `seller` is the price list's name for it, empty where its address tells; `window` is a guess
    for what the list does not know; `writes` says that a first call also pays for writing the
    cache. `good` is its word for a whole answer, `ends` has the kinds of the others.
    """

    provider: str
    seller: str
    base_url: str
    model: str
    window: int
    good: str
    ends: Mapping[str, str]
    # The header that holds the key, and what stands before it.
    credential: tuple[str, str]
    # The field of a request that grows from call to call.
    growing: str
    # From the key, the address and the HTTP client: what `stream` and `amend` speak through.
    connect: Callable[[str, Endpoint, httpx2.Client], Any]
    stream: Callable[[Any, Question], Generator[Any, None, None]]
    # Takes one event of the stream into the draft.
    take: Callable[[Run, Draft, Any], None]
    # What an error of its SDK means, what to ask instead after a refusal, and a last look.
    explain: Callable[[Exception, Draft], LLMError | None] = _pass
    amend: Callable[[Any, Question, LLMError], Question | None] = _pass
    check: Callable[[Question, Draft], None] = _pass
    # Headers that are always sent, and those that its SDK may send beside the usual ones.
    pinned: Mapping[str, str] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    writes: bool = False
    # A stream of binary frames has no lines to bound.
    lined: bool = True


class Client:
    """A model. Key, address, proxy and CA file are arguments; no environment is read.

    `window` overrides the tokens of context, which local servers do not tell.
    """

    def __init__(
        self,
        dialect: Dialect,
        key: Secret,
        model: str = "",
        base_url: str = "",
        timeout: float = LONGEST,
        *,
        proxy: str = "",
        ca_file: str = "",
        window: int = 0,
        patience: RetryPolicy | None = None,
    ) -> None:
        self.provider = dialect.provider
        self.name = model or dialect.model
        self._dialect, self._key, self._window = dialect, key, window
        self._link = Endpoint((base_url or dialect.base_url).rstrip("/"), timeout, proxy, ca_file)
        self._patience = patience or RetryPolicy()
        self._rates = Rates(self.name, dialect.seller, self._link.base_url)
        self._wire = WatchedConnection()
        # Held for good: an SDK closes a client that nobody holds, in the middle of a call.
        self._client: Any = None

    @property
    def window(self) -> int:
        """Tokens of context: as given, else as listed, else a guess."""
        return self._window or self._rates.window(self._dialect.window)

    @property
    def max_output(self) -> int:
        """Tokens of one answer, thinking included; at most half the window."""
        return min(MAX_OUTPUT, self.window // 2)

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars of such a call with nothing cached; None where the price is unknown."""
        written = input_tokens if self._dialect.writes else 0
        return self._rates.usd(input_tokens, output_tokens, written=written)

    def ask(
        self,
        run: Run,
        system: str,
        messages: Sequence[Message],
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """One streamed answer; raises LLMError for anything that is not a complete one."""
        question = Question(self.name, system, messages, max_tokens, schema)
        run.emit(ModelSpoke(kind="request", provider=self.provider, model=self.name))

        def once() -> Reply:
            try:
                return self._once(run, question)
            except LLMError as error:
                amended = self._dialect.amend(self._client, question, error)
                if amended is None:
                    raise
                return self._once(run, amended)

        return ask_again(run, self._patience, self.provider, self.name, once)

    def _once(self, run: Run, question: Question) -> Reply:
        draft = Draft(self.provider, self.name)
        client = self._connected()
        seconds = self._link.seconds(run)
        try:
            self._wire.call(run, seconds, lambda: self._read(run, draft, client, question))
        except TimeoutError as error:
            self._client, self._wire = None, WatchedConnection()
            raise make_broken(self.name, "timeout", str(error), draft.billed) from error
        check_end(run, draft, self._rates, self._dialect.good, self._dialect.ends)
        self._dialect.check(question, draft)
        return draft.reply(self._rates)

    def _connected(self) -> Any:  # noqa: ANN401 - an SDK's client, which its dialect alone knows
        if self._client is None:
            from heal_bot.llm_clients.capped_transport import make_client

            dialect, key = self._dialect, self._key.reveal()
            name, scheme = dialect.credential
            headers = {**({name: scheme + key} if key else {}), **dialect.pinned}
            kept = dialect.kept | {name}
            http = make_client(
                self._link, self._wire, headers, kept, dialect.growing, lined=dialect.lined
            )
            self._client = dialect.connect(key, self._link, http)
        return self._client

    def _read(self, run: Run, draft: Draft, client: object, question: Question) -> None:
        wire = self._wire
        try:
            with closing(self._dialect.stream(client, question)) as events:
                for event in events:
                    if wire.cut:
                        break
                    self._dialect.take(run, draft, event)
        except LLMError:
            raise
        except Exception as error:
            raise self._failure(wire, error, draft) from error
        if wire.cut:
            raise make_broken(self.name, "timeout", wire.cut, draft.billed)

    def _failure(self, wire: WatchedConnection, error: Exception, draft: Draft) -> LLMError:
        """What an error means; the wire knows best why it was cut or what was wrong."""
        import httpx2

        if wire.cut:
            return make_broken(self.name, "timeout", wire.cut, draft.billed)
        if wire.flaw:
            return make_broken(self.name, "bad_gateway", wire.flaw, draft.billed)
        if (explained := self._dialect.explain(error, draft)) is not None:
            return explained
        # An HTML page under status 200 ends in an AssertionError, odd shapes in any other.
        passing = isinstance(error, (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL))
        kind = "transient" if passing else "bad_gateway"
        return make_broken(self.name, kind, error, draft.billed)
