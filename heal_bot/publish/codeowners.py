"""Who to ask for a review: names, CODEOWNERS of the changed files, who wrote the changed lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from heal_bot.core.events import Run
from heal_bot.ports.code_host import Forge
from heal_bot.publish.recompute import RecomputedChange

_PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
_NAME = re.compile(r"@([A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9._-]+)?)\Z")
_RULES = 2_000
_MOST = 15
# Authors of the changed lines: few, from few files, and only who can still be asked.
_AUTHORS, _FILES = 3, 10
_ASKABLE = frozenset({"triage", "write", "maintain", "admin"})
# A pattern with more wildcards than this is no rule of a person, and slow to match.
_WILD, _LONGEST = 8, 200


def resolve(
    run: Run, wanted: Sequence[str], change: RecomputedChange, forge: Forge
) -> tuple[str, ...]:
    """Logins and `org/team`s, each once; at most the fifteen that GitHub takes."""
    names: dict[str, None] = {}
    for name in wanted:
        if name == "codeowners":
            names.update(dict.fromkeys(_codeowners(run, change, forge)))
        elif name == "blame":
            names.update(dict.fromkeys(_authors(run, change, forge)))
        else:
            names[name.lstrip("@")] = None
    return tuple(names)[:_MOST]


def _codeowners(run: Run, change: RecomputedChange, forge: Forge) -> list[str]:
    known = set(forge.objects.paths(run, change.base.sha))
    place = next((p for p in _PLACES if p in known), None)
    file = forge.objects.file(run, change.base.sha, place) if place else None
    if file is None:
        return []
    rules = file.data.decode("utf-8", "replace")
    return [owner for changed in change.files for owner in find_owners(rules, changed.path)]


def _authors(run: Run, change: RecomputedChange, forge: Forge) -> list[str]:
    """Who last wrote the lines that change, most lines first; GitHub takes no bot and no guest."""
    counted: Counter[str] = Counter()
    for file, before in list(zip(change.files, change.before, strict=True))[:_FILES]:
        lines = list_changed(before, file.data.decode("utf-8", "replace"))
        for part in forge.objects.blame(run, change.base.sha, file.path):
            counted[part.login] += sum(part.first <= line <= part.last for line in lines)
    likely = [login for login, lines in counted.most_common(2 * _AUTHORS) if lines]
    return [name for name in likely if forge.permission(run, name) in _ASKABLE][:_AUTHORS]


def list_changed(before: str, after: str) -> frozenset[int]:
    """The old lines that a change replaces or takes away, and those around what it puts in."""
    old = before.splitlines()
    found: set[int] = set()
    matcher = SequenceMatcher(None, old, after.splitlines(), autojunk=False)
    for kind, first, last, _, _ in matcher.get_opcodes():
        if kind == "insert":
            found |= {first, first + 1}
        elif kind != "equal":
            found.update(range(first + 1, last + 1))
    return frozenset(line for line in found if 1 <= line <= len(old))


def find_owners(rules: str, path: str) -> tuple[str, ...]:
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
