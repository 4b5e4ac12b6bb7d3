"""The clients against aimock, a server of other hands, with the answers it makes of fixtures.

`make long` installs it (pinned, for development only); without it these tests fail and say so.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heal_bot.core.errors import LLMError
from heal_bot.core.events import Run
from heal_bot.core.text import Secret
from heal_bot.llm_clients.claude import CLAUDE
from heal_bot.llm_clients.gemini import GEMINI
from heal_bot.llm_clients.model_client import Client
from heal_bot.llm_clients.openai_compatible import OPENAI_COMPATIBLE
from heal_bot.llm_clients.retry import RetryPolicy
from heal_bot.ports.language_model import Message, Reply
from tests.llm_clients.scene import ROUND_RIGHT

pytestmark = pytest.mark.long
ROOT = Path(__file__).parent.parent.parent
CLI = ROOT / ".venv/aimock/node_modules/@copilotkit/aimock/dist/cli.js"
PROVIDERS = ("claude", "gemini", "openai")
USAGE = {"input_tokens": 120, "output_tokens": 40, "prompt_tokens": 120, "completion_tokens": 40,
         "promptTokenCount": 120, "candidatesTokenCount": 40, "total_tokens": 160}  # fmt: skip
FIXTURES: tuple[dict[str, object], ...] = (
    {"match": {"userMessage": "repair"}, "response": {"content": ROUND_RIGHT, "usage": USAGE}},
    {"match": {"userMessage": "long"}, "response": {"content": "def f", "finishReason": "length"}},
    {"match": {"userMessage": "cut"}, "response": {"content": "word " * 200},
     "truncateAfterChunks": 4},
    {"match": {"userMessage": "slow down"},
     "response": {"error": {"message": "rate limited", "type": "rate_limit_error"}, "status": 429}},
    {"match": {"userMessage": "busy"},
     "response": {"error": {"message": "Overloaded", "type": "overloaded_error"}, "status": 529}},
    {"match": {"userMessage": "wrong"},
     "response": {"error": {"message": "prompt is too long: 9 tokens > 8 maximum",
                            "type": "invalid_request_error"}, "status": 400}},
    {"match": {"userMessage": "twice", "sequenceIndex": 0},
     "response": {"error": {"message": "Overloaded", "type": "overloaded_error"}, "status": 503}},
    {"match": {"userMessage": "twice", "sequenceIndex": 1}, "response": {"content": "now it is"}},
)  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """aimock while it runs."""
    node = shutil.which("node")
    assert node, "these tests need node (20 or newer); install it, then run make long"
    assert CLI.is_file(), "aimock is not installed; run make long, which installs it"
    folder = tmp_path_factory.mktemp("aimock")
    (folder / "all.json").write_text(json.dumps({"fixtures": FIXTURES}))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = [node, str(CLI), "-p", str(port), "-f", str(folder), "-l", "5", "--strict",
            "--validate-on-load", "--log-level", "warn"]  # fmt: skip
    server = subprocess.Popen(argv, cwd=folder, env={"PATH": "/usr/bin:/bin"})
    try:
        _wait(f"http://127.0.0.1:{port}/health", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        assert server.poll() is None, "aimock ended at once"
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("aimock does not answer")


@pytest.fixture
def ask(url: str) -> Callable[[str, str], Reply | LLMError]:
    key, patience = Secret("test-key"), RetryPolicy(attempts=2, first=0.02)
    clients = {
        "claude": Client(CLAUDE, key, "claude-sonnet-5-5", url, 20.0, patience=patience),
        "gemini": Client(GEMINI, key, "gemini-3.8-flash", url, 20.0, patience=patience),
        "openai": Client(OPENAI_COMPATIBLE, key, "gpt-5.5", f"{url}/v1", 20.0, patience=patience),
    }

    def once(provider: str, text: str) -> Reply | LLMError:
        try:
            return clients[provider].ask(
                Run(lambda event: None), "be brief", [Message("user", text)], 1000
            )
        except LLMError as error:
            return error

    return once


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_arrives_whole_with_its_usage(ask, provider) -> None:
    reply = ask(provider, "repair f")
    assert isinstance(reply, Reply), reply
    assert reply.text == ROUND_RIGHT
    assert (reply.cost.input_tokens, reply.cost.output_tokens) == (120, 40)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a long one", "truncated"),
        ("cut it", "transient"),
        ("slow down", "rate_limit"),
        ("busy now", "overloaded"),
        ("wrong", "context_overflow"),
    ],
)
def test_what_is_no_answer_has_its_kind(ask, provider, text, kind) -> None:
    error = ask(provider, text)
    assert isinstance(error, LLMError), error
    assert error.kind == kind, error


def test_a_passing_failure_is_asked_again(ask) -> None:
    reply = ask("claude", "twice")
    assert isinstance(reply, Reply), reply
    assert reply.text == "now it is"
