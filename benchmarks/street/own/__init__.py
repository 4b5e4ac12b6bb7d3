"""Red runs of small projects of our own, by what made them red; no project of others is in them.

A sixth to a fifth are bugs that look like a cause outside the code, each with a hidden test.
"""

from __future__ import annotations

from benchmarks.street.situation import Situation


def situations() -> tuple[Situation, ...]:
    """All cases, by kind."""
    import importlib

    return tuple(
        situation
        for module in _MODULES
        for situation in importlib.import_module(f"{__name__}.{module}").SITUATIONS
    )


_MODULES = (
    "dependency", "releases", "bumped", "golden", "golden_bugs", "doctest", "doctest_bugs", "allowed",
    "matrix", "matrix_bugs", "windows", "windows_files", "warned", "missing", "services",
    "services_bugs", "network", "permissions", "intended", "unfinished", "coverage", "lint",
)  # fmt: skip
