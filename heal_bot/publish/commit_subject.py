"""The subject of a commit, and the title of a pull request, in the style of the repository."""

from __future__ import annotations

import re
from collections.abc import Sequence

# As conventionalcommits.org has it: a type, perhaps a scope, perhaps `!`, a colon, a text.
_CONVENTIONAL = re.compile(
    r"(?:build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(?:\([^()\n]{1,60}\))?!?: \S"
)


def fit_style(title: str, subjects: Sequence[str]) -> str:
    """The title as it is, or as a conventional commit where most of the subjects are such."""
    if 2 * sum(_CONVENTIONAL.match(one) is not None for one in subjects) <= len(subjects):
        return title
    word, _, rest = title.partition(" ")
    if word == "Fix":
        return f"fix: repair {rest}"
    kind = "revert" if word == "Revert" else "fix"
    return f"{kind}: {title[:1].lower()}{title[1:]}"
