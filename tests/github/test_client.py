"""What GitHub refuses, as one of our errors: a right that lacks, or a limit that passes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from github import GithubException

from heal_bot.core.errors import ForgeError, ForgeForbiddenError
from heal_bot.core.events import Run
from heal_bot.core.text import Secret
from heal_bot.github.client import Route, create, translate_errors
from heal_bot.github.pulls import GitHub

RUN = Run(lambda event: None)
SECONDARY = "You have exceeded a secondary rate limit"


def failing(status: int, message: str, **headers: str) -> Callable[[], str]:
    """An action that GitHub refuses."""
    shown = {name.replace("_", "-"): value for name, value in headers.items()}

    def make() -> str:
        raise GithubException(status, {"message": message}, shown)

    return make


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server of this machine."""
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def refusal(make: Callable[[], str], run: Run = RUN) -> ForgeError:
    """What becomes of it."""
    with pytest.raises(ForgeError) as error, translate_errors("write"):
        create(run, "write", lambda: None, make)
    return error.value


@pytest.mark.parametrize(
    ("status", "message", "told"),
    [
        (403, "Resource not accessible by integration", "contents: write"),
        (404, "Not Found", "contents: write"),
        (403, "GitHub Actions is not permitted to create or approve pull requests.", "Settings"),
        (422, "refusing to allow a GitHub App to update workflow `x.yml` without `workflows` "
              "permission", "workflows: write"),
        (422, "Repository rule violations found", "Rulesets"),
        (422, "Line could not be resolved", "diff changed"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_setting(status: int, message: str, told: str) -> None:
    error = refusal(failing(status, message))
    assert isinstance(error, ForgeForbiddenError)
    assert told in str(error)


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (403, {"X_RateLimit_Remaining": "0", "X_RateLimit_Reset": "4000000000"}, "07:06:40 UTC"),
        (403, {"Retry_After": "3600"}, "in 3600 s"),
        (429, {"Retry_After": "999999999999"}, "in 999999999999 s"),
        (403, {}, "in some minutes"),
    ],
)
def test_a_limit_that_outlasts_the_run_is_told_at_once(
    status: int, headers: dict[str, str], told: str
) -> None:
    begin = time.monotonic()
    short = Run(lambda event: None, deadline=begin + 30)
    error = refusal(failing(status, SECONDARY, **headers), short)
    assert not isinstance(error, ForgeForbiddenError)
    assert told in str(error)
    assert time.monotonic() - begin < 1


@pytest.mark.parametrize(
    ("status", "kind", "body", "headers"),
    [
        (200, "text/html", b"<html>log in</html>", {}),
        (200, "application/json", b'{"default_branch": 7}', {}),
        (302, "text/html", b"", {"Location": "http://elsewhere.example.invalid/"}),
    ],
)
def test_an_answer_of_something_else_is_an_error_that_says_so(
    status: int, kind: str, body: bytes, headers: dict[str, str]
) -> None:
    class Odd(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            said = {**headers, "Content-Type": kind, "Content-Length": str(len(body))}
            for name, value in said.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with listening(Odd) as url, pytest.raises(ForgeError, match="repository octo/shop"):
        GitHub.open(Secret("t"), url, "octo/shop").default_branch(RUN)


@pytest.mark.long
def test_encrypted_connections_go_through_the_proxy() -> None:
    asked: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            asked.append(self.path)
            self.send_error(403)

        def log_message(self, *_: object) -> None:
            pass

    with listening(Proxy) as url:
        place = ("https://api.example.invalid", "octo/shop")
        forge = GitHub.open(Secret("t"), *place, route=Route(proxy=url))
        with pytest.raises(ForgeError, match="was not reached"):
            forge.default_branch(RUN)
        GitHub.open(Secret("t"), *place)
    assert set(asked) == {"api.example.invalid:443"}
