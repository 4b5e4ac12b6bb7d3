"""Mine commits that turned their own suite red: `python -m benchmarks.street.broken --data DIR`.

A later commit that changes source alone turns it green again; the walk back from it ends at the
commit that broke it. What is found or dropped is kept per project below DIR.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

from benchmarks.street import plain
from benchmarks.street.clones import Clone, CloneError, clones, find
from benchmarks.street.history import Change, is_source, mends
from benchmarks.street.mine import Bench, DroppedError
from benchmarks.street.plain import PlainError
from benchmarks.street.recipes import Recipe

MOST = 2
RUNS = 3
BACK = 15
_TRIES = 6
_PROJECT_SECONDS = 240
_PYTHON = "3.11"


def unearthed(repository: str, data: Path, until: float) -> dict[str, Any]:
    """The real regressions of a project, and why other commits were dropped."""
    kept = data / "broken" / f"{repository.replace('/', '+')}.json"
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    found: list[Recipe] = []
    dropped: Counter[str] = Counter()
    try:
        if time.time() < until:
            _work_through(find(data, repository), data, found, dropped)
    except (CloneError, PlainError, OSError, SubprocessError, ValueError, SyntaxError) as error:
        dropped[f"project: {' '.join(str(error).split())[:120] or type(error).__name__}"] += 1
    result = {
        "repository": repository,
        "recipes": [r.model_dump(exclude_defaults=True) for r in found],
        "dropped": dict(dropped),
        "complete": time.time() < until,
    }
    if result["complete"] or found:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(result))
    print(f"{repository}: {len(found)}, dropped {dict(dropped)}", file=sys.stderr, flush=True)
    return result


def _work_through(clone: Clone, data: Path, found: list[Recipe], dropped: Counter[str]) -> None:
    begin, bench = time.monotonic(), None
    with tempfile.TemporaryDirectory(prefix="broken-", dir=data) as name:
        for tried, change in enumerate(mends(clone)):
            if len(found) >= MOST or tried >= _TRIES:
                return
            if time.monotonic() - begin > _PROJECT_SECONDS:
                dropped["project: no more time for it"] += 1
                return
            bench = bench or Bench(clone, data, Path(name), _PYTHON)
            try:
                found.append(_validated(bench, change))
            except DroppedError as error:
                dropped[str(error)] += 1
            except PlainError as error:
                late = "more than" in str(error)
                dropped["slow suite" if late else "its tests do not start"] += 1
                if late:
                    return


def _validated(bench: Bench, change: Change) -> Recipe:
    """The recipe of a commit that broke the suite which `change` mends, thrice the same."""
    bench.at(change.sha)
    if bench.run(change.sha, change.sha, (), ()).red:
        raise DroppedError("red when mended")
    ran = bench.run(change.parent, change.parent, (), ())
    if not ran.red:
        raise DroppedError("its tests pass without it")
    if len(ran.red) > 60:
        raise DroppedError("more than 60 tests are red")
    if any("::" not in test or test.startswith("::") for test in ran.red):
        raise DroppedError("its tests do not import without it")
    base, before = _walked(bench, change)
    _is_of_source(bench.clone, base, before, change, ran)
    whole = [bench.run(base, base, (), ()) for _ in range(RUNS)]
    mended = [bench.run(base, change.sha, change.sources, ()) for _ in range(RUNS)]
    if len({run.red for run in whole}) > 1 or not whole[0].red:
        raise DroppedError("its runs differ")
    if any(run.red for run in mended):
        raise DroppedError("red when only its source is mended")
    name = bench.clone.repository.rpartition("/")[2].lower()
    return Recipe(
        id=f"regressions/{name}-{base[:8]}", part="regressions",
        repository=bench.clone.repository, base=base, fix=change.sha, sources=change.sources,
        python=bench.python, red=tuple(sorted(whole[0].red)), passed=whole[0].passed,
        seconds=round(whole[0].seconds, 1),
    )  # fmt: skip


def _walked(bench: Bench, change: Change) -> tuple[str, str]:
    """The first red commit on a green one, and that one, along first parents from the mend."""
    line = bench.clone.git(
        "rev-list", "--first-parent", f"--max-count={BACK + 1}", change.parent
    ).split()
    for base, before in pairwise(line):
        ran = bench.run(before, before, (), ())
        if not ran.red:
            return base, before
    raise DroppedError(f"no green commit among the {BACK} before it")


def _is_of_source(clone: Clone, base: str, before: str, change: Change, ran: plain.Ran) -> None:
    """See to it that source broke the suite, and that the mend can be put on it as it is."""
    files = sorted({test.partition("::")[0] for test in ran.red})
    changed = clone.git("diff", "--name-only", "--no-renames", before, base).splitlines()
    if set(files) & set(changed) or not any(is_source(path) for path in changed):
        raise DroppedError("not broken by source")
    if clone.git("diff", "--name-only", base, change.parent, "--", *change.sources).strip():
        raise DroppedError("the source changed between")


def main(argv: list[str]) -> int:
    """Mine all clones of the folder."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.street.broken")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the clones")
    parser.add_argument("--only", default="", help="projects whose name has this in it")
    parser.add_argument("--minutes", type=float, default=30, help="when to stop")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args(argv)
    data = asked.data.resolve()
    names = [c.repository for c in clones(data) if asked.only in c.repository]
    until = time.time() + 60 * asked.minutes
    with ProcessPoolExecutor(asked.jobs) as pool:
        results = list(pool.map(unearthed, names, [data] * len(names), [until] * len(names)))
    dropped: Counter[str] = Counter()
    for result in results:
        dropped.update(result["dropped"])
    print(json.dumps({
        "regressions": sum(len(result["recipes"]) for result in results),
        "dropped": dict(dropped.most_common()),
    }))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
