"""Who to ask for a review: the names given, and what CODEOWNERS says of the changed files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from heal_bot.events import Run
from heal_bot.forge_port import Forge
from heal_bot.recompute import Change

_PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
_NAME = re.compile(r"@([A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9._-]+)?)\Z")
_RULES = 2_000
_MOST = 15
# A pattern with more wildcards than this is no rule of a person, and slow to match.
_WILD, _LONGEST = 8, 200


def resolve(run: Run, wanted: Sequence[str], change: Change, forge: Forge) -> tuple[str, ...]:
    """Logins and `org/team`s, each once; at most the fifteen that GitHub takes."""
    names: dict[str, None] = {}
    for name in wanted:
        if name == "codeowners":
            names.update(dict.fromkeys(_codeowners(run, change, forge)))
        else:
            names[name.lstrip("@")] = None
    return tuple(names)[:_MOST]


def _codeowners(run: Run, change: Change, forge: Forge) -> list[str]:
    known = set(forge.objects.paths(run, change.base.sha))
    place = next((p for p in _PLACES if p in known), None)
    file = forge.objects.file(run, change.base.sha, place) if place else None
    if file is None:
        return []
    rules = file.data.decode("utf-8", "replace")
    return [owner for changed in change.files for owner in of(rules, changed.path)]


def of(rules: str, path: str) -> tuple[str, ...]:
    """The owners of a path: the last rule that matches decides, as GitHub documents it."""
    owners: tuple[str, ...] = ()
    for line in rules.splitlines()[:_RULES]:
        pattern, *names = line.partition(" #")[0].split()[:50] or ["#"]
        wild = pattern.count("*") + pattern.count("?")
        if pattern.startswith("#") or wild > _WILD or len(pattern) > _LONGEST:
            continue
        if _matcher(pattern).match(path):
            owners = tuple(m[1] for name in names if (m := _NAME.match(name)))
    return owners


@lru_cache(maxsize=512)
def _matcher(pattern: str) -> re.Pattern[str]:
    """A rule's pattern, as in .gitignore: anchored by an inner slash, a folder means all below."""
    body = pattern.strip("/")
    anchored = "/" in body or pattern.startswith("/")
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", body)
    words = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    text = "".join(words.get(part, re.escape(part)) for part in parts)
    below = "/.*" if pattern.endswith("/") else "" if pattern.endswith("/*") else "(?:/.*)?"
    return re.compile(("" if anchored else "(?:.*/)?") + text + below + r"\Z")
