"""Claude through its own SDK, streamed, with our deadlines and our retries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from heal_bot.core.errors import LLMError
from heal_bot.core.events import ModelSpoke, Run
from heal_bot.core.text import Secret
from heal_bot.llm_clients.http_timeouts import LONGEST, Endpoint, WatchedConnection, silence_sdks
from heal_bot.llm_clients.pricing import Rates
from heal_bot.llm_clients.provider_errors import (
    describe_cut,
    make_broken,
    make_failure,
    wait_seconds,
)
from heal_bot.llm_clients.retry import Patience, ask_again
from heal_bot.llm_clients.streamed_answer import Draft, add_tokens, check_end
from heal_bot.ports.language_model import Message, Reply

if TYPE_CHECKING:
    import anthropic
    from anthropic.lib.streaming import ParsedMessageStreamEvent
    from anthropic.types import MessageDeltaUsage, Usage

BASE_URL = "https://api.anthropic.com"
DEFAULT_MODEL = "claude-sonnet-5-5"
API_VERSION = "2026-10-21"
MAX_OUTPUT = 32_000
_WINDOW = 200_000
_MARKS = 4
_HEADERS = frozenset(
    {
        "host", "accept", "accept-encoding", "connection", "content-type", "content-length",
        "transfer-encoding", "user-agent", "authorization", "anthropic-version",
    }
)  # fmt: skip
# Families from before adaptive thinking and the effort setting refuse both.
_PLAIN = re.compile(r".*claude-(?:[23]|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:[-@]\d{8}\b.*)?$)")
_ENDS = {
    "refusal": "refusal",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "context_overflow",
}


class Claude:
    """A Claude model. Key, address, proxy and CA file are arguments; no environment is read.

    A cloud that sells it makes another client of the same SDK. `effort` is the SDK's output
    setting (low | medium | high | xhigh | max).
    """

    provider = "claude"
    # The price list's name for who sells it, and whether its stream has lines at all.
    seller = "anthropic"
    lined = True

    def __init__(
        self,
        key: Secret,
        model: str = "",
        base_url: str = "",
        timeout: float = LONGEST,
        *,
        proxy: str = "",
        ca_file: str = "",
        effort: str = "medium",
        patience: Patience | None = None,
    ) -> None:
        self.name = model or DEFAULT_MODEL
        self._key = key
        self._link = Endpoint(base_url or BASE_URL, timeout, proxy, ca_file)
        self._effort = effort
        self._patience = patience or Patience()
        self._rates = Rates(self.name, provider=self.seller)
        self._wire = WatchedConnection()
        self._client: anthropic.Anthropic | None = None

    @property
    def window(self) -> int:
        """Tokens of context."""
        return self._rates.window(_WINDOW)

    @property
    def max_output(self) -> int:
        """Tokens of one answer, thinking included."""
        return MAX_OUTPUT

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars of such a call; a first call may also pay for writing the cache."""
        return self._rates.usd(input_tokens, output_tokens, written=input_tokens)

    def ask(
        self,
        run: Run,
        system: str,
        messages: Sequence[Message],
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """One streamed answer; raises LLMError for anything that is not a complete one."""
        body: dict[str, Any] = {
            "model": self.name,
            "max_tokens": max_tokens,
            "system": [{"type": "text", "text": system}],
            "messages": _turns(messages),
        }
        if not _PLAIN.match(self.name):
            body["thinking"] = {"type": "adaptive"}
            body["output_config"] = {"effort": self._effort}
        if schema is not None:
            shape = {"type": "json_schema", "schema": schema}
            body["output_config"] = {**body.get("output_config", {}), "format": shape}
        run.emit(ModelSpoke(kind="request", provider=self.provider, model=self.name))
        return ask_again(
            run, self._patience, self.provider, self.name, lambda: self._once(run, body)
        )

    def _once(self, run: Run, body: dict[str, Any]) -> Reply:
        draft = Draft(self.provider, self.name)
        client = self._connected()
        seconds = self._link.seconds(run)
        try:
            self._wire.call(run, seconds, lambda: self._stream(run, draft, client, body))
        except TimeoutError as error:
            self._client, self._wire = None, WatchedConnection()
            raise make_broken(self.name, "timeout", str(error), draft.billed) from error
        check_end(run, draft, self._rates, "end_turn", _ENDS)
        return draft.reply(self._rates)

    def _stream(
        self, run: Run, draft: Draft, client: anthropic.Anthropic, body: dict[str, Any]
    ) -> None:
        import anthropic
        import httpx2

        try:
            with client.messages.stream(**body) as stream:
                for event in stream:
                    self._take(run, draft, event)
            if self._wire.cut:
                raise make_broken(self.name, "timeout", self._wire.cut, draft.billed)
        except anthropic.APIStatusError as error:
            raise self._refused(error, draft) from error
        except (anthropic.AnthropicError, httpx2.HTTPError, httpx2.StreamError) as error:
            raise describe_cut(self.name, self._wire, "transient", error, draft.billed) from error
        except LLMError:
            raise
        except Exception as error:
            # An HTML page under status 200 ends in an AssertionError, odd shapes in any other.
            raise describe_cut(self.name, self._wire, "bad_gateway", error, draft.billed) from error

    def _take(self, run: Run, draft: Draft, event: ParsedMessageStreamEvent[None]) -> None:
        if self._wire.cut:
            raise make_broken(self.name, "timeout", self._wire.cut, draft.billed)
        draft.started = True
        if event.type == "text":
            draft.add(run, event.text)
        elif event.type == "message_start":
            self._usage(draft, event.message.usage, final=False)
        elif event.type == "message_delta":
            draft.end = str(event.delta.stop_reason or "")
            details = event.delta.stop_details
            draft.why = str((details and details.category) or "")
            self._usage(draft, event.usage, final=True)

    def _usage(self, draft: Draft, usage: Usage | MessageDeltaUsage, *, final: bool) -> None:
        """The running totals; input comes without what was read from or written to the cache."""
        read: int | None = draft.input_tokens or None
        cached, written = draft.cached, draft.written
        if usage.input_tokens is not None:
            cached = usage.cache_read_input_tokens or 0
            written = usage.cache_creation_input_tokens or 0
            read = add_tokens(usage.input_tokens, cached, written)
        draft.told(read, usage.output_tokens, cached, written, final=final)

    def _refused(self, error: anthropic.APIStatusError, draft: Draft) -> LLMError:
        if self._wire.cut:
            return make_broken(self.name, "timeout", self._wire.cut, draft.billed)
        # An error inside a stream carries status 200; only its type tells.
        status = 0 if error.status_code == 200 else error.status_code
        message = error.api_message or error.message
        wait = wait_seconds(error.response.headers, message)
        code = error.error_code or error.type or ""
        return make_failure(self.name, status, code, message, wait, draft.billed)

    def _connected(self) -> anthropic.Anthropic:
        if self._client is None:
            from heal_bot.llm_clients import capped_transport

            silence_sdks(r"anthropic\.", r"pydantic\.main")
            key = self._key.reveal()
            headers = {"authorization": f"Bearer {key}", **self._version()}
            line = capped_transport.LINE if self.lined else None
            http = capped_transport.make_client(
                self._link, self._wire, headers, _HEADERS, "messages", line
            )
            common = {"base_url": self._link.base_url, "timeout": http.timeout, "max_retries": 0,
                      "http_client": http, "open_telemetry": False}  # fmt: skip
            self._client = self._made(key, common)
        return self._client

    def _version(self) -> dict[str, str]:
        """Headers beside the key."""
        return {"anthropic-version": API_VERSION}

    def _made(self, key: str, common: dict[str, Any]) -> anthropic.Anthropic:
        """The SDK's client."""
        import anthropic

        return anthropic.Anthropic(api_key=key, **common)


def _turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Blocks by turn, with a cache mark on the last blocks that ask for one (four at most)."""
    marked = [number for number, message in enumerate(messages) if message.cached][-_MARKS:]
    turns: list[dict[str, Any]] = []
    for number, message in enumerate(messages):
        block: dict[str, Any] = {"type": "text", "text": message.text}
        if number in marked:
            block["cache_control"] = {"type": "ephemeral"}
        if turns and turns[-1]["role"] == message.role:
            turns[-1]["content"].append(block)
        else:
            turns.append({"role": message.role, "content": [block]})
    return turns
