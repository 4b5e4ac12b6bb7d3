"""Legs of a matrix: which interpreter and system a report file tells of."""

from __future__ import annotations

import re
from collections.abc import Mapping

from heal_bot.core.model import Leg
from heal_bot.core.text import one_line

_PYTHON = re.compile(r"(?i)(?<![0-9.])(?:py(?:thon)?[-_ ]?|cp)?(3)[._]?(\d{1,2})(?![0-9])")
_NAMED = re.compile(r"(?i)(?:py(?:thon)?[-_ ]?|cp)(3)[._]?(\d{1,2})(?![0-9])")
_SYSTEMS = (
    ("windows", re.compile(r"(?i)windows|(?<![a-z])win(?:32|64|_amd64)?(?![a-z])")),
    ("macos", re.compile(r"(?i)mac-?os|darwin|(?<![a-z])osx(?![a-z])")),
    ("linux", re.compile(r"(?i)linux|ubuntu|debian|alpine|fedora|centos")),
)


def leg_of(name: str, properties: Mapping[str, str]) -> Leg:
    """The leg a report is of, from the properties it carries, else from its (artifact) name."""
    python = next(
        (v for k, v in properties.items() if "python" in k.lower() and _PYTHON.search(v)), ""
    )
    match = _PYTHON.search(python) or _NAMED.search(name) or _versioned(name)
    told = " ".join(v for k, v in properties.items() if k.lower() in _PLATFORM)
    system = _system(told) or _system(name)
    version = f"{match[1]}.{match[2]}" if match else ""
    return Leg(one_line(name, 200), version, system)


_PLATFORM = frozenset({"platform", "os", "os.name", "system", "runner.os", "hostname"})


def _versioned(name: str) -> re.Match[str] | None:
    """A bare `3.11` between separators, as matrix artifacts are named."""
    return re.search(r"(?:^|[-_ ./!(])(3)\.(\d{1,2})(?=$|[-_ ./!),])", name)


def _system(text: str) -> str:
    return next((name for name, pattern in _SYSTEMS if pattern.search(text)), "")
