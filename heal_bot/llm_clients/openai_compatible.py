"""Any server that speaks OpenAI's chat completions, by plain HTTP."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from heal_bot.core.errors import LLMError
from heal_bot.core.events import Run
from heal_bot.llm_clients.http_timeouts import Endpoint
from heal_bot.llm_clients.model_client import Dialect, Question
from heal_bot.llm_clients.provider_errors import make_broken, make_failure, wait_seconds
from heal_bot.llm_clients.streamed_answer import Draft

if TYPE_CHECKING:
    import httpx2

# A server that reads less than a token per 7 characters dropped the front of the prompt: code
# has 1.6 to 6 (4.2 in the mean over the standard library).
_SPARSE = 7
_LONG = 6_000


@dataclass(slots=True)
class _Server:
    """Where to ask, and the server's name for the limit of an answer."""

    http: httpx2.Client
    url: str
    limit: str


def _connect(key: str, link: Endpoint, http: httpx2.Client) -> _Server:
    host = urlsplit(link.base_url).hostname or ""
    own = host == "openai.com" or host.endswith(".openai.com")
    limit = "max_completion_tokens" if own else "max_tokens"
    return _Server(http, f"{link.base_url}/chat/completions", limit)


def _stream(
    server: _Server, question: Question
) -> Generator[tuple[Mapping[str, str], dict[str, Any]], None, None]:
    body: dict[str, Any] = {
        "model": question.model,
        "stream": True,
        "stream_options": {"include_usage": True},
        server.limit: question.max_tokens,
        "messages": _turns(question),
    }
    if question.schema is not None:
        shape = {"name": "answer", "schema": question.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    with server.http.stream("POST", server.url, json=body) as response:
        if response.status_code != 200:
            code, message = _error_of(response.read().decode(errors="replace"))
            wait = wait_seconds(response.headers, message)
            raise make_failure(question.model, response.status_code, code, message, wait)
        for chunk in _chunks(response):
            yield response.headers, chunk


def _chunks(response: httpx2.Response) -> Iterator[dict[str, Any]]:
    """JSON objects of an event stream, or the one object of a server that does not stream."""
    kind = response.headers.get("content-type", "")
    if kind.startswith("application/json"):
        yield json.loads(response.read())
        return
    if kind.startswith("text/html"):
        raise ValueError("an HTML page came instead of an answer")
    pending = b""
    for data in chain(response.iter_bytes(), (b"\n",)):
        # A line may end in either or both; a second end makes an empty line, which says nothing.
        *lines, pending = (pending + data.replace(b"\r", b"\n")).split(b"\n")
        for line in lines:
            value = line[5:].strip() if line.startswith(b"data:") else b""
            if value == b"[DONE]":
                return
            if value:
                yield json.loads(value)


def _take(run: Run, draft: Draft, event: tuple[Mapping[str, str], dict[str, Any]]) -> None:
    headers, chunk = event
    if chunk.get("error") or chunk.get("object") == "error":
        # It came with status 200; a number as its code is the status meant.
        code, message = _error_of(json.dumps(chunk))
        status, wait = int(code) if code.isdigit() else 0, wait_seconds(headers, message)
        code = "" if status else code
        raise make_failure(draft.model, status, code, message, wait, draft.billed)
    if usage := chunk.get("usage"):
        details = usage.get("prompt_tokens_details") or {}
        read, said = usage.get("prompt_tokens"), usage.get("completion_tokens")
        draft.told(read, said, details.get("cached_tokens") or 0, final=True)
    for choice in (chunk.get("choices") or [])[:1]:
        said = choice.get("delta") or choice.get("message") or {}
        if said.get("refusal"):
            draft.end, draft.why = "content_filter", str(said["refusal"])[:200]
        if said.get("content"):
            draft.add(run, _text_of(said["content"]))
        if choice.get("finish_reason") and draft.end != "content_filter":
            draft.end = str(choice["finish_reason"])


def _text_of(content: object) -> str:
    """The text of a delta: a string, or what the parts of that kind say."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    if not isinstance(content, str):
        raise TypeError(f"{type(content).__name__} came in place of text")
    return content


def _amend(server: _Server, question: Question, error: LLMError) -> Question | None:
    """Newer models refuse the old name of the limit, older servers the new one.

    Many servers take no schema, and the prompt asks for the same shape in words.
    """
    if error.kind != "bad_request":
        return None
    if "max_completion_tokens" in str(error):
        server.limit = "max_completion_tokens"
        return question
    if question.schema is not None and "response_format" in str(error):
        return replace(question, schema=None)
    return None


def _check(question: Question, draft: Draft) -> None:
    """Refuse an answer to a prompt whose front the server dropped without a word."""
    characters = sum(len(turn["content"]) for turn in _turns(question))
    seen = draft.input_tokens
    if seen and characters > _LONG and characters > seen * _SPARSE:
        said = f"the server read {seen} tokens of a prompt of {characters} characters"
        raise make_broken(
            draft.model, "context_overflow", f"{said}; raise its context length", draft.billed
        )


def _turns(question: Question) -> list[dict[str, str]]:
    turns = groupby(question.messages, key=lambda message: message.role)
    said = [
        {"role": role, "content": "\n\n".join(one.text for one in turn)} for role, turn in turns
    ]
    return [{"role": "system", "content": question.system}, *said]


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


OPENAI_COMPATIBLE = Dialect(
    provider="openai",
    seller="",
    base_url="https://api.openai.com/v1",
    model="gpt-5.5",
    window=32_000,
    good="stop",
    ends={"length": "truncated", "content_filter": "refusal", "error": "transient"},
    credential=("authorization", "Bearer "),
    growing="messages",
    connect=_connect,
    stream=_stream,
    take=_take,
    amend=_amend,
    check=_check,
)
