"""Which candidate a mined fix equals, and what stands before it.

`python -m benchmarks.fit.edits --data DIR` reads the histories of the projects of `tune`; it keeps
numbers alone, one line per fix, below DIR/edits: how many candidates each family has in each tier,
and the families and tiers of those that are the fix. Every family is counted whole.
"""

from __future__ import annotations

import itertools
import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks._cases import options_of
from benchmarks.fit.pools import is_benchmarked
from benchmarks.street import recipes
from benchmarks.street.clones import Clone, CommitTree, clones, find
from benchmarks.street.compared import changed_pairs, holds
from benchmarks.street.digging import keep_rows, place, side_by_side
from benchmarks.street.history import repairs
from heal_bot.core.events import Run
from heal_bot.core.model import Cluster, Failure, Suspect, Target
from heal_bot.ports import Brief
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.template_proposer import _scope
from heal_bot.repair.templates.template_table import FAMILIES
from heal_bot.repair.templates.text_edits import Mutation, applied
from heal_bot.source import functions
from heal_bot.source.guard import SourceRejected

# Of a project.
_MOST = 10
_SECONDS = 10
_BLANK = re.compile(r"#[^\n]*|\s+")


class _LateError(Exception):
    """A fix whose candidates take too long."""


def collect(repository: str, until: float, data: Path) -> int:
    """The fixes of a project, one line each; how many there are."""
    kept = place(data / "edits", repository, "jsonl")
    return keep_rows(kept, repository, until, itertools.islice(_fixes(data, repository), _MOST))


def _fixes(data: Path, repository: str) -> Iterator[dict[str, Any]]:
    clone = find(data, repository)
    signal.signal(signal.SIGALRM, _late)
    for change in repairs(clone):
        tree = CommitTree(clone, change.parent)
        for before, after in _changed(clone, change.parent, change.sha, change.sources):
            signal.alarm(_SECONDS)
            try:
                row = {"commit": change.sha[:12], **measure(tree, before, after)}
            except (_LateError, SourceRejected, RecursionError):
                continue
            finally:
                signal.alarm(0)
            yield row


def _late(*_: object) -> None:
    raise _LateError


def _changed(
    clone: Clone, parent: str, sha: str, paths: tuple[str, ...]
) -> Iterator[tuple[Target, str]]:
    """The function that a commit changes, and its new source; nothing where it changes several."""
    if len(paths) != 1:
        return
    before, after = clone.read(parent, paths[0]), clone.read(sha, paths[0])
    try:
        old, new = (
            {(t.qualname, t.nth, t.kind) for t in functions.index_targets(paths[0], text)}
            for text in (before, after)
        )
        changed = changed_pairs(paths[0], before, after, normalize)
    except (SourceRejected, SyntaxError, ValueError):
        return
    if changed and old == new:
        inner, now = min(changed, key=lambda pair: pair[0].last_line - pair[0].first_line)
        if all(holds(outer, inner) for outer, _ in changed):
            yield inner, now.source


def normalize(source: str) -> str:
    """A source without comments and white space."""
    return _BLANK.sub("", source)


def measure(commit: CommitTree, before: Target, after: str) -> dict[str, Any]:
    """How many candidates there are of each family and tier, and which one is the fix."""
    suspect = Suspect(before, 1.0, ())
    cluster = Cluster("1", (Failure("t.py::t", "", ""),), (suspect,), "")
    brief = Brief(cluster, commit)  # type: ignore[arg-type]
    scope = _scope(Run(lambda event: None), brief, suspect, before.source, None)
    counts: Counter[tuple[str, int]] = Counter()
    equal: set[tuple[str, int]] = set()
    if scope is not None:
        window = _Window.find(scope.site, normalize(after))
        for family in FAMILIES:
            try:
                for change in family.changes(scope):
                    kind = family.name, int(change.tier)
                    counts[kind] += 1
                    if kind not in equal and window.makes(change):
                        equal.add(kind)
            except (SyntaxError, ValueError, RecursionError):
                continue
    return {
        "equal": sorted(equal),
        "candidates": [[name, tier, count] for (name, tier), count in sorted(counts.items())],
    }


@dataclass(frozen=True)
class _Window:
    """What a fix makes of a function, and between which bytes it changes the source."""

    site: TargetAst
    wanted: str
    first: int
    last: int

    @classmethod
    def find(cls, site: TargetAst, wanted: str) -> _Window:
        source = site.source.decode()
        begin = source.index(site.own(source))
        # The place of each character that counts.
        places = [
            at for start, end in _kept(site.own(source)) for at in range(begin + start, begin + end)
        ]
        old = "".join(source[at] for at in places)
        same, tail = _count_shared(old, wanted), _count_shared(old[::-1], wanted[::-1])
        first = places[same] if same < len(places) else len(source)
        last = places[-tail - 1] + 1 if tail < len(places) else 0
        return cls(site, wanted, len(source[:first].encode()), len(source[:last].encode()))

    def makes(self, change: Mutation) -> bool:
        """Whether a change is the fix; most are not where it is, which needs no comparison."""
        if min(cut.start for cut in change.cuts) > self.first:
            return False
        if max(cut.end for cut in change.cuts) < self.last:
            return False
        text = applied(self.site.source, change.cuts).decode()
        return normalize(self.site.own(text)) == self.wanted


def _count_shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    shortest = min(len(one), len(other))
    return next((at for at in range(shortest) if one[at] != other[at]), shortest)


def _kept(source: str) -> Iterator[tuple[int, int]]:
    """Where a source is neither comment nor white space."""
    at = 0
    for match in _BLANK.finditer(source):
        yield at, match.start()
        at = match.end()
    yield at, len(source)


def main(argv: list[str]) -> int:
    """Collect the fixes of all projects that may take part."""
    asked = options_of("fit.edits").parse_args(argv)
    data = asked.data.resolve()
    names = [c.repository for c in clones(data) if asked.only in c.repository]
    names = [n for n in names if recipes.split(n) == "tune" and not is_benchmarked(n)]
    names.sort(key=recipes.digest)
    total = sum(side_by_side(partial(collect, data=data), names, asked))
    print(json.dumps({"fixes": total, "projects": len(names)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
