"""Gemini through its own SDK."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from heal_bot.core.errors import LLMError
from heal_bot.core.events import Run
from heal_bot.llm_clients.http_timeouts import Endpoint, silence_sdks
from heal_bot.llm_clients.model_client import Dialect, Question
from heal_bot.llm_clients.provider_errors import make_failure, wait_seconds
from heal_bot.llm_clients.streamed_answer import Draft, add_tokens
from heal_bot.ports.language_model import Message

if TYPE_CHECKING:
    import httpx2
    from google import genai
    from google.genai import types

_API_VERSION = "v1beta"


def _connect(key: str, link: Endpoint, http: httpx2.Client) -> genai.Client:
    import httpx2
    from google import genai
    from google.genai import client, types

    silence_sdks(r"google\.genai\.", r"pydantic\.main")
    return genai.Client(
        enterprise=False,
        api_key=key,
        debug_config=client.DebugConfig(client_mode=None, replays_directory=None, replay_id=None),
        http_options=types.HttpOptions(
            base_url=link.base_url,
            api_version=_API_VERSION,
            timeout=int(link.timeout * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
            httpx_client=http,
            # Without an asynchronous client of ours the SDK builds one from the environment.
            httpx_async_client=httpx2.AsyncClient(trust_env=False, verify=False),
        ),
    )


def _stream(
    client: genai.Client, question: Question
) -> Generator[types.GenerateContentResponse, None, None]:
    from google.genai import types

    config = types.GenerateContentConfig(
        system_instruction=question.system,
        max_output_tokens=question.max_tokens,
        response_mime_type="application/json" if question.schema is not None else None,
        response_json_schema=question.schema,
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    yield from client.models.generate_content_stream(
        model=question.model, contents=_contents(question.messages), config=config
    )


def _take(run: Run, draft: Draft, chunk: types.GenerateContentResponse) -> None:
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


def _explain(error: Exception, draft: Draft) -> LLMError | None:
    from google.genai import errors

    if not isinstance(error, errors.APIError):
        return None
    message = str(error.message or error)
    wait = _retry_delay(error.details)
    if wait is None:
        wait = wait_seconds(getattr(error.response, "headers", None) or {}, message)
    status = error.code if isinstance(error.code, int) else 0
    return make_failure(draft.model, status, str(error.status or ""), message, wait, draft.billed)


def _contents(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Blocks by turn; Gemini caches common prefixes by itself and takes no mark."""
    turns = groupby(messages, key=lambda one: "model" if one.role == "assistant" else "user")
    return [{"role": role, "parts": [{"text": one.text} for one in said]} for role, said in turns]


def _retry_delay(details: object) -> float | None:
    """Seconds of the RetryInfo in an error's details ("37s")."""
    error = details.get("error", details) if isinstance(details, Mapping) else {}
    entries = error.get("details") if isinstance(error, Mapping) else None
    for entry in entries if isinstance(entries, list) else []:
        delay = entry.get("retryDelay") if isinstance(entry, Mapping) else None
        if isinstance(delay, str) and delay[:-1].replace(".", "", 1).isdigit():
            return float(delay[:-1])
    return None


GEMINI = Dialect(
    provider="gemini",
    seller="google",
    base_url="https://generativelanguage.googleapis.com",
    model="gemini-3.8-flash",
    window=1_000_000,
    good="STOP",
    ends={
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
    },
    credential=("x-goog-api-key", ""),
    growing="contents",
    connect=_connect,
    stream=_stream,
    take=_take,
    explain=_explain,
)
