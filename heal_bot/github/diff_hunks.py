"""Which new lines a unified diff shows."""

from __future__ import annotations

import re

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def right_lines(patch: str) -> frozenset[int]:
    """The numbers, from 1, of the lines on the right side of a patch: added ones and context."""
    shown: set[int] = set()
    line = 0
    for text in patch.split("\n"):
        if found := _HUNK.match(text):
            line = int(found[1])
        elif line and text[:1] in {"+", " "}:
            shown.add(line)
            line += 1
    return frozenset(shown)
