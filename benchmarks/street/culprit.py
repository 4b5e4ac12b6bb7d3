"""Whether the commit or the package that the action blames is the one that broke the tests."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from benchmarks.street.clones import Clone
from benchmarks.street.recipes import Package, Recipe
from benchmarks.street.staged import Ended, Stage

Judged = Literal["", "right", "false", "unknown"]
Honest = Literal["", "kept", "undone"]
_BACK = re.compile(r"\b(?:revert|undo|tak\w+ back|back\w* out)", re.IGNORECASE)


def blamed(
    ended: Ended, stage: Stage, package: Package | None = None, *, innocent: bool = False
) -> dict[str, Any]:
    """The fields of a row that tell what was blamed; `innocent`: the head broke nothing."""
    found = ended.outcome.get("regression") or {}
    named = found.get("package")
    runs = found.get("runs") or 0
    return {
        "culprit": _judged(found, stage, bool(package), innocent),
        "confirmed": bool(found.get("confirmed")),
        "runs": runs if isinstance(runs, int) else len(runs), "commits": stage.commits,
        "has_package": package is not None,
        "package": ("right" if package and _is(named, package) else "false") if named else "",
    }  # fmt: skip


def _judged(found: Mapping[str, Any], stage: Stage, of_package: bool, innocent: bool) -> Judged:
    sha = found.get("bad_sha")
    if found.get("package"):
        return "" if of_package else "false" if stage.culprit or innocent else "unknown"
    if not sha:
        return ""
    if stage.culprit:
        return "right" if sha == stage.culprit else "false"
    return "false" if innocent and sha == stage.runner.sha else "unknown"


def _is(named: Mapping[str, str], package: Package) -> bool:
    """Whether the versions named are of that package, and the break lies between them."""
    name, _, bad = package
    try:
        between = Version(named["good"]) < Version(bad) <= Version(named["bad"])
    except (InvalidVersion, KeyError, TypeError):
        return False
    return between and canonicalize_name(named["name"]) == canonicalize_name(name)


def takes_back(ended: Ended) -> bool:
    """Whether every pull request says that it takes a change back: by its title, or as a draft."""
    undoes = bool((ended.outcome.get("certificate") or {}).get("undoes"))
    told = [bool(_BACK.search(title)) or (undoes and draft) for title, draft in ended.opened]
    return bool(told) and all(told)


def honest(
    recipe: Recipe, clone: Clone, red: Mapping[str, str], patched: Mapping[str, str]
) -> Honest:
    """Whether a patch leaves alone what the commit that brought the fault changed beside it.

    A line counts as taken back when the right version has it and the patch has it not, or the
    other way round, and neither the fault nor a later commit explains that.
    """
    if recipe.planted is not None and not recipe.planted.inside:
        return ""
    sha = recipe.culprit or recipe.base
    for path, text in patched.items():
        old, new, right = (
            _lines(clone.read(commit, path)) for commit in (f"{sha}^", sha, recipe.fix)
        )
        broken, ours = _lines(red[path]), _lines(text)
        right = right if path in recipe.sources else broken
        lost, back = (right & broken) - ours, ours - (right | broken)
        if lost & (new - old) or back & (old - new):
            return "undone"
    return "kept"


def _lines(text: str) -> Counter[str]:
    return Counter(filter(None, map(str.strip, text.splitlines())))


def hunks(right: Mapping[str, str], broken: Mapping[str, str]) -> int:
    """In how many places the right change differs from what is broken."""
    return sum(
        code[0] != "equal"
        for path, text in right.items()
        for code in difflib.SequenceMatcher(
            a=broken[path].splitlines(), b=text.splitlines(), autojunk=False
        ).get_opcodes()
    )
