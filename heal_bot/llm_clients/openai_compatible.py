"""Any server that speaks OpenAI's chat completions, by plain HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from heal_bot.core.errors import LLMError
from heal_bot.core.events import ModelSpoke, Run
from heal_bot.core.text import Secret
from heal_bot.llm_clients.chat_events import parse_chunks, text_of
from heal_bot.llm_clients.http_timeouts import (
    LONGEST,
    Endpoint,
    WatchedConnection,
    client_options,
    pin_headers,
    timeouts,
)
from heal_bot.llm_clients.pricing import Rates
from heal_bot.llm_clients.provider_errors import (
    describe_cut,
    make_broken,
    make_failure,
    wait_seconds,
)
from heal_bot.llm_clients.retry import Patience, ask_again
from heal_bot.llm_clients.streamed_answer import Draft, check_end
from heal_bot.ports.language_model import Message, Reply

if TYPE_CHECKING:
    import httpx

BASE_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-5.5"
MAX_OUTPUT = 32_000
_WINDOW = 32_000
_ERROR_CAP = 64 << 10
# A server that reads less than a token per 7 characters dropped the front of the prompt: code
# has 1.6 to 6 (4.2 in the mean over the standard library).
_SPARSE = 7
_LONG = 6_000
_HEADERS = frozenset(
    {
        "host", "accept", "accept-encoding", "connection", "content-type", "content-length",
        "user-agent", "authorization",
    }
)  # fmt: skip
_ENDS = {"length": "truncated", "content_filter": "refusal", "error": "transient"}


class OpenAICompatible:
    """A model behind `{base_url}/chat/completions`; an empty key sends no authorization.

    `window` overrides the tokens of context, which local servers do not tell.
    """

    provider = "openai"

    def __init__(
        self,
        key: Secret,
        model: str = "",
        base_url: str = "",
        timeout: float = LONGEST,
        *,
        proxy: str = "",
        ca_file: str = "",
        window: int = 0,
        patience: Patience | None = None,
    ) -> None:
        self.name = model or DEFAULT_MODEL
        self._key = key
        self._link = Endpoint((base_url or BASE_URL).rstrip("/"), timeout, proxy, ca_file)
        self._window = window
        self._patience = patience or Patience()
        self._rates = Rates(self.name, api_url=self._link.base_url)
        host = urlsplit(self._link.base_url).hostname or ""
        own = host == "openai.com" or host.endswith(".openai.com")
        self._limit = "max_completion_tokens" if own else "max_tokens"
        self._wire = WatchedConnection()
        self._client: httpx.Client | None = None

    @property
    def window(self) -> int:
        """Tokens of context: as given, else as listed, else a cautious guess."""
        return self._window or self._rates.window(_WINDOW)

    @property
    def max_output(self) -> int:
        """Tokens of one answer; at most half the window."""
        return min(MAX_OUTPUT, self.window // 2)

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars of such a call; None for a server that the price list does not know."""
        return self._rates.usd(input_tokens, output_tokens)

    def ask(
        self,
        run: Run,
        system: str,
        messages: Sequence[Message],
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """One streamed answer; raises LLMError for anything that is not a complete one."""
        turns = _turns(system, messages)
        run.emit(ModelSpoke(kind="request", provider=self.provider, model=self.name))

        def once() -> Reply:
            try:
                return self._once(run, turns, max_tokens, schema)
            except LLMError as error:
                if error.kind != "bad_request":
                    raise
                # Newer models refuse the old name of the limit, older servers the new one; many
                # servers take no schema, and the prompt asks for the same shape in words.
                if "max_completion_tokens" in str(error):
                    self._limit = "max_completion_tokens"
                    return self._once(run, turns, max_tokens, schema)
                if schema is None or "response_format" not in str(error):
                    raise
                return self._once(run, turns, max_tokens, None)

        return ask_again(run, self._patience, self.provider, self.name, once)

    def _once(
        self,
        run: Run,
        turns: list[dict[str, str]],
        max_tokens: int,
        schema: Mapping[str, Any] | None,
    ) -> Reply:
        draft = Draft(self.provider, self.name)
        client = self._connected()
        body: dict[str, Any] = {
            "model": self.name,
            "stream": True,
            "stream_options": {"include_usage": True},
            self._limit: max_tokens,
        }
        if schema is not None:
            shape = {"name": "answer", "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        # What grows comes last, so that a request begins as the one before.
        body["messages"] = turns
        seconds = self._link.seconds(run)
        try:
            self._wire.call(run, seconds, lambda: self._stream(run, draft, client, body))
        except TimeoutError as error:
            self._client, self._wire = None, WatchedConnection()
            raise make_broken(self.name, "timeout", str(error), draft.billed) from error
        check_end(run, draft, self._rates, "stop", _ENDS)
        self._whole(sum(len(turn["content"]) for turn in turns), draft)
        return draft.reply(self._rates)

    def _stream(self, run: Run, draft: Draft, client: httpx.Client, body: dict[str, Any]) -> None:
        import httpx

        try:
            with client.stream(
                "POST", f"{self._link.base_url}/chat/completions", json=body
            ) as response:
                if response.status_code != 200:
                    raise self._refused(response)
                for chunk in parse_chunks(response.headers, response.iter_bytes()):
                    self._take(run, draft, chunk, response.headers)
            if self._wire.cut:
                raise make_broken(self.name, "timeout", self._wire.cut, draft.billed)
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise describe_cut(self.name, self._wire, "transient", error, draft.billed) from error
        except LLMError:
            raise
        except Exception as error:
            raise describe_cut(self.name, self._wire, "bad_gateway", error, draft.billed) from error

    def _take(
        self, run: Run, draft: Draft, chunk: Mapping[str, Any], headers: Mapping[str, str]
    ) -> None:
        if self._wire.cut:
            raise make_broken(self.name, "timeout", self._wire.cut, draft.billed)
        if chunk.get("error") or chunk.get("object") == "error":
            raise _in_band(self.name, chunk, headers, draft)
        if usage := chunk.get("usage"):
            details = usage.get("prompt_tokens_details") or {}
            read, said = usage.get("prompt_tokens"), usage.get("completion_tokens")
            draft.told(read, said, details.get("cached_tokens") or 0, final=True)
        for choice in (chunk.get("choices") or [])[:1]:
            said = choice.get("delta") or choice.get("message") or {}
            if said.get("refusal"):
                draft.end, draft.why = "content_filter", str(said["refusal"])[:200]
            if said.get("content"):
                draft.add(run, text_of(said["content"]))
            if choice.get("finish_reason") and draft.end != "content_filter":
                draft.end = str(choice["finish_reason"])

    def _refused(self, response: httpx.Response) -> LLMError:
        raw = b""
        for data in response.iter_bytes():
            raw += data
            if len(raw) > _ERROR_CAP:
                break
        text = raw.decode(errors="replace")
        code, message = _error_of(text)
        wait = wait_seconds(response.headers, message)
        return make_failure(self.name, response.status_code, code, message, wait)

    def _whole(self, characters: int, draft: Draft) -> None:
        """Refuse an answer to a prompt whose front the server dropped without a word."""
        seen = draft.input_tokens
        if seen and characters > _LONG and characters > seen * _SPARSE:
            raise make_broken(
                self.name,
                "context_overflow",
                f"the server read {seen} tokens of a prompt of {characters} characters; "
                "raise its context length",
                draft.billed,
            )

    def _connected(self) -> httpx.Client:
        if self._client is None:
            import httpx

            key, wire = self._key.reveal(), self._wire
            headers = {"authorization": f"Bearer {key}"} if key else {}
            self._client = httpx.Client(
                **client_options(self._link, httpx.create_ssl_context),
                timeout=httpx.Timeout(**timeouts(self._link)),
                limits=httpx.Limits(max_connections=1, max_keepalive_connections=0),
                event_hooks={
                    "request": [lambda request: pin_headers(request, wire, headers, _HEADERS)]
                },
            )
        return self._client


def _turns(system: str, messages: Sequence[Message]) -> list[dict[str, str]]:
    turns = [{"role": "system", "content": system}]
    for message in messages:
        if turns[-1]["role"] == message.role:
            turns[-1]["content"] += "\n\n" + message.text
        else:
            turns.append({"role": message.role, "content": message.text})
    return turns


def _error_of(text: str) -> tuple[str, str]:
    """Code and message of an error body: wrapped, bare, or no JSON at all."""
    try:
        body = json.loads(text)
    except ValueError:
        return "", text
    if not isinstance(body, dict):
        return "", text
    error = body.get("error", body)
    if not isinstance(error, dict):
        return "", str(error)
    code = error.get("code") or error.get("type") or ""
    return str(code), str(error.get("message") or text)


def _in_band(
    who: str, chunk: Mapping[str, Any], headers: Mapping[str, str], draft: Draft
) -> LLMError:
    """An error that came with status 200; a number as its code is the status meant."""
    code, message = _error_of(json.dumps(chunk))
    status = int(code) if code.isdigit() else 0
    return make_failure(
        who, status, "" if status else code, message, wait_seconds(headers, message), draft.billed
    )
