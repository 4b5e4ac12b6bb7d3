"""Claude through its own SDK."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from heal_bot.core.errors import LLMError
from heal_bot.core.events import Run
from heal_bot.llm_clients.http_timeouts import Endpoint, silence_sdks
from heal_bot.llm_clients.model_client import Dialect, Question
from heal_bot.llm_clients.provider_errors import make_broken, make_failure, wait_seconds
from heal_bot.llm_clients.streamed_answer import Draft, add_tokens
from heal_bot.ports.language_model import Message

if TYPE_CHECKING:
    import anthropic
    import httpx2
    from anthropic.lib.streaming import ParsedMessageStreamEvent
    from anthropic.types import MessageDeltaUsage, Usage

API_VERSION = "2026-10-21"
_EFFORT = "medium"
_MARKS = 4
# Families from before adaptive thinking and the effort setting refuse both.
_PLAIN = re.compile(r".*claude-(?:[23]|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:[-@]\d{8}\b.*)?$)")


def sdk_options(link: Endpoint, http: httpx2.Client) -> dict[str, Any]:
    """Keyword arguments for the SDK's client, whoever sells the model."""
    silence_sdks(r"anthropic\.", r"pydantic\.main")
    return {"base_url": link.base_url, "timeout": http.timeout, "max_retries": 0,
            "http_client": http, "open_telemetry": False}  # fmt: skip


def _connect(key: str, link: Endpoint, http: httpx2.Client) -> anthropic.Anthropic:
    import anthropic

    return anthropic.Anthropic(api_key=key, **sdk_options(link, http))


def _stream(
    client: anthropic.Anthropic, question: Question
) -> Generator[ParsedMessageStreamEvent[None], None, None]:
    body: dict[str, Any] = {
        "model": question.model,
        "max_tokens": question.max_tokens,
        "system": [{"type": "text", "text": question.system}],
        "messages": _turns(question.messages),
    }
    if not _PLAIN.match(question.model):
        body["thinking"] = {"type": "adaptive"}
        body["output_config"] = {"effort": _EFFORT}
    if question.schema is not None:
        shape = {"type": "json_schema", "schema": question.schema}
        body["output_config"] = {**body.get("output_config", {}), "format": shape}
    with client.messages.stream(**body) as stream:
        yield from stream


def _take(run: Run, draft: Draft, event: ParsedMessageStreamEvent[None]) -> None:
    draft.started = True
    if event.type == "text":
        draft.add(run, event.text)
    elif event.type == "message_start":
        _count(draft, event.message.usage, final=False)
    elif event.type == "message_delta":
        draft.end = str(event.delta.stop_reason or "")
        details = event.delta.stop_details
        draft.why = str((details and details.category) or "")
        _count(draft, event.usage, final=True)


def _count(draft: Draft, usage: Usage | MessageDeltaUsage, *, final: bool) -> None:
    """The running totals; input comes without what was read from or written to the cache."""
    read: int | None = draft.input_tokens or None
    cached, written = draft.cached, draft.written
    if usage.input_tokens is not None:
        cached = usage.cache_read_input_tokens or 0
        written = usage.cache_creation_input_tokens or 0
        read = add_tokens(usage.input_tokens, cached, written)
    draft.told(read, usage.output_tokens, cached, written, final=final)


def _explain(error: Exception, draft: Draft) -> LLMError | None:
    import anthropic

    if isinstance(error, anthropic.APIStatusError):
        # An error inside a stream carries status 200; only its type tells.
        status = 0 if error.status_code == 200 else error.status_code
        message = error.api_message or error.message
        wait = wait_seconds(error.response.headers, message)
        code = error.error_code or error.type or ""
        return make_failure(draft.model, status, code, message, wait, draft.billed)
    if isinstance(error, anthropic.AnthropicError):
        return make_broken(draft.model, "transient", error, draft.billed)
    return None


def _turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Blocks by turn, with a cache mark on the last blocks that ask for one (four at most)."""
    marked = [number for number, message in enumerate(messages) if message.cached][-_MARKS:]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": one.text} for one in messages]
    for number in marked:
        blocks[number]["cache_control"] = {"type": "ephemeral"}
    turns = groupby(zip(messages, blocks, strict=True), key=lambda pair: pair[0].role)
    return [{"role": role, "content": [block for _, block in said]} for role, said in turns]


CLAUDE = Dialect(
    provider="claude",
    seller="anthropic",
    base_url="https://api.anthropic.com",
    model="claude-sonnet-5-5",
    window=200_000,
    good="end_turn",
    ends={
        "refusal": "refusal",
        "max_tokens": "truncated",
        "model_context_window_exceeded": "context_overflow",
    },
    credential=("authorization", "Bearer "),
    pinned={"anthropic-version": API_VERSION},
    kept=frozenset({"anthropic-version"}),
    growing="messages",
    writes=True,
    connect=_connect,
    stream=_stream,
    take=_take,
    explain=_explain,
)
