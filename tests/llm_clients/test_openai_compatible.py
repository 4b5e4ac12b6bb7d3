"""Shapes of the servers that speak OpenAI's dialect; transcripts are hand-written."""

from __future__ import annotations

import json

import pytest

from heal_bot.core.errors import LLMError
from heal_bot.core.text import Secret
from heal_bot.llm_clients.model_client import Client
from heal_bot.llm_clients.openai_compatible import OPENAI_COMPATIBLE
from heal_bot.ports.language_model import Message, Reply


def sse(*events: object) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def said(text: str, **choice: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": text}, **choice}]}


USAGE = {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 30}}
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    "body",
    [
        sse(said("fine"), STOP, USAGE) + b"data: [DONE]\n\n",
        sse(said("fine"), STOP, USAGE),
        sse(said("fi"), said("ne", finish_reason="stop")),
        b": OPENROUTER PROCESSING\n\n" + sse(said("fine"), STOP) + b"data: [DONE]\n\n",
        b"event: message\r\n" + sse(said("fine"), STOP).replace(b"\n", b"\r\n"),
        sse({"choices": None}, said("fine"), STOP, {"choices": [], "usage": None}),
        sse(said("fine"), STOP).replace(b"data: ", b"data:"),
    ],
    ids=["openai", "no done", "inline stop", "comments", "crlf", "nulls", "no space"],
)
def test_streams_of_every_server_are_read(bench, body) -> None:
    reply = bench.ask("openai", bench.raw(body))
    assert isinstance(reply, Reply), reply
    assert reply.text == "fine"


def test_a_server_that_does_not_stream_is_read_too(bench) -> None:
    body = {
        "choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 30},
    }
    reply = bench.ask("openai", bench.raw(json.dumps(body).encode(), kind="application/json"))
    assert (reply.text, reply.cost.output_tokens) == ("fine", 30)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"error": {"message": "slow", "code": "429"}}, "rate_limit"),
        (429, {"error": {"code": "insufficient_quota", "message": "quota"}}, "out_of_credit"),
        (413, {"error": {"code": "rate_limit_exceeded", "message": "TPM"}}, "over_tpm"),
        (400, {"error": {"code": "context_length_exceeded", "message": "m"}}, "context_overflow"),
        (400, {"object": "error", "message": "maximum context length is 9"}, "context_overflow"),
        (400, {"error": {"type": "exceed_context_size_error"}}, "context_overflow"),
        (400, {"error": "max_tokens is wrong"}, "bad_request"),
        (402, {"error": {"code": 402, "message": "Insufficient credits"}}, "out_of_credit"),
        (200, {"error": {"code": 402, "message": "Insufficient credits"}}, "out_of_credit"),
        (200, {"error": {"code": 429, "message": "slow"}}, "rate_limit"),
        (200, {"error": {"message": "Invalid API key"}}, "auth"),
        (404, {"error": {"message": "model 'x' not found"}}, "gone"),
    ],
)
def test_errors_of_every_server_are_typed(bench, status, body, kind) -> None:
    answer = bench.raw(json.dumps(body).encode(), status=status, kind="application/json")
    error = bench.ask("openai", answer)
    assert isinstance(error, LLMError)
    assert error.kind == kind, error


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"error": {"code": 502, "message": "upstream"}, **said("", finish_reason="error")},
         "bad_gateway"),
        ({"error": {"message": "maximum context length"}}, "context_overflow"),
        ({"error": "stopped"}, "transient"),
        (said("", finish_reason="error"), "transient"),
        (said("", finish_reason="tool_calls"), "transient"),
    ],
)  # fmt: skip
def test_errors_inside_a_stream_are_typed(bench, event, kind) -> None:
    error = bench.ask("openai", bench.raw(b"event: error\n" + sse(said("def"), event)))
    assert isinstance(error, LLMError)
    assert (error.kind, error.billed) == (kind, None)


def test_a_refusal_in_its_own_field_is_a_refusal(bench) -> None:
    delta = {"choices": [{"delta": {"refusal": "I cannot"}}]}
    error = bench.ask("openai", bench.raw(sse(delta, STOP, USAGE)))
    assert (error.kind, "I cannot" in str(error)) == ("refusal", True)


def test_a_prompt_whose_front_was_dropped_is_an_overflow(bench) -> None:
    error = bench.ask("openai", bench.says("openai", "fine"), text="x = 1\n" * 1500)
    assert error.kind == "context_overflow"
    assert "100 tokens of a prompt of 9" in str(error)


def test_the_name_of_the_limit_follows_the_server(bench) -> None:
    refused = bench.fails(
        "openai", 400, "unsupported_parameter", "Use 'max_completion_tokens' instead."
    )
    bench.server.plays(refused, bench.says("openai", "fine"))
    model = bench.client("openai", bench.server.url)
    assert model.ask(bench.run(), "s", [Message("user", "q")], 50).text == "fine"
    bodies = [body for _, _, body in bench.server.requests]
    assert [b.get("max_tokens") for b in bodies] == [50, None]
    assert bodies[1]["max_completion_tokens"] == 50


def test_without_a_key_no_authorization_is_sent(bench) -> None:
    bench.server.plays(bench.says("openai", "fine"))
    url = bench.server.url + "/v1/"
    model = Client(OPENAI_COMPATIBLE, Secret(""), "local", url, window=8_000)
    assert model.ask(bench.run(), "s", [Message("user", "q")], 50).text == "fine"
    assert "authorization" not in bench.server.requests[0][1]
    assert (model.window, model.max_output, model.price(10, 10)) == (8_000, 4_000, None)


def test_listed_models_have_a_window_and_a_price() -> None:
    model = Client(OPENAI_COMPATIBLE, Secret("k"), "gpt-5", "https://api.openai.com/v1")
    assert model.window == 400_000
    assert model.price(1_000_000, 0) == pytest.approx(1.25)


def test_an_endless_line_is_cut(bench) -> None:
    error = bench.ask("openai", bench.raw(b"data: " + b"x" * (2 << 20)))
    assert isinstance(error, LLMError)
    assert error.kind == "bad_gateway"
