from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from heal_bot.llm_clients.provider_errors import classify, make_broken, make_failure, wait_seconds


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (429, "", "Rate limit reached", "rate_limit"),
        (429, "insufficient_quota", "You exceeded your current quota", "out_of_credit"),
        (429, "enforced_spend_limit_reached", "spend limit reached", "out_of_credit"),
        (413, "rate_limit_exceeded", "Request too large on tokens per minute", "over_tpm"),
        (413, "", "payload too large", "context_overflow"),
        (400, "context_length_exceeded", "", "context_overflow"),
        (400, "", "This model's maximum context length is 8192 tokens", "context_overflow"),
        (400, "exceed_context_size_error", "the request exceeds", "context_overflow"),
        (400, "400", "litellm.ContextWindowExceededError: too long", "context_overflow"),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds it",
            "context_overflow",
        ),
        (400, "INVALID_ARGUMENT", "API key not valid.", "auth"),
        (400, "invalid_request_error", "Your credit balance is too low", "out_of_credit"),
        (402, "", "Insufficient credits", "out_of_credit"),
        (403, "PERMISSION_DENIED", "no", "auth"),
        (404, "NOT_FOUND", "model is not found", "gone"),
        (0, "overloaded_error", "Overloaded", "overloaded"),
        (0, "api_error", "Internal", "transient"),
        (500, "", "", "transient"),
        (301, "", "", "bad_gateway"),
        (422, "", "no", "bad_request"),
    ],
)
def test_each_dialect_ends_in_one_kind(status, code, message, kind) -> None:
    assert classify(status, code, message) == kind


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "12"}, "", 12.0),
        ({"retry-after": "1.5"}, "", 1.5),
        ({"retry-after-ms": "250"}, "", 0.25),
        ({"retry-after": "soon"}, "", None),
        ({}, "Please try again in 5.289s.", 5.289),
        ({}, "try again in 20ms", 0.02),
        ({}, "later", None),
    ],
)
def test_when_to_come_back(headers, message, seconds) -> None:
    assert wait_seconds(headers, message) == pytest.approx(seconds)


def test_a_date_says_when_to_come_back_too() -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert wait_seconds({"retry-after": when}) == pytest.approx(60, abs=3)


def test_the_message_is_one_redacted_line_with_the_remedy() -> None:
    error = make_failure("m", 401, "", "bad key\nsk-ant-aaaaaaaaaaaaaaaaaaaaaaaa")
    assert str(error) == "m: auth (401): bad key ***; check the key"
    assert "***" in str(make_broken("m", "transient", ValueError("Bearer " + "a" * 30), None))
