"""Claude on Bedrock and Vertex, through the real SDK against the scripted server."""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
from pathlib import Path

import pytest

from heal_bot.core import settings
from heal_bot.core.errors import LLMError, UsageError
from heal_bot.core.text import Secret
from heal_bot.llm_clients.claude_cloud import speak_bedrock, speak_vertex
from heal_bot.llm_clients.model_client import Client
from heal_bot.llm_clients.retry import RetryPolicy
from heal_bot.ports.language_model import Message, Model, Reply
from heal_bot.wiring.proposers import NOTHING, make_tiers
from tests.llm_clients.server import Answer, claude_says

pytestmark = pytest.mark.long

KEY = "cloud-token-1234567890"
CLOUDS = ("vertex", "bedrock")
DIALECTS = {
    "vertex": speak_vertex("proj-1", "europe-west1"),
    "bedrock": speak_bedrock("eu-west-1"),
}


def _frame(payload: bytes, **headers: str) -> bytes:
    """A message of the binary event stream: lengths, headers, payload, each under a checksum."""
    packed = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value))
        + value.encode()
        for name, value in ((f":{name.replace('_', '-')}", v) for name, v in headers.items())
    )  # fmt: skip
    prelude = struct.pack("!II", len(packed) + len(payload) + 16, len(packed))
    prelude += struct.pack("!I", binascii.crc32(prelude))
    body = prelude + packed + payload
    return body + struct.pack("!I", binascii.crc32(body))


def _framed(stream: bytes) -> bytes:
    """The events of a usual stream as Bedrock frames them."""
    events = re.findall(rb"data: (\{.*\})", stream)
    payloads = [json.dumps({"bytes": base64.b64encode(e).decode()}).encode() for e in events]
    how = {"event_type": "chunk", "content_type": "application/json", "message_type": "event"}
    return b"".join(_frame(payload, **how) for payload in payloads)


def _answer(cloud: str, stream: bytes) -> Answer:
    if cloud == "vertex":
        return Answer(stream)
    return Answer(_framed(stream), kind="application/vnd.amazon.eventstream")


@pytest.fixture(scope="session")
def clouds(_served) -> dict[str, Model]:
    key, patience = Secret(KEY), RetryPolicy(attempts=2, first=0.02)
    return {
        cloud: Client(dialect, key, "", _served.url, patience=patience)
        for cloud, dialect in DIALECTS.items()
    }


@pytest.fixture
def ask(bench, clouds):
    def asked(cloud: str, *answers: Answer) -> Reply | LLMError:
        bench.server.plays(*answers)
        try:
            return clouds[cloud].ask(bench.run(), "be brief", [Message("user", "q")], 100)
        except LLMError as error:
            return error

    return asked


@pytest.mark.long
@pytest.mark.parametrize("cloud", CLOUDS)
def test_an_answer_comes_with_usage_and_price_and_the_key_in_one_place(ask, bench, cloud) -> None:
    reply = ask(cloud, _answer(cloud, claude_says("h\u00e9 fine")))
    assert isinstance(reply, Reply), reply
    assert (reply.text, reply.cost.input_tokens, reply.cost.cached_tokens) == (
        "h\u00e9 fine",
        100,
        80,
    )
    assert reply.cost.usd
    path, headers, body = bench.server.requests[0]
    assert (
        path
        == {
            "vertex": "/projects/proj-1/locations/europe-west1/publishers/anthropic/models/"
            "claude-sonnet-5-5:streamRawPredict",
            "bedrock": "/model/anthropic.claude-sonnet-5-5/invoke-with-response-stream",
        }[cloud]
    )
    assert headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in path + json.dumps(body)
    assert "model" not in body
    assert body["anthropic_version"]


@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize(
    ("stream", "kind", "billed"),
    [
        (claude_says("no", "refusal"), "refusal", (100, 30)),
        (claude_says("def", "max_tokens"), "truncated", (100, 30)),
        (claude_says("def", None), "transient", None),
    ],
    ids=["refused", "cut at the limit", "ended early"],
)
def test_what_is_no_answer_has_its_kind(ask, cloud, stream, kind, billed) -> None:
    error = ask(cloud, _answer(cloud, stream))
    assert isinstance(error, LLMError), error
    assert (error.kind, error.billed) == (kind, billed)


@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize(
    ("status", "kind", "asked"),
    [(403, "auth", 1), (404, "gone", 1), (429, "rate_limit", 2), (503, "overloaded", 2)],
)
def test_a_refused_request_is_typed(ask, bench, cloud, status, kind, asked) -> None:
    body = b'{"message": "no", "error": {"message": "no"}}'
    error = ask(cloud, Answer(body, status, "application/json"))
    assert isinstance(error, LLMError), error
    assert (error.kind, len(bench.server.requests)) == (kind, asked)


def test_an_exception_in_a_frame_is_typed(ask) -> None:
    thrown = _frame(
        b'{"message": "slow down"}', exception_type="throttlingException",
        content_type="application/json", message_type="exception",
    )  # fmt: skip
    begun = _framed(claude_says("def", None))
    error = ask("bedrock", Answer(begun + thrown, kind="application/vnd.amazon.eventstream"))
    assert isinstance(error, LLMError), error
    assert error.billed is None


@pytest.mark.parametrize(
    "harm", [lambda b: b[:-1] + b"x", lambda b: b"\xff" * 64, lambda b: b[:40]]
)
def test_a_frame_that_is_none_is_no_answer(ask, harm) -> None:
    body = harm(_framed(claude_says("fine")))
    error = ask("bedrock", Answer(body, kind="application/vnd.amazon.eventstream"))
    assert isinstance(error, LLMError), error
    assert error.kind in {"bad_gateway", "transient"}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_clouds_own_environment_has_no_influence(bench, cloud, monkeypatch) -> None:
    for name in (
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
        "AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL", "AWS_REGION",
        "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION",
        "ANTHROPIC_CUSTOM_HEADERS", "GOOGLE_APPLICATION_CREDENTIALS",
    ):  # fmt: skip
        monkeypatch.setenv(name, "x-leaked: leaked" if name.endswith("HEADERS") else "leaked")
    bench.server.plays(_answer(cloud, claude_says("fine")))
    model = Client(DIALECTS[cloud], Secret(KEY), "", bench.server.url)
    assert model.ask(bench.run(), "s", [Message("user", "q")], 10).text == "fine"
    assert "leaked" not in json.dumps(bench.server.requests[0])


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"AWS_REGION": "eu-west-1"}, "AWS_BEARER_TOKEN_BEDROCK"),
        ({"AWS_BEARER_TOKEN_BEDROCK": KEY}, "AWS_REGION"),
        ({"AWS_BEARER_TOKEN_BEDROCK": KEY, "AWS_REGION": "evil.example/#"}, "evil.example"),
    ],
)
def test_what_bedrock_lacks_is_one_line(environ: dict[str, str], said: str) -> None:
    chosen = settings.load(environ, None, {"proposers": ("bedrock",)})
    with pytest.raises(UsageError, match=said):
        make_tiers(chosen, Path(), None, NOTHING)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_repository_cannot_spend_the_token_of_a_cloud(cloud) -> None:
    with pytest.raises(UsageError, match="only by a person"):
        settings.load({}, f"proposers: [rules, {cloud}]".encode())


def test_a_cloud_is_asked_only_where_it_is_named() -> None:
    environ = {"CLOUDSDK_AUTH_ACCESS_TOKEN": KEY, "GOOGLE_CLOUD_PROJECT": "proj-1"}
    assert settings.load(environ).tiers() == ("rules",)
    named = settings.load(environ, None, {"proposers": ("vertex",)})
    (proposer,) = make_tiers(named, Path(), None, NOTHING).proposers
    assert proposer.name == "vertex"
    assert KEY in {secret.reveal() for secret in named.secrets}
