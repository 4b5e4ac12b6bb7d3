"""The real clients and the scripted server they talk to, once per session."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from heal_bot.core.errors import LLMError
from heal_bot.core.events import Event, Run
from heal_bot.core.text import Secret
from heal_bot.llm_clients.claude import CLAUDE
from heal_bot.llm_clients.gemini import GEMINI
from heal_bot.llm_clients.model_client import Client
from heal_bot.llm_clients.openai_compatible import OPENAI_COMPATIBLE
from heal_bot.llm_clients.retry import RetryPolicy
from heal_bot.ports.language_model import Message, Model
from tests.llm_clients.scene import ROUND, Scene
from tests.llm_clients.server import Answer, Scripted, fails, says, served

KEY = "test-key-1234567890"


@pytest.fixture(scope="session")
def _served() -> Iterator[Scripted]:
    with served() as scripted:
        yield scripted


@dataclass
class Bench:
    """Real clients against the server, the events they emitted, and one way to ask."""

    server: Scripted
    models: dict[str, Model]
    events: list[Event] = field(default_factory=list)

    def client(self, provider: str, url: str, **options: object) -> Model:
        """A fresh client of one provider for another address."""
        return _clients(url, **options)[provider]

    def run(self, **options: object) -> Run:
        return Run(sink=self.events.append, **options)  # type: ignore[arg-type]

    @staticmethod
    def raw(body: bytes, **options: object) -> Answer:
        return Answer(body, **options)  # type: ignore[arg-type]

    says = staticmethod(says)
    fails = staticmethod(fails)

    @property
    def kinds(self) -> list[str]:
        """The kinds of the events since the last question, without the deltas."""
        return [event.kind for event in self.events if event.kind != "delta"]

    def ask(self, provider: str, *answers: Answer, text: str = "repair f", **options: object):
        """The reply, or the LLMError, to a scripted conversation."""
        self.server.plays(*answers)
        self.events.clear()
        messages = [Message("user", "static", cached=True), Message("user", text)]
        try:
            return self.models[provider].ask(self.run(**options), "be brief", messages, 1000)
        except LLMError as error:
            return error


def _clients(url: str, **options: object) -> dict[str, Model]:
    key = Secret(KEY)
    settings = {"patience": RetryPolicy(attempts=3, first=0.02), **options}
    return {
        "claude": Client(CLAUDE, key, "claude-sonnet-5-5", url, **settings),  # type: ignore[arg-type]
        "gemini": Client(GEMINI, key, "gemini-3.8-flash", url, **settings),  # type: ignore[arg-type]
        "openai": Client(
            OPENAI_COMPATIBLE,
            key,
            "local",
            url + "/v1",
            **settings,  # type: ignore[arg-type]
        ),
    }


@pytest.fixture(scope="session")
def _bench(_served: Scripted) -> Bench:
    return Bench(_served, _clients(_served.url))


@pytest.fixture(scope="session")
def _hasty(_served: Scripted) -> Bench:
    return Bench(_served, _clients(_served.url, timeout=0.5))


@pytest.fixture
def bench(_bench: Bench) -> Bench:
    return _bench


@pytest.fixture
def hasty(_hasty: Bench) -> Bench:
    """The same clients with half a second for a whole answer."""
    return _hasty


@pytest.fixture
def free_url() -> str:
    """An address where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def play(bench) -> Callable[..., Scene]:
    """Play answers in order (text is the first model's) to a repair by a chain of models."""

    def start(*answers, providers=("claude",), tests=None, **options) -> Scene:
        script = [
            bench.says(providers[0], answer) if isinstance(answer, str) else answer
            for answer in answers
        ]
        bench.server.plays(*script)
        return Scene([bench.models[p] for p in providers], tests or ROUND, **options)

    return start
