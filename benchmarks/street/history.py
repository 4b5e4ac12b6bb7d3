"""Commits of a history that change little source and tests: what may be the repair of a bug."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.street.clones import Clone

LINES = 12
_COMMITS = 2_500
_REPAIR = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bug\w*|regress\w*|crash\w*|wrong\w*|incorrect\w*|broken|fail\w*"
    r"|errors?|raises?|handle[sd]?|correct\w*|avoid\w*|ensure\w*|properly)\b",
    re.IGNORECASE,
)
_MENDS = re.compile(
    r"\b(?:fix|repair|mend)\w*\W+(?:\w+\W+){0,3}(?:tests?|build|ci|regression|breakage|broken)\b"
    r"|\bunbreak|\brevert|\bregress|\bbroke\b|\bfailing\b|\btests? fail|\bbreakage\b",
    re.IGNORECASE,
)
_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest|tests)\.py$"
)
_ASIDE = re.compile(
    r"(?:^|/)(?:docs?|examples?|benchmarks?|scripts?|tools|ci|\.github|news|changes?|newsfragments"
    r"|changelog\.d)/|\.(?:md|rst|txt|cff|in|pyi)$|(?:^|/)(?:\.[^/]+|LICENSE)$|(?:^|/)(?:CHANGE\w*|HISTORY|NEWS|AUTHORS\w*)[^/]*$",
    re.IGNORECASE,
)
_PACKAGING = re.compile(r"(?:^|/)(?:setup|noxfile|fabfile|tasks|conftest|versioneer)\.py$")
_VERSION = re.compile(r"_*version_*(?:_info_*)?\s*(?::\s*\w+\s*)?=", re.IGNORECASE)
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """A commit with one parent: the source files it changes, and the tests with their data."""

    sha: str
    parent: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]


def is_test(path: str) -> bool:
    """Whether a path belongs to tests: by its folder or by its name."""
    return _TEST.search(path) is not None


def is_source(path: str) -> bool:
    """Whether a path is Python source of the project itself."""
    aside = _ASIDE.search(path) or _PACKAGING.search(path)
    return path.endswith((".py", ".pyx")) and not is_test(path) and not aside


def repairs(clone: Clone) -> Iterator[Change]:
    """What may repair a bug, newest first: its message says so, its source change is small."""
    for message, change, alone in changes(clone):
        tested = any(test.endswith(".py") for test in change.tests)
        if alone and tested and _REPAIR.search(message) and _is_small(clone, change):
            yield change


def adapted(clone: Clone) -> Iterator[Change]:
    """What may change behaviour on purpose, newest first: source, and lines of tests that were."""
    for _, change, alone in changes(clone):
        if change.sources and change.tests and alone and _removes(clone, change):
            yield change


def mends(clone: Clone) -> Iterator[Change]:
    """What may mend a suite that was red, newest first: it changes little source and no test."""
    for message, change, _ in changes(clone):
        if not change.tests and _MENDS.search(message) and _is_small(clone, change):
            yield change


def changes(clone: Clone) -> Iterator[tuple[str, Change, bool]]:
    """Each commit with one parent, newest first: message, change, if all is source or aside."""
    form = "--format=%x01%H%x00%P%x00%B%x00"
    text = clone.git(
        "log", "--no-merges", "--no-renames", f"--max-count={_COMMITS}", form, "--name-only", "HEAD"
    )
    for entry in text.split("\x01")[1:]:
        sha, parents, message, rest = (entry.split("\0", 3) + [""] * 3)[:4]
        if len(parents.split()) == 1:
            paths = [path for path in rest.splitlines() if path]
            sources = tuple(path for path in paths if is_source(path))
            tests = tuple(path for path in paths if is_test(path))
            known = {*sources, *tests}
            alone = all(path in known or _ASIDE.search(path) for path in paths)
            yield message, Change(sha, parents, sources, tests), alone


def _removes(clone: Clone, change: Change) -> bool:
    """Whether lines of a test that was there go."""
    asked = ("diff", "--numstat", "--no-renames", "--no-ext-diff", change.parent, change.sha)
    text = clone.git(*asked, "--", *change.tests)
    rows = (row.split("\t", 2) for row in text.splitlines())
    return any(gone not in {"0", "-"} and path.endswith(".py") for _, gone, path in rows)


def _is_small(clone: Clone, change: Change) -> bool:
    """Whether few lines of few files change, all of them in functions that were, or imports."""
    if len(change.sources) > 3:
        return False
    parent, sha, changed = change.parent, change.sha, 0
    for path in change.sources:
        before, after = clone.read(parent, path), clone.read(sha, path)
        if not before or not after:
            return False
        text = clone.git("diff", "--unified=0", "--no-ext-diff", parent, sha, "--", path)
        old, new = _Lines.of(before), _Lines.of(after)
        if old is None or new is None or new.functions - old.functions:
            return False
        for match in HUNK.finditer(text):
            at, count, to, added = (int(g) if g else 1 for g in match.groups())
            if not old.covers(at, count) or not new.covers(to, added):
                return False
            changed += max(count, added)
    return 0 < changed <= LINES


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a file that lie in functions or imports, and the names of its functions."""

    inside: frozenset[int]
    functions: frozenset[str]
    blank: frozenset[int]

    @classmethod
    def of(cls, text: str) -> _Lines | None:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return None
        inside: set[int] = set()
        names: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inside |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
                names.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                inside |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        blank = {n for n, text in enumerate(text.splitlines(), 1) if _is_blank(text)}
        return cls(frozenset(inside), frozenset(names), frozenset(blank))

    def covers(self, first: int, count: int) -> bool:
        """Whether these lines lie in functions; no line at all is covered by either neighbour."""
        if count == 0:
            return True
        return all(n in self.inside or n in self.blank for n in range(first, first + count))


def _is_blank(text: str) -> bool:
    """Whether a line says nothing of behaviour: empty, a comment, the release's number."""
    return not text.strip() or text.lstrip().startswith("#") or bool(_VERSION.match(text))
