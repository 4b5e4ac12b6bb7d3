"""What a report tells of the run that failed: interpreter, plugins, seconds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from heal_bot.core.model import ReportedCase, RunHints
from heal_bot.core.text import one_line

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
# Paths that a traceback has on no other system, and how xdist calls a system.
_SYSTEMS = (
    (
        "windows",
        re.compile(r"(?m)^(?:[A-Za-z]:\\|[\w.-]+\\)[^\n:]{0,500}\.py:\d+: |\] win32 -- Python"),
    ),
    (
        "macos",
        re.compile(r"(?m)^/(?:Users/runner|opt/homebrew|Library/Frameworks/Python)|\] darwin -- "),
    ),
)
_SCAN = 4000


def hints_of(
    cases: Sequence[ReportedCase], properties: Mapping[str, str], seconds: float
) -> RunHints:
    """From properties first, then from what tracebacks show.

    Of several Pythons the one on which most cases fail is told, other systems than Linux aside.
    """
    lowered = {key.lower(): value for key, value in properties.items()}
    texts = [case.text[:_SCAN] for case in cases[:200]]
    retried = any(case.attempts > 1 for case in cases)
    return RunHints(
        python=_python(_failing_python(cases), lowered, texts),
        plugins=_plugins(lowered, texts, retried),
        seconds=seconds,
        system=next((n for n, shown in _SYSTEMS if any(map(shown.search, texts))), ""),
    )


def _failing_python(cases: Sequence[ReportedCase]) -> str:
    """The Python of the leg in which most cases fail, `3.N`; '' where no leg tells."""
    failing = (c.leg for c in cases if c.red)
    fails = Counter(leg.python for leg in failing if leg.system in {"", "linux"} and leg.python)
    return max(fails, key=lambda python: fails[python], default="")


def _python(wanted: str, properties: Mapping[str, str], texts: list[str]) -> str:
    """The fullest version that anything tells of the wanted Python, or of any if none is."""
    told = [value for key, value in properties.items() if "python" in key]
    found = [match[0] for value in told if (match := _VERSION.search(value))]
    found += [match[1] for text in texts if (match := _WORKER.search(text))]
    found += [f"3.{match[1]}" for text in texts if (match := _LIBRARY.search(text))]
    return next((v for v in found if f"{v}.".startswith(f"{wanted}.") or not wanted), wanted)


def _plugins(properties: Mapping[str, str], texts: list[str], retried: bool) -> tuple[str, ...]:
    told = re.split(r"[,\s]+", properties.get("plugins", ""))
    seen = [name for name, pattern in _PLUGINS if any(pattern.search(text) for text in texts)]
    more = ["pytest-rerunfailures"] if retried else []
    # pytest by itself would stand for another one than the project declares.
    names = (one_line(name, 80) for name in (*told[:50], *seen, *more))
    return tuple(dict.fromkeys(name for name in names if name not in {"", "pytest"}))
