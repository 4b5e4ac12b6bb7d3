"""A model server on the loopback that plays back what a test scripts, byte for byte."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from heal_bot.errors import LLMError
from heal_bot.events import Event, Run
from heal_bot.models.claude import Claude
from heal_bot.models.gemini import Gemini
from heal_bot.models.openai_compatible import OpenAICompatible
from heal_bot.models.retry import Patience
from heal_bot.ports import Message, Model
from heal_bot.text import Secret

KEY = "test-key-1234567890"


@dataclass
class Answer:
    """What the server sends: `cut` resets after the body, `drip` spends seconds per piece."""

    body: bytes
    status: int = 200
    kind: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    drip: float = 0.0


@dataclass
class Scripted:
    """The server: answers in order (the last one repeats), and the requests it got."""

    url: str
    answers: list[Answer] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], dict[str, object]]] = field(default_factory=list)

    def plays(self, *answers: Answer) -> None:
        self.answers[:] = answers
        self.requests.clear()


@pytest.fixture(scope="session")
def _served() -> Iterator[Scripted]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            scripted.requests.append(
                (self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(body))
            )
            place = min(len(scripted.requests), len(scripted.answers)) - 1
            _send(self, scripted.answers[place])

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    scripted = Scripted(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield scripted
    server.shutdown()
    server.server_close()
    thread.join()


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    handler.close_connection = True
    handler.send_response(answer.status)
    handler.send_header("content-type", answer.kind)
    handler.send_header("transfer-encoding", "chunked")
    for name, value in answer.headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    size = 7 if answer.drip else max(1, len(answer.body))
    try:
        for start in range(0, len(answer.body), size):
            piece = answer.body[start : start + size]
            handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            handler.wfile.flush()
            time.sleep(answer.drip)
        if answer.cut:
            handler.connection.shutdown(socket.SHUT_RDWR)
        else:
            handler.wfile.write(b"0\r\n\r\n")
    except OSError:
        pass  # The client hung up, which some scripts are about.


@dataclass
class Bench:
    """Real clients against the server, the events they emitted, and one way to ask."""

    server: Scripted
    models: dict[str, Model]
    events: list[Event] = field(default_factory=list)

    def client(self, provider: str, url: str) -> Model:
        """A fresh client of one provider for another address."""
        return _clients(url)[provider]

    def run(self, **options: object) -> Run:
        return Run(sink=self.events.append, **options)  # type: ignore[arg-type]

    @staticmethod
    def raw(body: bytes, **options: object) -> Answer:
        return Answer(body, **options)  # type: ignore[arg-type]

    @staticmethod
    def says(provider: str, text: str, *args: object, **options: object) -> Answer:
        """The text as the provider streams it; a further argument is its word for the end."""
        return Answer(SAYS[provider](text, *args), **options)  # type: ignore[arg-type]

    @staticmethod
    def fails(provider: str, status: int, code: str, message: str, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        body = _error_body(provider, code, message, status)
        return Answer(body, status, "application/json", named)

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
    settings = {"patience": Patience(attempts=3, first=0.02), **options}
    return {
        "claude": Claude(key, "claude-sonnet-5-5", url, **settings),  # type: ignore[arg-type]
        "gemini": Gemini(key, "gemini-3.8-flash", url, **settings),  # type: ignore[arg-type]
        "openai": OpenAICompatible(key, "local", url + "/v1", **settings),  # type: ignore[arg-type]
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


def _sse(events: list[dict[str, object]], *, named: bool) -> bytes:
    parts = []
    for event in events:
        head = f"event: {event['type']}\n" if named else ""
        parts.append(f"{head}data: {json.dumps(event)}\n\n")
    return "".join(parts).encode()


def claude_says(text: str, stop: str | None = "end_turn", category: str = "") -> bytes:
    """Claude's stream in its usual shape; without `stop` it just ends."""
    usage = {"input_tokens": 20, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 0}
    message = {
        "id": "m1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5",
        "content": [], "stop_reason": None, "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }  # fmt: skip
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": text},
        },
    ]
    if stop:
        delta: dict[str, object] = {"stop_reason": stop, "stop_sequence": None}
        if category:
            delta["stop_details"] = {"type": "refusal", "category": category, "explanation": "no"}
        events += [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 30}},
            {"type": "message_stop"},
        ]
    return _sse(events, named=True)


def gemini_says(text: str, finish: str | None = "STOP") -> bytes:
    candidate: dict[str, object] = {"content": {"role": "model", "parts": [{"text": text}]}}
    events: list[dict[str, object]] = [{"candidates": [candidate]}]
    if finish:
        usage = {
            "promptTokenCount": 100, "cachedContentTokenCount": 80,
            "candidatesTokenCount": 20, "thoughtsTokenCount": 10,
        }  # fmt: skip
        end = {"finishReason": finish, "content": {"role": "model", "parts": []}}
        events.append({"candidates": [end], "usageMetadata": usage})
    return _sse(events, named=False)


def openai_says(text: str, finish: str | None = "stop", done: bool = True) -> bytes:
    events: list[dict[str, object]] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]}
    ]
    if finish:
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        usage = {
            "prompt_tokens": 100, "completion_tokens": 30,
            "prompt_tokens_details": {"cached_tokens": 80},
        }  # fmt: skip
        events.append({"choices": [], "usage": usage})
    tail = b"data: [DONE]\n\n" if done and finish else b""
    return b": comment\n\n" + _sse(events, named=False) + tail


SAYS: dict[str, Callable[..., bytes]] = {
    "claude": claude_says,
    "gemini": gemini_says,
    "openai": openai_says,
}


def _error_body(provider: str, code: str, message: str, status: int = 400) -> bytes:
    """An error body as each provider words it."""
    if provider == "claude":
        error = {"type": "error", "error": {"type": code, "message": message}}
    elif provider == "gemini":
        error = {"error": {"code": status, "status": code, "message": message}}
    else:
        error = {"error": {"code": code, "message": message, "type": "error"}}
    return json.dumps(error).encode()
