"""Servers that lie about usage, bend the stream, or want the key elsewhere."""

from __future__ import annotations

import json
import re
import threading
import time
import warnings

import pytest

from heal_bot.core.errors import LLMError
from heal_bot.ports.language_model import Message, Reply
from tests.llm_clients.server import SAYS, served

# The SDKs warn of odd values; what they would print is the matter of a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
PROVIDERS = ("claude", "gemini", "openai")
READ = {"claude": "input_tokens", "gemini": "promptTokenCount", "openai": "prompt_tokens"}
SAID = {"claude": "output_tokens", "gemini": "candidatesTokenCount", "openai": "completion_tokens"}
TOOLS = {"claude": "tool_use", "gemini": "MALFORMED_FUNCTION_CALL", "openai": "tool_calls"}
USAGE = ("usage", "usageMetadata")


@pytest.fixture(autouse=True)
def _threads(monkeypatch) -> None:
    """An exception that ends the thread of a call is a failure here, not a line on stderr."""
    lost: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lost.append)
    yield
    assert not lost


def _telling(provider: str, field: str, value: str) -> bytes:
    """A usual answer in which a number of the usage is another text."""
    return re.sub(
        rf'"{field}": \d+', f'"{field}": {value}', SAYS[provider]("fine").decode()
    ).encode()


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("names", [READ, SAID], ids=["read", "said"])
@pytest.mark.parametrize("value", ["-500000", "1e999", "NaN", "[1]", "null", "1" + "0" * 30])
def test_usage_that_is_no_number_of_tokens_is_charged_as_reserved(
    bench, provider, names, value
) -> None:
    answer = bench.ask(provider, bench.raw(_telling(provider, names[provider], value)))
    if isinstance(answer, Reply):
        # Gemini tells thoughts by themselves, and without any other output they are all of it.
        thought = (provider, names, value) == ("gemini", SAID, "null")
        assert (answer.cost.usd is None, answer.counted) == (not thought, thought)
    else:
        assert (answer.kind, answer.billed) == ("bad_gateway", None)


@pytest.mark.parametrize("provider", ["gemini", "openai"])
def test_an_answer_without_usage_is_one_and_is_not_free(bench, provider) -> None:
    events = [json.loads(e) for e in re.findall(rb"data: (\{.*\})", SAYS[provider]("fine"))]
    kept = [{k: v for k, v in event.items() if k not in USAGE} for event in events]
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in kept)
    answer = bench.ask(provider, bench.raw(body))
    assert isinstance(answer, Reply), answer
    assert (answer.text, answer.counted, answer.cost.usd) == ("fine", False, None)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "bent",
    [
        lambda body: b"\xef\xbb\xbf" + body,
        lambda body: body.replace(b"\n", b"\r\n"),
        lambda body: body.replace(b"\n", b"\r"),
        lambda body: body.rstrip(b"\n"),
    ],
    ids=["byte order mark", "crlf", "cr", "no last newline"],
)
def test_every_way_to_write_an_event_stream_is_read(bench, provider, bent) -> None:
    text = "h\u00e9 \U0001f600 fine"
    answer = bench.ask(provider, bench.raw(bent(SAYS[provider](text))))
    assert isinstance(answer, Reply), answer
    assert (answer.text, answer.counted) == (text, True)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_characters_that_are_split_between_pieces_stay_whole(bench, provider) -> None:
    text = "\U0001f600\u00e9\u4e2d" * 3
    body = SAYS[provider]("MARK").replace(b"MARK", text.encode()).replace(b"\n", b"\r\n")
    answer = bench.ask(provider, bench.raw(body, drip=0.001))
    assert isinstance(answer, Reply), answer
    assert answer.text == text


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("end", ["weird", 7, ["stop"], {"a": 1}, "tools"], ids=str)
def test_an_end_that_nobody_asked_for_is_no_answer_and_is_billed(bench, provider, end) -> None:
    answer = bench.ask(
        provider, bench.raw(SAYS[provider]("fine", TOOLS[provider] if end == "tools" else end))
    )
    assert isinstance(answer, LLMError), answer
    assert answer.kind in {"transient", "bad_gateway"}
    assert answer.billed in {(100, 30), None}
    assert len(bench.server.requests) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "noise",
    [
        b'data: {"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n\n",
        b"data: [1]\n\n",
        b"data: 5\n\n",
        b'data: {"choices": 5, "candidates": 5, "type": 5}\n\n',
        b"data: {\n\n",
    ],
    ids=["nested", "list", "number", "wrong types", "cut"],
)
def test_an_event_of_another_shape_ends_in_one_kind_or_is_passed_over(
    bench, provider, noise
) -> None:
    answer = bench.ask(provider, bench.raw(noise + SAYS[provider]("fine")))
    assert isinstance(answer, Reply) or answer.kind == "bad_gateway", answer


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("value", [b"5", b"{}", b"[5]", b'["x"]', b"null", b"true"])
def test_a_text_that_is_none_is_no_answer(bench, provider, value) -> None:
    answer = bench.ask(provider, bench.raw(SAYS[provider]("MARK").replace(b'"MARK"', value)))
    assert isinstance(answer, LLMError), answer
    assert answer.kind in {"bad_gateway", "truncated"}


def test_a_text_in_parts_is_read(bench) -> None:
    parts = (
        b'[{"type": "text", "text": "fi"}, {"type": "thinking"}, {"type": "text", "text": "ne"}]'
    )
    answer = bench.ask("openai", bench.raw(SAYS["openai"]("MARK").replace(b'"MARK"', parts)))
    assert isinstance(answer, Reply), answer
    assert answer.text == "fine"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_half_a_character_is_no_text_that_cannot_be_written(bench, provider) -> None:
    answer = bench.ask(provider, bench.raw(SAYS[provider]("a\ud800b")))
    assert isinstance(answer, Reply), answer
    answer.text.encode()


@pytest.mark.parametrize("copies", [2, 50])
def test_a_beginning_that_comes_again_is_counted_once(bench, copies) -> None:
    first, *rest = SAYS["claude"]("fine").split(b"\n\n")
    answer = bench.ask("claude", bench.raw(b"\n\n".join([*[first] * copies, *rest])))
    assert isinstance(answer, Reply), answer
    assert (answer.text, answer.cost.input_tokens) == ("fine", 100)


def test_an_answer_without_a_beginning_is_not_free(bench) -> None:
    body = SAYS["claude"]("fine").partition(b"\n\n")[2]
    answer = bench.ask("claude", bench.raw(body))
    assert isinstance(answer, LLMError), answer
    assert answer.billed is None


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_redirect_to_another_host_never_sees_the_key(bench, provider) -> None:
    with served() as other:
        other.plays(bench.says(provider, "fine"))
        for status in (301, 302, 307, 308):
            moved = bench.raw(b"", status=status, headers={"location": f"{other.url}/v1/messages"})
            answer = bench.ask(provider, moved)
            assert isinstance(answer, LLMError)
            assert answer.kind == "bad_gateway"
        assert not other.requests


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_refused_key_is_not_tried_again(bench, provider) -> None:
    answer = bench.ask(
        provider,
        bench.fails(provider, 401, "authentication_error", "no"),
        bench.says(provider, "x"),
    )
    assert isinstance(answer, LLMError)
    assert (answer.kind, len(bench.server.requests)) == ("auth", 1)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("when", "asked"),
    [
        ("Fri, 31 Dec 9999 23:59:59 GMT", 1),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 3),
        ("Sat, 01 Jan 0001 00:00:00 +2359", 3),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 3),
        ("99999999999999999999", 3),
        ("-1", 3),
        ("nan", 3),
        ("1e9", 3),
    ],
)
def test_when_to_come_back_may_be_nonsense(bench, provider, when, asked) -> None:
    start = time.monotonic()
    answer = bench.ask(provider, bench.fails(provider, 503, "", "busy", retry_after=when))
    assert isinstance(answer, LLMError)
    assert (answer.kind, len(bench.server.requests)) == ("overloaded", asked)
    assert time.monotonic() - start < 5


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-ty",
        HEAD + b"content-length: 1000\r\n\r\ndata: ",
        HEAD + b"transfer-encoding: chunked\r\n\r\nffffffffffffffffffff\r\nx",
        HEAD + b"transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"content-length: -5\r\n\r\n",
        HEAD + b"x: " + b"y" * 200_000 + b"\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 500,
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x16\x03\x01\x02\x00",
    ],
    ids=[
        "nothing", "mid header", "short body", "chunk length", "packed transfer", "negative length",
        "long header", "only interim answers", "another protocol", "tls",
    ],
)  # fmt: skip
def test_a_connection_that_breaks_before_an_answer_is_asked_again_and_typed(
    bench, provider, response
) -> None:
    answer = bench.ask(provider, bench.raw(response, raw=True))
    assert isinstance(answer, LLMError), answer
    assert answer.kind in {"transient", "bad_gateway"}
    assert (answer.billed, len(bench.server.requests)) == ((0, 0), 3)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_refusal_with_an_endless_body_costs_no_time(bench, provider) -> None:
    body = b'{"error": "' + b"eyJ" + b"A" * (8 << 20)
    start = time.monotonic()
    answer = bench.ask(provider, bench.raw(body, status=400, kind="application/json"))
    assert isinstance(answer, LLMError)
    assert answer.kind == "bad_request", answer
    assert len(str(answer)) < 500
    assert time.monotonic() - start < 3


@pytest.mark.parametrize("provider", PROVIDERS)
def test_nothing_a_server_says_is_printed_by_an_sdk(bench, provider) -> None:
    bench.server.plays(
        bench.raw(SAYS[provider]("fine", "::error::planted").replace(b": 30", b': "planted"'))
    )
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = bench.client(provider, bench.server.url)
        with pytest.raises(LLMError):
            model.ask(bench.run(), "s", [Message("user", "q")], 10)
    assert not [str(warning.message) for warning in heard]
