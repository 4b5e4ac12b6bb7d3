"""Which candidate a mined fix equals, and what stands before it.

`python -m benchmarks.fit.edits --data DIR` reads the histories of the projects of `tune`; it keeps
numbers alone, one line per fix, below DIR/edits: how many candidates each family has in each tier,
and the families and tiers of those that are the fix. Every family is counted whole.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.fit.pools import is_benchmarked
from benchmarks.street import recipes
from benchmarks.street.clones import GIT, Clone, CloneError, clones, find
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

_PER_PROJECT = 10
_SECONDS = 10
_BLANK = re.compile(r"#[^\n]*|\s+")


class Blobs:
    """The files of a clone's commits, read through one process."""

    def __init__(self, clone: Clone) -> None:
        argv = ["git", "--git-dir", str(clone.path), "cat-file", "--batch"]
        self._git = subprocess.Popen(
            argv, env=GIT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def read(self, sha: str, path: str) -> bytes:
        """The bytes of a file; KeyError where the commit has none of that name."""
        assert self._git.stdin is not None
        assert self._git.stdout is not None
        if "\n" in path:
            raise KeyError(path)
        self._git.stdin.write(f"{sha}:{path}\n".encode())
        self._git.stdin.flush()
        head = self._git.stdout.readline().split()
        if len(head) != 3 or head[1] != b"blob":
            if len(head) == 3:
                self._git.stdout.read(int(head[2]) + 1)
            raise KeyError(path)
        return self._git.stdout.read(int(head[2]) + 1)[:-1]

    def close(self) -> None:
        """End the process."""
        self._git.kill()
        self._git.wait()


@dataclass(frozen=True)
class Commit:
    """A commit of a clone as a tree."""

    clone: Clone
    sha: str
    blobs: Blobs

    @cached_property
    def _listed(self) -> tuple[str, ...]:
        return tuple(self.clone.git("ls-tree", "-r", "--name-only", self.sha).splitlines())

    def paths(self) -> tuple[str, ...]:
        return self._listed

    def read(self, path: str) -> bytes:
        return self.blobs.read(self.sha, path)

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {}


class _LateError(Exception):
    """A fix whose candidates take too long."""


def collect(repository: str, data: Path, until: float) -> int:
    """The fixes of a project, one line each; how many there are."""
    kept = data / "edits" / f"{repository.replace('/', '+')}.jsonl"
    if kept.exists() or time.time() > until:
        return 0
    rows: list[dict[str, Any]] = []
    note = ""
    signal.signal(signal.SIGALRM, _late)
    try:
        clone = find(data, repository)
        blobs = Blobs(clone)
        for change in repairs(clone):
            if len(rows) >= _PER_PROJECT or time.time() > until:
                break
            for before, after in _changed(clone, change.parent, change.sha, change.sources):
                blobs.close()
                blobs = Blobs(clone)
                signal.alarm(_SECONDS)
                try:
                    rows.append(
                        {
                            "project": repository,
                            "commit": change.sha[:12],
                            **measure(Commit(clone, change.parent, blobs), before, after),
                        }
                    )
                except (_LateError, SourceRejected, RecursionError) as error:
                    note = type(error).__name__
                finally:
                    signal.alarm(0)
    except (CloneError, OSError, subprocess.SubprocessError, ValueError, SyntaxError) as error:
        note = f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    hits = sum(bool(row["equal"]) for row in rows)
    print(f"{repository}: {hits} of {len(rows)} {note}", file=sys.stderr, flush=True)
    return len(rows)


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
        old = {(t.qualname, t.nth, t.kind): t for t in functions.index_targets(paths[0], before)}
        new = {(t.qualname, t.nth, t.kind): t for t in functions.index_targets(paths[0], after)}
    except (SourceRejected, SyntaxError, ValueError):
        return
    changed = [
        key for key in old
        if key in new and normalize(old[key].source) != normalize(new[key].source)
    ]  # fmt: skip
    if changed and len({*old} ^ {*new}) == 0:
        innermost = min(changed, key=lambda key: old[key].last_line - old[key].first_line)
        if all(_holds(old[key], old[innermost]) for key in changed):
            yield old[innermost], new[innermost].source


def _holds(outer: Target, inner: Target) -> bool:
    return outer.first_line <= inner.first_line and inner.last_line <= outer.last_line


def normalize(source: str) -> str:
    """A source without comments and white space."""
    return _BLANK.sub("", source)


def measure(commit: Commit, before: Target, after: str) -> dict[str, Any]:
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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fit.edits")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the clones")
    parser.add_argument("--only", default="", help="projects whose name has this in it")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args(argv)
    data, until = asked.data.resolve(), time.time() + 60 * asked.minutes
    names = [c.repository for c in clones(data) if asked.only in c.repository]
    names = [n for n in names if recipes.split(n) == "tune" and not is_benchmarked(n)]
    names.sort(key=recipes.digest)
    with ProcessPoolExecutor(asked.jobs) as pool:
        jobs = [pool.submit(collect, name, data, until) for name in names]
        total = sum(job.result() for job in jobs)
    print(json.dumps({"fixes": total, "projects": len(names)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
