"""Gemini through its own SDK, streamed, with our deadlines and our retries."""

from __future__ import annotations

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
    from google import genai
    from google.genai import errors, types

BASE_URL = "https://generativelanguage.googleapis.com/"
DEFAULT_MODEL = "gemini-3.8-flash"
MAX_OUTPUT = 32_000
_WINDOW = 1_000_000
_HEADERS = frozenset(
    {
        "host", "accept", "accept-encoding", "connection", "content-type", "content-length",
        "transfer-encoding", "user-agent", "x-goog-api-key",
    }
)  # fmt: skip
_ENDS = {
    "MAX_TOKENS": "truncated",
    "CONTINUATION": "truncated",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "LANGUAGE": "refusal",
    "ESCALATION": "refusal",
    "MODEL_ARMOR": "refusal",
    "PUP_LIMITED_DISABLED": "auth",
    "blocked": "refusal",
}


class Gemini:
    """A Gemini model. Key, address, proxy and CA file are arguments; no environment is read."""

    provider = "gemini"

    def __init__(
        self,
        key: Secret,
        model: str = "",
        base_url: str = "",
        timeout: float = LONGEST,
        *,
        proxy: str = "",
        ca_file: str = "",
        api_version: str = "v1beta",
        patience: Patience | None = None,
    ) -> None:
        self.name = model or DEFAULT_MODEL
        self._key = key
        self._link = Endpoint(base_url or BASE_URL, timeout, proxy, ca_file)
        self._api_version = api_version
        self._patience = patience or Patience()
        self._rates = Rates(self.name, provider="google")
        self._wire = WatchedConnection()
        # Kept for good: the SDK closes a client that nobody holds, in the middle of a call.
        self._client: genai.Client | None = None

    @property
    def window(self) -> int:
        """Tokens of context."""
        return self._rates.window(_WINDOW)

    @property
    def max_output(self) -> int:
        """Tokens of one answer, thinking included."""
        return MAX_OUTPUT

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars of such a call with nothing cached."""
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
        run.emit(ModelSpoke(kind="request", provider=self.provider, model=self.name))
        return ask_again(
            run,
            self._patience,
            self.provider,
            self.name,
            lambda: self._once(run, system, messages, max_tokens, schema),
        )

    def _once(
        self,
        run: Run,
        system: str,
        messages: Sequence[Message],
        max_tokens: int,
        schema: Mapping[str, Any] | None,
    ) -> Reply:
        from google.genai import types

        draft = Draft(self.provider, self.name)
        client = self._connected()
        config = types.GenerateContentConfig(
            system_instruction=system,
            max_output_tokens=max_tokens,
            response_mime_type="application/json" if schema is not None else None,
            response_json_schema=schema,
            automatic_continuation=False,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        seconds = self._link.seconds(run)
        try:
            self._wire.call(
                run, seconds, lambda: self._stream(run, draft, client, messages, config)
            )
        except TimeoutError as error:
            self._client, self._wire = None, WatchedConnection()
            raise make_broken(self.name, "timeout", str(error), draft.billed) from error
        check_end(run, draft, self._rates, "STOP", _ENDS)
        return draft.reply(self._rates)

    def _stream(
        self,
        run: Run,
        draft: Draft,
        client: genai.Client,
        messages: Sequence[Message],
        config: types.GenerateContentConfig,
    ) -> None:
        import httpx2
        from google.genai import errors

        try:
            for chunk in client.models.generate_content_stream(
                model=self.name, contents=_contents(messages), config=config
            ):
                self._take(run, draft, chunk)
            if self._wire.cut:
                raise make_broken(self.name, "timeout", self._wire.cut, draft.billed)
        except errors.APIError as error:
            raise self._refused(error, draft) from error
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise describe_cut(self.name, self._wire, "transient", error, draft.billed) from error
        except LLMError:
            raise
        except Exception as error:
            raise describe_cut(self.name, self._wire, "bad_gateway", error, draft.billed) from error

    def _take(self, run: Run, draft: Draft, chunk: types.GenerateContentResponse) -> None:
        if self._wire.cut:
            raise make_broken(self.name, "timeout", self._wire.cut, draft.billed)
        blocked = chunk.prompt_feedback and chunk.prompt_feedback.block_reason
        if blocked:
            draft.end, draft.why, draft.counted = "blocked", str(blocked.value), True
        for candidate in (chunk.candidates or [])[:1]:
            for part in (candidate.content and candidate.content.parts) or []:
                if part.text and not part.thought:
                    draft.add(run, part.text)
            if candidate.finish_reason:
                draft.end = str(candidate.finish_reason.value)
                draft.why = candidate.finish_message or ""
        if (usage := chunk.usage_metadata) is not None:
            said = add_tokens(usage.candidates_token_count, usage.thoughts_token_count)
            cached = usage.cached_content_token_count or 0
            said = 0 if blocked and said is None else said
            draft.told(usage.prompt_token_count, said, cached, final=bool(draft.end))

    def _refused(self, error: errors.APIError, draft: Draft) -> LLMError:
        if self._wire.cut:
            return make_broken(self.name, "timeout", self._wire.cut, draft.billed)
        message = str(error.message or error)
        headers = getattr(error.response, "headers", None) or {}
        wait = _retry_delay(error.details)
        if wait is None:
            wait = wait_seconds(headers, message)
        status = error.code if isinstance(error.code, int) else 0
        return make_failure(self.name, status, str(error.status or ""), message, wait, draft.billed)

    def _connected(self) -> genai.Client:
        if self._client is None:
            import httpx2
            from google import genai
            from google.genai import client as genai_client
            from google.genai import types

            from heal_bot.llm_clients import capped_transport

            silence_sdks(r"google\.genai\.", r"pydantic\.main")
            key = self._key.reveal()
            headers = {"x-goog-api-key": key}
            http = capped_transport.make_client(
                self._link, self._wire, headers, _HEADERS, "contents"
            )
            # Without an asynchronous client of ours the SDK builds one from the environment.
            idle = httpx2.AsyncClient(trust_env=False, verify=False)
            self._client = genai.Client(
                enterprise=False,
                api_key=key,
                debug_config=genai_client.DebugConfig(
                    client_mode=None, replays_directory=None, replay_id=None
                ),
                http_options=types.HttpOptions(
                    base_url=self._link.base_url,
                    api_version=self._api_version,
                    timeout=int(self._link.timeout * 1000),
                    retry_options=types.HttpRetryOptions(attempts=1),
                    httpx_client=http,
                    httpx_async_client=idle,
                ),
            )
        return self._client


def _contents(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Blocks by turn; Gemini caches common prefixes by itself and takes no mark."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "model" if message.role == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["parts"].append({"text": message.text})
        else:
            turns.append({"role": role, "parts": [{"text": message.text}]})
    return turns


def _retry_delay(details: object) -> float | None:
    """Seconds of the RetryInfo in an error's details ("37s")."""
    error = details.get("error", details) if isinstance(details, Mapping) else {}
    entries = error.get("details") if isinstance(error, Mapping) else None
    for entry in entries if isinstance(entries, list) else []:
        delay = entry.get("retryDelay") if isinstance(entry, Mapping) else None
        if isinstance(delay, str) and delay[:-1].replace(".", "", 1).isdigit():
            return float(delay[:-1])
    return None
