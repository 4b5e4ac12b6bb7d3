"""A model server on the loopback that plays back what a script holds, byte for byte.

Used by the tests of the clients and by the benchmark of the loop. The transcripts are hand-written
after the providers' formats, not recorded.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answer:
    """What the server sends: `cut` ends after the body, `drip` spends seconds per piece.

    With `raw` the body is the whole response, status line and headers included.
    """

    body: bytes
    status: int = 200
    kind: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    drip: float = 0.0
    raw: bool = False


@dataclass
class Scripted:
    """The server: answers in order (the last one repeats), and the requests it got.

    `reply` makes the answer from a request in their place.
    """

    url: str
    answers: list[Answer] = field(default_factory=list)
    reply: Callable[[dict[str, object]], Answer] | None = None
    requests: list[tuple[str, dict[str, str], dict[str, object]]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    arrived: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)

    def plays(self, *answers: Answer) -> None:
        self.answers[:] = answers
        for log in (self.requests, self.bodies, self.arrived, self.answered):
            log.clear()


@contextlib.contextmanager
def served() -> Iterator[Scripted]:
    """The server while it runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            scripted.arrived.append(time.monotonic())
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            scripted.bodies.append(body)
            scripted.requests.append((self.path, headers, json.loads(body)))
            if scripted.reply is not None:
                _send(self, scripted.reply(scripted.requests[-1][2]))
            else:
                place = min(len(scripted.requests), len(scripted.answers)) - 1
                _send(self, scripted.answers[place])
            scripted.answered.append(time.monotonic())

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    scripted = Scripted(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield scripted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    handler.close_connection = True
    if answer.raw:
        handler.wfile.write(answer.body)
        return
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


def error_body(provider: str, code: str, message: str, status: int = 400) -> bytes:
    """An error body as each provider words it."""
    if provider == "claude":
        error = {"type": "error", "error": {"type": code, "message": message}}
    elif provider == "gemini":
        error = {"error": {"code": status, "status": code, "message": message}}
    else:
        error = {"error": {"code": code, "message": message, "type": "error"}}
    return json.dumps(error).encode()


def says(provider: str, text: str, *args: object, **options: object) -> Answer:
    """The text as the provider streams it; a further argument is its word for the end."""
    return Answer(SAYS[provider](text, *args), **options)  # type: ignore[arg-type]


def fails(provider: str, status: int, code: str, message: str, **headers: str) -> Answer:
    """A refused request; keyword arguments are headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = error_body(provider, code, message, status)
    return Answer(body, status, "application/json", named)
