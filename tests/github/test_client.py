"""What GitHub refuses, as one of our errors: a right that lacks, or a limit that passes."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from github import GithubException

from heal_bot.core.errors import ForgeError, ForgeForbiddenError
from heal_bot.core.events import Run
from heal_bot.github.client import create, translate_errors

RUN = Run(lambda event: None)
SECONDARY = "You have exceeded a secondary rate limit"


def failing(status: int, message: str, **headers: str) -> Callable[[], str]:
    """An action that GitHub refuses."""
    shown = {name.replace("_", "-"): value for name, value in headers.items()}

    def make() -> str:
        raise GithubException(status, {"message": message}, shown)

    return make


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
