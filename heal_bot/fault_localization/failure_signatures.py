"""How failures look, without what differs from run to run."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from heal_bot.core.model import Failure

_NOISE = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "ID"),
    (re.compile(r"\b0x[0-9a-f]+", re.IGNORECASE), "ADDRESS"),
    (
        re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"),
        "TIME",
    ),
    (re.compile(r"\b\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?\b"), "TIME"),
    (re.compile(r"(?:/[\w.+-]+)*/(?:tmp|temp|pytest-of-[\w-]+)(?:/[\w.+-]*)*"), "TEMP"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b", re.IGNORECASE), "ID"),
    (re.compile(r"\d+(?:[.,_]\d+)*(?:e[+-]?\d+)?", re.IGNORECASE), "N"),
)


def normalise_message(message: str) -> str:
    """A message without what differs between runs and values: addresses, ids, times, numbers."""
    text = " ".join(message[:2000].split())
    for pattern, word in _NOISE:
        text = pattern.sub(word, text)
    return text[:200]


def sign_failure(failure: Failure, site: str) -> str:
    """How a test failed, equal for equal causes: exception, place it was raised, message."""
    return f"{failure.kind} in {site or 'the test'}: {normalise_message(failure.message)}"


def choose_signature(failures: Sequence[Failure], sites: Mapping[str, str]) -> str:
    """How most of some failures look; the first by letter of equals."""
    texts = Counter(sign_failure(failure, sites[failure.test]) for failure in failures)
    return min(texts, key=lambda text: (-texts[text], text))


def name_cluster(failures: Sequence[Failure]) -> str:
    """A short name for a cluster that stays the same while its tests do."""
    tests = "\n".join(sorted(failure.test for failure in failures))
    return hashlib.sha256(tests.encode("utf-8", "surrogatepass")).hexdigest()[:10]
