"""Plants seeded mutants in released libraries and has the offline engine heal them.

Localization and repair work together, in the real sandbox: heal sees a random half of the
library's suite that still holds a test which fails, and has a minute. What it proposes is wrong
when a held-out test fails, or when a result, an exception or what became of the arguments differs
from the release on calls recorded from the whole suite and on varied ones, whose seed the search
did not use; it heals when nothing differs on 200 of them, or when it is the release again, within
the minute. What is no more than a suggestion is judged alike and counted apart. A mutant is
invertible when one small edit undoes it.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict
from typing import Any

from benchmarks import _libraries, _speed
from benchmarks._cases import options_of
from benchmarks._libraries import LIBRARIES
from benchmarks._mending import Row, mended
from benchmarks._planting import Fault, planted
from benchmarks._sameness import CALLS
from heal_bot.sandbox.sandbox_client import Sandbox

_CORES = 2
# Of the time there is, what planting may take: then the faults found so far are healed.
_PLANTING = 0.4


def main(argv: list[str]) -> int:
    """Run the benchmark; the last line is one JSON object."""
    options = options_of("mutants").parse_args(argv)
    start = time.monotonic()
    seconds = 1e9 if options.full else options.seconds
    names = options.only.split(",") if options.only else [one.name for one in LIBRARIES]
    _libraries.environment(sys.executable)
    until = time.time() + seconds
    with ProcessPoolExecutor(_CORES) as pool:
        count = 30 if options.full else options.mutants
        share = time.time() + _PLANTING * seconds
        faults, problems = _planted(pool, names, count, options.seed, share)
        asked = [pool.submit(mended, one, options.seed, options.budget, until) for one in faults]
        rows, more = _told(asked, quiet=options.json)
    summary = _summary(rows)
    with Sandbox.start("strict", 1) as sandbox:
        summary |= _speed.rates(sandbox)
    problems += more
    summary |= {"seconds": round(time.monotonic() - start, 1), "problems": problems}
    summary |= {"complete": not problems and not options.only}
    print(json.dumps(summary))
    return 0 if not problems else 1


def _planted(
    pool: ProcessPoolExecutor, names: Sequence[str], count: int, seed: int, until: float
) -> tuple[list[Fault], list[str]]:
    """The faults of all libraries in turns, so that each has its share when time ends."""
    waiting = [pool.submit(planted, name, count, seed, until) for name in names]
    found = [one.result() for one in waiting]
    rounds = itertools.zip_longest(*(faults for faults, _ in found))
    every = [fault for turn in rounds for fault in turn if fault is not None]
    return every, [problem for _, problems in found for problem in problems]


def _told(
    asked: Sequence[Future[tuple[Row | None, str]]], *, quiet: bool
) -> tuple[list[Row], list[str]]:
    """The rows as they come, and what went wrong how often."""
    rows: list[Row] = []
    wrong: Counter[str] = Counter()
    for one in as_completed(asked):
        row, problem = one.result()
        if problem:
            wrong[problem] += 1
        if row is not None:
            rows.append(row)
            print(json.dumps(asdict(row)), file=sys.stderr if quiet else sys.stdout, flush=True)
    return rows, [f"{words} ({times} mutants)" for words, times in wrong.items()]


def _summary(rows: Sequence[Row]) -> dict[str, Any]:
    proposed = [row for row in rows if row.proposed]
    wrong = [row for row in proposed if row.wrong]
    suggested = [row for row in rows if row.suggested]
    return {
        "mutants": len(rows),
        "invertible": sum(row.invertible for row in rows),
        "healed": sum(row.healed for row in rows),
        "healed_invertible": sum(row.healed and row.invertible for row in rows),
        "proposed": len(proposed),
        "wrong": len(wrong),
        "suggestion": len(suggested),
        "suggestion_right": sum(row.right for row in suggested),
        "suggestion_wrong": sum(row.wrong for row in suggested),
        "abstained": sum(not (r.proposed or r.suggested) and r.fixes > 0 for r in rows),
        "precision": round(1 - len(wrong) / len(proposed), 3) if proposed else 0.0,
        "median_seconds": statistics.median(row.seconds for row in rows) if rows else None,
        "longest_seconds": max((row.seconds for row in rows), default=None),
        "same_as_release": sum(row.same for row in rows),
        "uncompared": sum(not (r.same or r.wrong) and r.calls < CALLS for r in proposed),
        "by_kind": {
            kind: [sum(r.healed for r in rows if r.kind == kind), sum(r.kind == kind for r in rows)]
            for kind in sorted({row.kind for row in rows})
        },
        "missed": [f"{r.library} {r.mutant} {r.kind}" for r in rows if not r.healed],
    }
