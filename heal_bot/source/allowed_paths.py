"""Where a repair may go at all, by the patterns that people give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase


def permits(patterns: Sequence[str], path: str) -> bool:
    """Whether a file may change: one of the patterns means it, and none that begins with `!` does.

    A pattern without wildcards means the file, or all below the folder; `*` crosses folders.
    Without a pattern of the first kind every file is meant.
    """
    allowed = [pattern for pattern in patterns if not pattern.startswith("!")]
    denied = [pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")]
    return (not allowed or _meant(allowed, path)) and not _meant(denied, path)


def explain_outside(patterns: Sequence[str], paths: Iterable[str]) -> str:
    """Why a change of these files is refused, or ''."""
    beyond = next((path for path in paths if not permits(patterns, path)), "")
    return f"{beyond} lies outside of `paths` ({', '.join(patterns)})" if beyond else ""


def _meant(patterns: Sequence[str], path: str) -> bool:
    return any(
        fnmatchcase(path, pattern) or path.startswith(f"{pattern.rstrip('/')}/")
        for pattern in patterns
    )
