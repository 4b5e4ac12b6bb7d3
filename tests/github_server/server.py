"""A GitHub on the loopback interface: real git behind it, GitHub's own description as its judge.

As a program: `python -m tests.github_server.server --folder DIR --name owner/repo [--import DIR]
[--ready FILE] [--port N]` writes its URL to FILE and serves until it is stopped; its token is
`token-for-tests`. It answers only on 127.0.0.1.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.github_server import graphql, talk_routes
from tests.github_server.contract import Judge, match
from tests.github_server.repository import GitRepository
from tests.github_server.routes import HANDLERS, Answer, Request
from tests.github_server.world import Refused, World

_CAP = 64 << 20
_WRITES = frozenset({"create", "update", "delete", "add", "request", "remove"})
assert set(HANDLERS) >= talk_routes.SERVED


@dataclass
class Fault:
    """Breaks the next `times` calls of an operation, before or after its effect.

    status 0 drops the connection without an answer.
    """

    operation: str
    when: str = "before"
    status: int = 502
    times: int = 1
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "Server Error"


@dataclass
class Exchange:
    """One request and the status it got."""

    method: str
    path: str
    operation: str
    status: int
    body: Any


@dataclass
class LoopbackGitHub:
    """The server's inside: world, judge, faults to come, exchanges so far.

    `unchanged` counts the answers 304, which GitHub does not count against the rate limit.
    """

    world: World
    judge: Judge = field(default_factory=Judge)
    faults: list[Fault] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    unchanged: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    watch: Callable[[int, str], None] = lambda number, when: None

    @property
    def url(self) -> str:
        """The base URL of the API, and of git."""
        return self.world.url

    @property
    def violations(self) -> list[str]:
        """What went against GitHub's description."""
        return self.judge.violations

    def writes(self) -> list[Exchange]:
        """The exchanges that were no reads."""
        return [e for e in self.exchanges if e.method != "GET"]

    def answer(
        self, method: str, target: str, authorization: str, body: Any
    ) -> tuple[Answer, dict[str, str]] | None:
        """The answer to an API request and extra headers; None drops the connection."""
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query))
        if parts.path == "/graphql":
            return self._graphql(authorization, body)
        operation = match(method, parts.path)
        if operation is None:
            self.judge.violations.append(f"no such operation: {method} {parts.path}")
            return Answer(404, {"message": "Not Found"}), {}
        self.judge.request(operation, query, body)
        self.watch(len(self.exchanges), "before")
        self.world.more = False
        fault = self._fault(operation.id, "before")
        if fault is None:
            answer = self._handle(operation.id, operation.parameters, query, authorization, body)
            self.judge.response(operation, answer.status, answer.body)
            fault = self._fault(operation.id, "after")
        headers: dict[str, str] = {}
        if self.world.more:
            number = int(query.get("page", 1)) + 1
            following = urlencode({**query, "page": number})
            headers["Link"] = f'<{self.url}{parts.path}?{following}>; rel="next"'
        if fault is not None:
            answer, headers = Answer(fault.status, {"message": fault.message}), fault.headers
        self.watch(len(self.exchanges), "after")
        self.exchanges.append(Exchange(method, target, operation.id, answer.status, body))
        return (answer, headers) if answer.status else None

    def _graphql(self, authorization: str, body: Any) -> tuple[Answer, dict[str, str]] | None:
        """The answer to a query of the other API: refusals come with status 200."""
        given, data, told = body.get("variables") or {}, None, []
        try:
            document = graphql.Document(body["query"])
            document.judge(given)
        except graphql.Fault as fault:
            self.judge.violations.append(f"graphql: {fault}")
            return Answer(200, {"errors": [{"message": str(fault)}]}), {}
        name = f"graphql/{document.fields[0].name}"
        self.watch(len(self.exchanges), "before")
        login = self.world.tokens.get(authorization.partition(" ")[2])
        writes = document.kind == "Mutation"
        broken = self._fault(name, "before")
        if broken is None and login is None:
            broken = Fault(name, status=401, message="Bad credentials")
        if broken is None and (name in self.world.denied or (writes and login in
                               self.world.read_only)):  # fmt: skip
            told = [{"type": "FORBIDDEN", "message": "Resource not accessible by integration"}]
        elif broken is None:
            try:
                data = graphql.answer(self.world, document, given, login or "")
            except graphql.Fault as fault:
                self.judge.violations.append(f"{name}: answer: {fault}")
            except Refused as refused:
                told = [{"type": "NOT_FOUND", "message": refused.body["message"]}]
            broken = self._fault(name, "after")
        answer = Answer(200, {"data": data} | ({"errors": told} if told else {}))
        if broken is not None:
            answer = Answer(broken.status, {"message": broken.message})
        self.watch(len(self.exchanges), "after")
        kind = "POST" if writes else "GET"
        self.exchanges.append(Exchange(kind, "/graphql", name, answer.status, body))
        return (answer, broken.headers if broken else {}) if answer.status else None

    def _fault(self, operation: str, when: str) -> Fault | None:
        for fault in self.faults:
            if fault.operation == operation and fault.when == when and fault.times:
                fault.times -= 1
                return fault
        return None

    def _handle(
        self, operation: str, parameters: Any, query: Any, authorization: str, body: Any
    ) -> Answer:
        world = self.world
        login = world.tokens.get(authorization.partition(" ")[2])
        if login is None:
            return Answer(401, {"message": "Bad credentials"})
        named = f"{parameters.get('owner')}/{parameters.get('repo')}"
        if "owner" in parameters and named.lower() != world.name.lower():
            return Answer(404, {"message": "Not Found"})
        if HANDLERS.get(operation) is None:
            self.judge.violations.append(f"{operation}: not served here")
            return Answer(404, {"message": "Not Found"})
        writes = operation.partition("/")[2].split("-")[0] in _WRITES
        if (writes and login in world.read_only) or operation in world.denied:
            return Answer(403, {"message": "Resource not accessible by integration"})
        try:
            return HANDLERS[operation](Request(world, login, parameters, query, body))
        except Refused as refused:
            return Answer(refused.status, refused.body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    github: LoopbackGitHub

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no error of the server."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def _serve(self) -> None:
        data = self._body()
        github = self.server.github
        if ".git/" in self.path:
            self._git(data)
        elif self.path.startswith("/_artifacts/"):
            self._artifact()
        else:
            with github.lock:
                body = json.loads(data) if data else None
                authorization = self.headers.get("Authorization", "")
                outcome = github.answer(self.command, self.path, authorization, body)
            if outcome is None:
                self.close_connection = True
                self.connection.close()
                return
            answer, headers = outcome
            if answer.location:
                headers = {**headers, "Location": answer.location}
            text = b"" if answer.body is None else json.dumps(answer.body).encode()
            status = answer.status
            if self.command == "GET" and status == 200:
                headers = {**headers, "ETag": f'W/"{hashlib.sha256(text).hexdigest()}"'}
                if self.headers.get("If-None-Match") == headers["ETag"]:
                    status, text = 304, b""
                    with github.lock:
                        github.unchanged += 1
            self._send(status, text, "application/json; charset=utf-8", headers)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(min(_CAP, int(self.headers.get("Content-Length") or 0)))

    def _send(self, status: int, body: bytes, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def _artifact(self) -> None:
        if self.headers.get("Authorization"):
            self.server.github.violations.append("a token was sent to the artifact store")
        _, _, run, place = self.path.split("/")
        data = list(self.server.github.world.runs[int(run)].artifacts.values())[int(place)]
        self._send(200, data, "application/zip", {})

    def _git(self, data: bytes) -> None:
        """Hand a clone or a push to git's own server program; a push needs a token."""
        world = self.server.github.world
        path, _, query = self.path.partition("?")
        name, _, rest = path.lstrip("/").partition(".git/")
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "basic":
            value = base64.b64decode(value).decode().partition(":")[2]
        login = world.tokens.get(value, "")
        if name.lower() != world.name.lower():
            return self._send(404, b"no such repository\n", "text/plain", {})
        if "git-receive-pack" in self.path and (not login or login in world.read_only):
            challenge = {"WWW-Authenticate": 'Basic realm="loopback"'}
            return self._send(401, b"push needs a token\n", "text/plain", challenge)
        done = subprocess.run(
            ["git", "http-backend"],
            input=data,
            capture_output=True,
            timeout=60,
            env={
                "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
                "HOME": "/nonexistent",
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROJECT_ROOT": str(world.git.path.absolute()),
                "PATH_INFO": "/" + rest,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(data)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REMOTE_USER": login,
                "REMOTE_ADDR": "127.0.0.1",
            },
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        status = int(headers.pop("Status", "200").split()[0])
        return self._send(status, body, headers.pop("Content-Type", "text/plain"), headers)

    def log_message(self, *_: Any) -> None:
        """Nothing: the exchanges are kept."""


@contextmanager
def serving(folder: Path, name: str = "octo/shop", port: int = 0) -> Iterator[LoopbackGitHub]:
    """A running loopback GitHub with one empty repository kept in `folder`."""
    git = GitRepository(folder / f"{name.partition('/')[2]}.git")
    if not git.path.exists():
        git.init()
    github = LoopbackGitHub(World(name, git))
    server = _Server(("127.0.0.1", port), _Handler)
    server.github = github
    github.world.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def main() -> None:
    """Serve until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--name", default="octo/shop")
    parser.add_argument("--import", dest="source", type=Path)
    parser.add_argument("--ready", type=Path)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with serving(options.folder, options.name, options.port) as github:
        if options.source:
            github.world.git.import_folder(options.source, "Import")
        print(github.url, flush=True)
        if options.ready:
            beside = options.ready.with_suffix(".tmp")
            beside.write_text(github.url)
            beside.rename(options.ready)
        stop.wait()
        for violation in github.violations:
            print(f"violation: {violation}", flush=True)


if __name__ == "__main__":
    main()
