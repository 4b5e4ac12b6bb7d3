"""The packages without which a test command cannot start."""

from __future__ import annotations

import re

# tox makes environments of its own unless this plugin is there.
_PACKAGES = {"tox": ("tox", "tox-current-env"), "nox": ("nox",)}


def find_programs(command: str) -> tuple[str, ...]:
    """The packages of the programs that a command names."""
    words = frozenset(re.split(r"[^\w.-]+", command))
    return tuple(name for program, names in _PACKAGES.items() if program in words for name in names)
