"""What a report tells of the run that failed: interpreter, plugins, command, seconds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from heal_bot.model import ReportedCase, RunHints
from heal_bot.text import one_line

_WORKER = re.compile(r"^\[gw\d{1,4}\] \w+ -- Python (3\.\d{1,2}(?:\.\d{1,3})?)", re.MULTILINE)
_LIBRARY = re.compile(
    r"(?i)[/\\](?:python|Python)3\.?(\d{1,2})t?[/\\](?:site-packages|lib|\w+\.py|\w+[/\\])"
)
_VERSION = re.compile(r"3\.\d{1,2}(?:\.\d{1,3})?")
_PLUGINS = (
    ("pytest-xdist", _WORKER),
    ("pytest-asyncio", re.compile(r"pytest_asyncio[/\\]")),
    ("pytest-django", re.compile(r"pytest_django[/\\]")),
    ("pytest-mock", re.compile(r"pytest_mock[/\\]")),
    (
        "hypothesis",
        re.compile(r"^(?:E\s+)?(?:Falsifying example|Failing test case):", re.MULTILINE),
    ),
)
_SCAN = 4000


def hints_of(
    cases: Sequence[ReportedCase], properties: Mapping[str, str], seconds: float
) -> RunHints:
    """From properties first, then from what tracebacks show."""
    lowered = {key.lower(): value for key, value in properties.items()}
    texts = [case.text[:_SCAN] for case in cases[:200]]
    retried = any(case.attempts > 1 for case in cases)
    return RunHints(
        python=_python(lowered, texts),
        plugins=_plugins(lowered, texts, retried),
        command=one_line(next((lowered[k] for k in _COMMANDS if k in lowered), ""), 500),
        seconds=seconds,
    )


_COMMANDS = ("command", "command_line", "commandline", "argv", "invocation", "args")


def _python(properties: Mapping[str, str], texts: list[str]) -> str:
    for key, value in properties.items():
        if "python" in key and (match := _VERSION.search(value)):
            return match[0]
    for text in texts:
        if match := _WORKER.search(text):
            return match[1]
    for text in texts:
        if match := _LIBRARY.search(text):
            return f"3.{match[1]}"
    return ""


def _plugins(properties: Mapping[str, str], texts: list[str], retried: bool) -> tuple[str, ...]:
    told = re.split(r"[,\s]+", properties.get("plugins", ""))
    seen = [name for name, pattern in _PLUGINS if any(pattern.search(text) for text in texts)]
    more = ["pytest-rerunfailures"] if retried else []
    return tuple(dict.fromkeys(one_line(n, 80) for n in (*told[:50], *seen, *more) if n))
