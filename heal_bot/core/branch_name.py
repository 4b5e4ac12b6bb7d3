"""Which names git allows for a branch, as `git check-ref-format` documents it."""

from __future__ import annotations

import re

# Control characters, blanks, and what git itself gives a meaning; `..`, `@{`, `//`, `.lock`.
_NEVER = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|(?:^|/)\.|\.lock(?:/|$)|^[-/]|[/.]$|^@$")
_LONGEST = 250


def is_branch(name: str) -> bool:
    """Whether a branch may be called so."""
    return 0 < len(name.encode("utf-8", "replace")) <= _LONGEST and not _NEVER.search(name)
