"""What a provider's failure means: one kind per cause, whatever the dialect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from heal_bot.core.errors import LLMError
from heal_bot.core.text import one_line, redact

_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|prompt is too long|exceed_context_size"
    r"|contextwindowexceeded|context.{0,10}(?:window|length|size).{0,20}exceed"
    r"|exceeds? the (?:available |maximum )?(?:context|number of tokens)"
    r"|input token count.{0,40}exceed|too many tokens in the (?:prompt|input)",
    re.IGNORECASE | re.DOTALL,
)
_BROKE = re.compile(
    r"insufficient_quota|insufficient.{0,10}(?:credit|funds|balance)|credit balance"
    r"|spend.{0,3}limit|exceeded your current quota|billing|payment required",
    re.IGNORECASE,
)
_PER_MINUTE = re.compile(r"tokens per minute|\btpm\b|request too large", re.IGNORECASE)
_KEY = re.compile(r"api.?key.{0,20}(?:not valid|invalid|expired)|invalid.{0,3}api.?key", re.I)
_BY_STATUS = {
    401: "auth",
    402: "out_of_credit",
    403: "auth",
    404: "gone",
    408: "transient",
    409: "transient",
    410: "gone",
    425: "transient",
    429: "rate_limit",
    502: "bad_gateway",
    503: "overloaded",
    504: "bad_gateway",
    529: "overloaded",
}
_BY_CODE = {
    "overloaded_error": "overloaded",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "authentication_error": "auth",
    "permission_error": "auth",
    "invalid_api_key": "auth",
    "billing_error": "out_of_credit",
    "insufficient_quota": "out_of_credit",
    "not_found_error": "gone",
    "model_not_found": "gone",
    "invalid_request_error": "bad_request",
    "api_error": "transient",
    "timeout_error": "transient",
    "RESOURCE_EXHAUSTED": "rate_limit",
    "UNAVAILABLE": "overloaded",
    "UNAUTHENTICATED": "auth",
    "PERMISSION_DENIED": "auth",
    "INTERNAL": "transient",
}
_REMEDY = {
    "auth": "check the key",
    "out_of_credit": "top up the account",
    "gone": "check the model's name and the base URL",
    "context_overflow": "use a model with a larger window",
    "bad_gateway": "check the base URL",
}


def classify(status: int, code: str, message: str) -> str:
    """The kind of an HTTP or in-stream error; the words decide before the status does."""
    words = f"{code} {message}"
    if status == 413 and (code == "rate_limit_exceeded" or _PER_MINUTE.search(message)):
        return "over_tpm"
    if status != 429 and (status == 413 or _OVERFLOW.search(words)):
        return "context_overflow"
    if status in {0, 200, 400, 402, 403, 429} and _BROKE.search(words):
        return "out_of_credit"
    if status in {0, 200, 400} and _KEY.search(words):
        return "auth"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if code in _BY_CODE:
        return _BY_CODE[code]
    if status >= 500:
        return "transient"
    return "bad_request" if status >= 400 else "bad_gateway" if status >= 300 else "transient"


def make_failure(
    who: str,
    status: int,
    code: str,
    message: str,
    retry_after: float | None = None,
    billed: tuple[int, int] | None = (0, 0),
) -> LLMError:
    """The typed error for a provider's answer; its one line names who, what and the remedy."""
    kind = classify(status, code, message)
    said = one_line(redact(f"{code}: {message}" if code else message), 300) or "no message"
    remedy = f"; {_REMEDY[kind]}" if kind in _REMEDY else ""
    at = f" ({status})" if status else ""
    return LLMError(kind, f"{who}: {kind}{at}: {said}{remedy}", retry_after, billed)


def make_broken(
    who: str, kind: str, error: BaseException | str, billed: tuple[int, int] | None
) -> LLMError:
    """The typed error for a connection or an answer that broke."""
    said = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    remedy = f"; {_REMEDY[kind]}" if kind in _REMEDY else ""
    return LLMError(kind, f"{who}: {kind}: {one_line(redact(said), 300)}{remedy}", None, billed)


def wait_seconds(headers: Mapping[str, str], message: str = "") -> float | None:
    """When to come back: Retry-After (seconds or a date), its millisecond form, or the words."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", value):
            return float(value) * scale
        if name == "retry-after" and value:
            try:
                when = parsedate_to_datetime(value)
                return max(0.0, (when.astimezone(UTC) - datetime.now(UTC)).total_seconds())
            except (ValueError, OverflowError):
                continue
    spoken = re.search(r"try again in (\d{1,6}(?:\.\d{1,6})?)\s?(ms|s)\b", message)
    if spoken:
        return float(spoken[1]) * (0.001 if spoken[2] == "ms" else 1.0)
    return None
