"""The connection to GitHub: PyGithub unmodified, retries that are safe, errors of ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from heal_bot.core.errors import ForgeError, ForgeForbiddenError, ForgeNoDraftsError, UsageError
from heal_bot.core.events import Run
from heal_bot.core.text import Secret, one_line, redact

if TYPE_CHECKING:
    from github import Github
    from github.GithubException import GithubException
    from github.Repository import Repository

T = TypeVar("T")
# A repeated POST makes a second comment or pull request when the first answer was lost
# (measured: a 502 after the effect gave two comments), so POST is never retried by the SDK.
_REPEATABLE = frozenset({"GET", "HEAD", "PUT", "PATCH", "DELETE"})
_TRANSIENT = frozenset({429, 500, 502, 503, 504})
_LONGEST_WAIT = 60.0
# GitHub asks for a minute after a secondary limit that names no time.
_UNTOLD = 60.0
_SECONDS = 20
# What the SDK raises for a redirect to elsewhere, for HTML, or for JSON of another form.
_ODD = (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
_TRIES = 3
_READ_ONLY = (
    "the token may not write here: give the job `permissions:` with `contents: write`,"
    " `pull-requests: write`, `issues: write` and `checks: write`"
)
_UNSEEN = "GitHub answered 404 to a write"
_NO_DRAFTS = "draft pull requests are not supported"
_MOVED = "the pull request's diff changed meanwhile and no longer shows this line"
ALLOW_PULLS = (
    "turn on Settings > Actions > General > Allow GitHub Actions to create and approve pull"
    " requests, in the repository and in its organization"
)
# What GitHub says, in lower case, and the setting that decides it.
_REMEDIES = (
    (
        "not permitted to create or approve pull requests",
        ALLOW_PULLS,
    ),
    (
        "repository rule violations",
        "let the rules in Settings > Rules > Rulesets pass this branch for the token",
    ),
    (
        "protected branch",
        "Settings > Branches protects this branch; leave heal-bot's branches out of the rule",
    ),
    (
        "`workflows` permission",
        "this branch differs in .github/workflows, which GITHUB_TOKEN may never push: merge the"
        " default branch into it, or give the token of a GitHub App that has `workflows: write`",
    ),
    ("line could not be resolved", _MOVED),
    ("must be part of the diff", _MOVED),
    ("resource not accessible", _READ_ONLY),
)


def check_url(name: str, url: str) -> bool:
    """Whether the address is this machine; UsageError where it would carry a token in the clear."""
    parts = urlsplit(url)
    local = parts.hostname in {"127.0.0.1", "localhost", "::1"}
    if parts.scheme != "https" and not (local and parts.scheme == "http"):
        raise UsageError(f"{name} is {one_line(url)!r}; it must be an https address")
    return local


@dataclass(frozen=True, slots=True)
class Route:
    """How GitHub is reached: a proxy for encrypted connections, and a file of private CAs."""

    proxy: str = ""
    ca_file: str = ""


DIRECT = Route()


def connect(token: Secret, api_url: str, route: Route = DIRECT) -> Github:
    """A client for the API at `api_url`; nothing is asked yet.

    Raises UsageError for a URL that would send the token in the clear.
    """
    local = check_url("GITHUB_API_URL", api_url)
    if not token:
        raise UsageError("GITHUB_TOKEN is empty; give a token that may write to the repository")
    import logging

    import github

    # What it warns of on stderr, a refused look-up say, we answer ourselves.
    logging.getLogger("github").setLevel(logging.CRITICAL)
    _use_connections(route.proxy)
    return github.Github(
        auth=github.Auth.Token(token.reveal()),
        base_url=api_url.rstrip("/"),
        timeout=_SECONDS,
        user_agent="heal-bot",
        verify=route.ca_file or True,
        per_page=100,
        lazy=True,
        retry=github.GithubRetry(
            total=_TRIES,
            allowed_methods=_REPEATABLE,
            status_forcelist=sorted(_TRANSIENT),
            backoff_factor=0.05 if local else 0.5,
            max_rate_limit_wait=_LONGEST_WAIT,
            retry_after_max=int(_LONGEST_WAIT),
        ),
        seconds_between_requests=None if local else 0.25,
        seconds_between_writes=None if local else 1.0,
    )


def _use_connections(proxy: str) -> None:
    """Let encrypted connections of the SDK go through a proxy, which it takes from nowhere else.

    What a proxy or a login page answers in HTML the SDK would take for an object without fields.
    """
    from github import Requester

    def check(answer: Requester.RequestsResponse) -> Requester.RequestsResponse:
        if answer.status == 200 and answer.read().lstrip()[:1] == "<":
            raise ValueError("HTML in place of JSON")
        return answer

    class Plain(Requester.HTTPRequestsConnectionClass):
        def getresponse(self) -> Requester.RequestsResponse:
            return check(super().getresponse())

    class Encrypted(Requester.HTTPSRequestsConnectionClass):
        def getresponse(self) -> Requester.RequestsResponse:
            self.session.proxies = {"https": proxy} if proxy else {}
            return check(super().getresponse())

    Requester.Requester.injectConnectionClasses(Plain, Encrypted)


@contextmanager
def translate_errors(what: str) -> Iterator[None]:
    """Turns what the SDK raises into a ForgeError that says what was asked.

    On an answer of another form, such as a page of a proxy, the SDK raises as if it were its own
    mistake.
    """
    from github.GithubException import BadAttributeException, GithubException
    from requests import RequestException

    try:
        yield
    except GithubException as error:
        raise _translated(what, error) from error
    except RequestException as error:
        reason = one_line(str(error)) or type(error).__name__
        raise ForgeError(f"{what}: GitHub was not reached: {reason}") from error
    except (BadAttributeException, *_ODD) as error:
        reason = one_line(redact(str(error)), 200) or type(error).__name__
        raise ForgeError(
            f"{what}: GitHub's API did not answer this ({reason}); check GITHUB_API_URL and proxies"
        ) from error


def _translated(what: str, error: GithubException) -> ForgeError:
    words = error.data.get("message", "") if isinstance(error.data, dict) else str(error.data)
    details = error.data.get("errors") if isinstance(error.data, dict) else None
    text = one_line(redact(f"{words} {details or ''}"), 400)
    if error.status == 401:
        return ForgeForbiddenError(f"{what}: the token was refused ({text}); check GITHUB_TOKEN")
    if _NO_DRAFTS in text.lower():
        return ForgeNoDraftsError(f"{what}: {text}")
    remedy = next((cure for mark, cure in _REMEDIES if mark in text.lower()), "")
    # What GraphQL refuses comes with status 200, which the SDK makes 400.
    if remedy and error.status in {400, 403, 404, 409, 422}:
        return ForgeForbiddenError(f"{what}: not allowed: {text}; {remedy}")
    if _limited(error):
        return ForgeError(f"{what}: {_spent(error)}: {text}")
    if error.status == 403:
        return ForgeForbiddenError(f"{what}: not allowed: {text}; {_READ_ONLY}")
    return ForgeError(f"{what}: GitHub answered {error.status}: {text}")


def _limited(error: GithubException) -> bool:
    """Whether a refusal is a rate limit."""
    told = bool(_header(error, "retry-after")) or "rate limit" in str(error.data).lower()
    return error.status == 429 or (error.status == 403 and told)


def _spent(error: GithubException) -> str:
    """When the rate limit lets requests through again."""
    reset = _header(error, "x-ratelimit-reset")
    if _header(error, "x-ratelimit-remaining") == "0" and reset.isdecimal():
        at = time.strftime("%H:%M:%S", time.gmtime(int(reset[:12])))
        return f"GitHub's rate limit is used up until {at} UTC; run again then"
    seconds = _header(error, "retry-after")
    when = f"{seconds} s" if seconds.isdecimal() else "some minutes"
    return f"GitHub's rate limit asks to wait; run again in {when}"


def _header(error: Exception, name: str) -> str:
    headers = getattr(error, "headers", None) or {}
    return str(next((v for k, v in headers.items() if k.lower() == name), ""))


def find_or_none(what: str, look: Callable[[], T]) -> T | None:
    """What `look` gives, or None when GitHub has no such thing."""
    from github.GithubException import GithubException

    with translate_errors(what):
        try:
            return look()
        except GithubException as error:
            # The SDK's own class for this depends on the words of the answer.
            if error.status == 404:
                return None
            raise


def reread(
    repository: Repository, url: str, kept: dict[str, tuple[str, dict[str, Any]]]
) -> dict[str, Any]:
    """What GitHub has at an address of its API, asked for under the condition that it changed.

    `kept` remembers answers by address; one that is still true costs nothing of the rate limit.
    """
    said: dict[str, Any] | None
    mark, known = kept.get(url, ("", {}))
    condition = {"If-None-Match": mark} if mark else None
    headers, said = repository.requester.requestJsonAndCheck("GET", url, headers=condition)
    # An answer 304 has no body.
    if said is None:
        return known
    kept[url] = str(headers.get("etag", "")), said
    return said


def create(run: Run, what: str, look: Callable[[], T | None], make: Callable[[], T]) -> T:
    """Make something that is not there yet: after a lost answer look before trying again.

    Waits out a rate limit when it is short enough for the run; `look` may always answer None
    for what may exist twice without harm. GitHub answers 404 where a token may read and not write.
    """
    from github.GithubException import GithubException
    from requests import RequestException

    for attempt in range(1, _TRIES + 1):
        try:
            return make()
        except (GithubException, RequestException) as error:
            status = error.status if isinstance(error, GithubException) else 0
            limited = isinstance(error, GithubException) and _limited(error)
            if status == 404:
                raise ForgeForbiddenError(f"{what}: {_UNSEEN}; {_READ_ONLY}") from error
            if status not in {0, 422, *_TRANSIENT} and not limited:
                raise
            there = look()
            if there is not None:
                return there
            wait = _wait(error, attempt)
            if status == 422 or attempt == _TRIES or wait > min(_LONGEST_WAIT, run.left()):
                raise
            message = f"{what}: GitHub answered {status or 'nothing'}, waiting {wait:.0f} s"
            run.warn("publish", message)
            time.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def _wait(error: Exception, attempt: int) -> float:
    """Seconds until the next try: what GitHub asks for, else a short growing pause."""
    asked = _header(error, "retry-after")
    if asked.isdecimal():
        return float(asked[:9])
    reset = _header(error, "x-ratelimit-reset")
    if _header(error, "x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(1.0, int(reset[:12]) - time.time() + 1)
    if "rate limit" in str(getattr(error, "data", "")).lower():
        return _UNTOLD
    return 0.2 * attempt * attempt
