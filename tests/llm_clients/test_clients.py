"""All three clients through their real SDKs, against every trap a provider sets."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time

import pytest

from heal_bot.core.errors import LLMError
from heal_bot.ports.language_model import Message, Reply

PROVIDERS = ["claude", "gemini", "openai"]
BAD_END = {"claude": "max_tokens", "gemini": "MAX_TOKENS", "openai": "length"}
REFUSED_END = {"claude": "refusal", "gemini": "SAFETY", "openai": "content_filter"}
PATHS = {
    "claude": "/v1/messages",
    "gemini": "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
    "openai": "/v1/chat/completions",
}
MID_STREAM = {
    "claude": b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error",'
    b'"message":"Overloaded"}}\n\n',
    "gemini": b'data: {"error":{"code":503,"status":"UNAVAILABLE","message":"Overloaded"}}\n\n',
    "openai": b'data: {"error":{"code":503,"message":"Overloaded"}}\n\n',
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_complete_answer_comes_with_its_usage(bench, provider) -> None:
    reply = bench.ask(provider, bench.says(provider, "```python\npass\n```"))
    assert isinstance(reply, Reply), reply
    assert reply.text == "```python\npass\n```"
    assert (reply.cost.input_tokens, reply.cost.output_tokens) == (100, 30)
    assert reply.cost.cached_tokens == 80
    assert (reply.cost.usd is None) == (provider == "openai")
    assert bench.kinds == ["request", "usage"]
    path, _, body = bench.server.requests[0]
    assert path.startswith(PATHS[provider])
    assert "static" in json.dumps(body)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_long_retry_after_is_told_and_not_waited_for(bench, provider) -> None:
    start = time.monotonic()
    code = {"claude": "rate_limit_error", "gemini": "RESOURCE_EXHAUSTED", "openai": "429"}
    error = bench.ask(
        provider, bench.fails(provider, 429, code[provider], "slow", retry_after="3600")
    )
    assert isinstance(error, LLMError)
    assert (error.kind, error.retry_after, error.billed) == ("rate_limit", 3600.0, (0, 0))
    assert len(bench.server.requests) == 1
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [503, 529, 500, 502])
def test_a_passing_failure_is_asked_again_a_few_times(bench, provider, status) -> None:
    reply = bench.ask(
        provider, bench.fails(provider, status, "", "busy"), bench.says(provider, "fine")
    )
    assert isinstance(reply, Reply), reply
    assert bench.kinds == ["request", "retry", "usage"]
    error = bench.ask(provider, bench.fails(provider, status, "", "busy"))
    assert isinstance(error, LLMError)
    assert len(bench.server.requests) == 3


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (401, "authentication_error", "invalid x-api-key", "auth"),
        (403, "permission_error", "not allowed", "auth"),
        (400, "invalid_request_error", "API key not valid. Pass a valid API key.", "auth"),
        (402, "billing_error", "no credit", "out_of_credit"),
        (404, "not_found_error", "model: nope", "gone"),
        (410, "", "retired", "gone"),
        (400, "invalid_request_error", "prompt is too long: 9 tokens > 8", "context_overflow"),
        (413, "request_too_large", "too large", "context_overflow"),
        (429, "insufficient_quota", "You exceeded your current quota", "out_of_credit"),
        (400, "invalid_request_error", "max_tokens: must be positive", "bad_request"),
    ],
)
def test_a_refused_request_is_typed_and_not_repeated(
    bench, provider, status, code, message, kind
) -> None:
    error = bench.ask(provider, bench.fails(provider, status, code, message))
    assert isinstance(error, LLMError)
    assert (error.kind, error.billed) == (kind, (0, 0))
    assert len(bench.server.requests) == 1
    assert "\n" not in str(error)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("ends", "kind"), [(BAD_END, "truncated"), (REFUSED_END, "refusal")], ids=["cut", "refused"]
)
def test_an_answer_that_is_none_is_never_taken_for_one(bench, provider, ends, kind) -> None:
    error = bench.ask(provider, bench.says(provider, "def f(): ...", ends[provider]))
    assert isinstance(error, LLMError)
    assert (error.kind, error.billed) == (kind, (100, 30))
    assert len(bench.server.requests) == 1
    assert ("refusal" in bench.kinds) == (kind == "refusal")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_empty_answer_is_truncated(bench, provider) -> None:
    error = bench.ask(provider, bench.says(provider, " "))
    assert isinstance(error, LLMError)
    assert error.kind == "truncated"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_error_inside_the_stream_is_typed_and_left_to_the_budget(bench, provider) -> None:
    started = bench.says(provider, "def f", None).body
    error = bench.ask(provider, bench.raw(started + MID_STREAM[provider]))
    assert isinstance(error, LLMError)
    assert (error.kind, error.billed) == ("overloaded", None)
    assert len(bench.server.requests) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("cut", [True, False], ids=["reset", "closed cleanly"])
def test_a_stream_that_ends_early_is_no_answer(bench, provider, cut) -> None:
    error = bench.ask(provider, bench.says(provider, "def f(): pass", None, cut=cut))
    assert isinstance(error, LLMError)
    assert (error.kind, error.billed) == ("transient", None)
    assert len(bench.server.requests) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("kind", ["text/html", "text/event-stream", "application/json"])
def test_a_page_of_html_with_status_200_is_a_bad_gateway(bench, provider, kind) -> None:
    page = bench.raw(b"<html><body>Sign in</body></html>", kind=kind)
    error = bench.ask(provider, page)
    assert isinstance(error, LLMError)
    assert error.kind == "bad_gateway"
    assert len(bench.server.requests) == 3


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_is_not_followed(bench, provider, status) -> None:
    moved = bench.raw(
        b"{}", status=status, kind="application/json", headers={"location": bench.server.url}
    )
    error = bench.ask(provider, moved)
    assert isinstance(error, LLMError)
    assert error.kind == "bad_gateway"


@pytest.mark.long
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_body_that_drips_is_cut_at_the_wall_deadline(hasty, provider) -> None:
    hasty.ask(provider, hasty.fails(provider, 401, "", "the first import takes its time"))
    start = time.monotonic()
    error = hasty.ask(provider, hasty.says(provider, "word " * 40, drip=0.05))
    assert isinstance(error, LLMError)
    assert error.kind == "timeout"
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_stopped_run_cuts_the_stream(bench, provider) -> None:
    bench.ask(provider, bench.fails(provider, 401, "", "the first import takes its time"))
    end = time.monotonic() + 0.3
    error = bench.ask(
        provider,
        bench.says(provider, "word " * 40, drip=0.05),
        stopped=lambda: time.monotonic() > end,
    )
    assert isinstance(error, LLMError)
    assert error.kind == "timeout"
    assert time.monotonic() - end < 2


@pytest.mark.parametrize("provider", PROVIDERS)
def test_nothing_listens_is_one_typed_line_without_the_key(provider, bench, free_url) -> None:
    model = bench.client(provider, free_url)
    with pytest.raises(LLMError) as caught:
        model.ask(bench.run(), "s", [Message("user", "q")], 10)
    assert caught.value.kind == "transient", caught.value
    assert "test-key" not in str(caught.value)


HOSTILE = {
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/",
    "ANTHROPIC_API_KEY": "leaked",
    "ANTHROPIC_AUTH_TOKEN": "leaked",
    "ANTHROPIC_CUSTOM_HEADERS": "x-leaked: leaked\nauthorization: Bearer leaked\n"
    "anthropic-version: leaked",
    "ANTHROPIC_PROFILE": "leaked",
    "GOOGLE_API_KEY": "leaked",
    "GEMINI_API_KEY": "leaked",
    "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9/",
    "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "GOOGLE_GENAI_USE_ENTERPRISE": "true",
    "GOOGLE_CLOUD_PROJECT": "leaked",
    "GOOGLE_GENAI_API_VERSION": "leaked",
    "GOOGLE_GENAI_CLIENT_MODE": "replay",
    "GOOGLE_GENAI_REPLAYS_DIRECTORY": "/nonexistent",
    "GOOGLE_GENAI_HTTP_CLIENT": "httpx",
    "OPENAI_API_KEY": "leaked",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/",
    "HTTP_PROXY": "http://127.0.0.1:9/",
    "ALL_PROXY": "http://127.0.0.1:9/",
    "http_proxy": "http://127.0.0.1:9/",
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_environment_and_profiles_have_no_influence(
    bench, provider, monkeypatch, tmp_path
) -> None:
    profile = tmp_path / "configs"
    profile.mkdir()
    (profile / "leaked.json").write_text('{"base_url": "http://127.0.0.1:9/"}')
    for name, value in {**HOSTILE, "ANTHROPIC_CONFIG_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    bench.server.plays(bench.says(provider, "fine"))
    reply = bench.client(provider, bench.server.url).ask(
        bench.run(), "s", [Message("user", "q")], 10
    )
    assert reply.text == "fine"
    path, headers, _ = bench.server.requests[0]
    assert path.startswith(PATHS[provider])
    assert "leaked" not in json.dumps([path, headers])
    assert "test-key-1234567890" in json.dumps(headers)


def test_the_version_header_is_the_one_of_the_installed_sdk(bench) -> None:
    from anthropic import _constants

    bench.ask("claude", bench.says("claude", "fine"))
    sent = bench.server.requests[0][1]["anthropic-version"]
    assert sent == _constants.ANTHROPIC_API_VERSION


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_request_begins_as_the_one_before_up_to_what_is_new(bench, provider) -> None:
    sent = []
    for text in ("first question", "second question"):
        bench.ask(provider, bench.says(provider, "fine"), text=text)
        sent.append(bench.server.bodies[0])
    same, _, tail = sent[0].partition(b"first question")
    assert b"be brief" in same
    assert sent[1].startswith(same)
    assert len(tail) < 30, "more than brackets and whose turn it is"


def test_claude_marks_the_static_block_for_its_cache(bench) -> None:
    bench.ask("claude", bench.says("claude", "fine"), text="the question")
    body = bench.server.requests[0][2]
    blocks = body["messages"][0]["content"]
    assert [block.get("cache_control") for block in blocks] == [{"type": "ephemeral"}, None]
    assert body["thinking"] == {"type": "adaptive"}
    assert "temperature" not in body


def test_gemini_says_why_it_blocked_a_prompt(bench) -> None:
    blocked = bench.raw(b'data: {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}\n\n')
    error = bench.ask("gemini", blocked)
    assert error.kind == "refusal"
    assert "PROHIBITED_CONTENT" in str(error)


def test_gemini_waits_as_long_as_its_retry_info_says(bench) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}]
    body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details}}
    error = bench.ask("gemini", bench.raw(json.dumps(body).encode(), status=429))
    assert (error.kind, error.retry_after) == ("rate_limit", 37.0)


def test_gemini_never_continues_by_itself(bench) -> None:
    chunk = {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "half"}]},
                "finishReason": "CONTINUATION",
                "continuationToken": "dG9rZW4=",
            }
        ]
    }
    error = bench.ask("gemini", bench.raw(b"data: " + json.dumps(chunk).encode() + b"\n\n"))
    assert error.kind == "truncated"
    assert len(bench.server.requests) == 1


def test_the_reason_of_a_refusal_is_told(bench) -> None:
    error = bench.ask("claude", bench.says("claude", "no", "refusal", "cyber"))
    assert (error.kind, "cyber" in str(error)) == ("refusal", True)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_line_without_an_end_is_cut_at_a_cap(bench, provider) -> None:
    error = bench.ask(provider, bench.raw(b"data: " + b"x" * (2 << 20)))
    assert isinstance(error, LLMError)
    assert error.kind == "bad_gateway", error
    assert "a line of more than 1048576 bytes" in str(error)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_compressed_answer_is_refused_before_it_is_unpacked(bench, provider) -> None:
    bomb = gzip.compress(bench.says(provider, "x" * 1_000_000).body)
    error = bench.ask(provider, bench.raw(bomb, headers={"content-encoding": "gzip"}))
    assert isinstance(error, LLMError)
    assert error.kind == "bad_gateway", error
    assert "compressed" in str(error)
    assert {request[1]["accept-encoding"] for request in bench.server.requests} == {"identity"}


@pytest.mark.long
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_name_server_that_keeps_silent_ends_at_the_deadline(hasty, provider, monkeypatch) -> None:
    model = hasty.client(provider, "http://no-such-host.invalid", timeout=0.3)
    silent = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: silent.wait(20) or [])
    start = time.monotonic()
    with pytest.raises(LLMError) as caught:
        model.ask(hasty.run(), "s", [Message("user", "q")], 10)
    silent.set()
    assert caught.value.kind == "timeout", caught.value
    assert time.monotonic() - start < 5


@pytest.mark.long
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_client_answers_again_after_a_call_was_left_behind(bench, provider, monkeypatch) -> None:
    model = bench.client(provider, bench.server.url, timeout=2.0)
    silent, really = threading.Event(), socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *a, **k: really(*a, **k) if silent.wait(20) else []
    )
    bench.server.plays(bench.says(provider, "fine"))
    with pytest.raises(LLMError):
        model.ask(bench.run(), "s", [Message("user", "q")], 10)
    silent.set()
    assert model.ask(bench.run(), "s", [Message("user", "q")], 10).text == "fine"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_bytes_that_are_no_utf8_are_no_reason_to_crash(bench, provider) -> None:
    body = bench.says(provider, "MARK").body.replace(b"MARK", b"\xff\xfe\xc3(")
    answer = bench.ask(provider, bench.raw(body))
    kinds = {"bad_gateway", "transient"}
    assert isinstance(answer, Reply) or answer.kind in kinds, answer


SCHEMA = {"type": "object", "properties": {"cause": {"type": "string"}}, "required": ["cause"]}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_schema_goes_out_in_the_providers_own_words(bench, provider) -> None:
    bench.server.plays(bench.says(provider, '{"cause": "x"}'))
    messages = [Message("user", "why")]
    reply = bench.models[provider].ask(bench.run(), "s", messages, 100, SCHEMA)
    assert reply.text == '{"cause": "x"}'
    body = bench.server.requests[0][2]
    sent = {
        "claude": lambda: body["output_config"]["format"]["schema"],
        "gemini": lambda: body["generationConfig"]["responseJsonSchema"],
        "openai": lambda: body["response_format"]["json_schema"]["schema"],
    }[provider]()
    assert sent == SCHEMA


def test_a_server_without_schemas_is_asked_again_without_one(bench) -> None:
    refused = bench.fails("openai", 400, "invalid", "response_format is not supported")
    bench.server.plays(refused, bench.says("openai", "{}"))
    reply = bench.models["openai"].ask(bench.run(), "s", [Message("user", "why")], 100, SCHEMA)
    assert reply.text == "{}"
    assert ["response_format" in body for _, _, body in bench.server.requests] == [True, False]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.long
def test_a_call_leaves_half_of_the_time_that_is_left(bench, provider) -> None:
    bench.ask(provider, bench.fails(provider, 401, "", "the first import takes its time"))
    start = time.monotonic()
    error = bench.ask(
        provider, bench.says(provider, "word " * 400, drip=0.05), deadline=start + 4.0
    )
    assert isinstance(error, LLMError)
    assert error.kind == "timeout"
    assert 1.5 < time.monotonic() - start < 3.5
