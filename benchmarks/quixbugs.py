"""Repairs all 40 QuixBugs programs offline, in the real sandbox, and judges each on fresh inputs.

`--data DIR` is a checkout of jkoppel/QuixBugs; its code is not ours and is not kept here. A
program counts as plausible when the engine offers a patch that passes the tests it searched with,
be it called the repair (`healed`) or a suggestion, which are counted apart; and as correct when the
patched program also agrees with the reference on 2,000 inputs no test has, value and type. The half
search sees every second test of a seeded order, at least one of them failing.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import _speed
from benchmarks._cases import options_of
from benchmarks._programs import World, world
from benchmarks._quixbugs import FRESH, INPUTS
from heal_bot.core.errors import HealBotError
from heal_bot.core.events import Run, SearchProgressed
from heal_bot.core.model import Baseline, Candidate, Cluster, Edit, Spectrum
from heal_bot.fault_localization import ranking
from heal_bot.ports import Session
from heal_bot.repair.search import scheduler
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.cluster_search import SearchLimits
from heal_bot.repair.templates.template_proposer import TemplateProposer
from heal_bot.source import edit
from heal_bot.verification.warm_trial import open_session

_SEED = 1
_JUDGE_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Result:
    """One search: what it saw, what it took, what came of it."""

    program: str
    half: bool
    failing: int
    passing: int
    plausible: bool
    correct: bool
    candidates: int
    seconds: float
    family: str = ""
    others: int = 0
    change: str = ""
    difference: str = ""
    problem: str = ""
    suggested: bool = False
    lacks: str = ""


def halved(baseline: Baseline, name: str) -> Baseline:
    """A seeded half of the tests that still holds a failing one."""
    rng = random.Random(f"{_SEED} {name}")
    red = {failure.test for failure in baseline.confirmed}
    tests = sorted(red | baseline.passed)
    rng.shuffle(tests)
    kept = set(tests[: (len(tests) + 1) // 2])
    if not kept & red:
        kept = set(tests[: (len(tests) + 1) // 2 - 1]) | {next(t for t in tests if t in red)}
    suite = baseline.suite
    seen = suite.spectrum
    return replace(
        baseline,
        reproduced=tuple(r for r in baseline.reproduced if r.failure.test in kept),
        suite=replace(
            suite,
            results=tuple(r for r in suite.results if r.test in kept),
            collected=tuple(t for t in suite.collected if t in kept),
            spectrum=seen
            and Spectrum(seen.locations, {t: h for t, h in seen.hits.items() if t in kept}),
        ),
    )


def searched(place: World, name: str, baseline: Baseline, half: bool, seconds: float) -> Result:
    """One search for one program, ended by its first winner, and the judgement of that."""
    start = time.monotonic()
    tried = 0

    def hear(event: object) -> None:
        nonlocal tried
        if isinstance(event, SearchProgressed):
            tried = event.tried

    run = Run(hear)
    run = replace(run, deadline=run.clock() + seconds)
    ledger = AttemptLog(place.tree)

    def judge(cluster: Cluster, base: tuple[Edit, ...]) -> Session:
        return open_session(place.context(run, place.warm), baseline, cluster, base)

    clusters = ranking.locate(run, baseline, place.tree)
    found = next(
        scheduler.proposals(run, clusters, [TemplateProposer()], judge, ledger, SearchLimits()),
        None,
    )
    took = time.monotonic() - start
    counts = len(baseline.confirmed), len(baseline.passed)
    tried = sum(search.tried for search in ledger.searches)
    fixed = found is not None and _passes_all(judge, baseline, found.winners[0].candidate)
    result = Result(name, half, *counts, fixed, False, tried, round(took, 2))
    if found is None or not fixed:
        return result
    attempt = found.winners[0]
    difference = _difference(place, name, attempt.candidate)
    others = sum(a.verdict.status == "fixed" for a in ledger.attempts) - 1
    return replace(
        result,
        correct=not difference,
        family=attempt.candidate.family,
        others=others,
        change=attempt.candidate.rationale,
        difference=difference,
        suggested=bool(attempt.lacks) and not attempt.is_likely,
        lacks="; ".join(attempt.lacks or ())[:300],
    )


def _passes_all(
    judge: Callable[[Cluster, tuple[Edit, ...]], Session], baseline: Baseline, candidate: Candidate
) -> bool:
    """Whether all tests that failed pass: a cluster may hold but a part of them."""
    with judge(Cluster("all", baseline.confirmed, ()), ()) as session:
        return next(iter(session.judge((candidate,)))).status == "fixed"


def _difference(place: World, name: str, candidate: Candidate) -> str:
    """What tells the patched program from the reference; '' when nothing does."""
    (file,) = edit.patch_files(place.tree, candidate.edits)
    patched = place.scratch / f"{name}.py"
    patched.write_text(file.content, encoding="utf-8")
    reference = place.data / "correct_python_programs" / f"{name}.py"
    argv = [sys.executable, "-m", "benchmarks._quixbugs", name, str(patched), str(reference)]
    root = Path(__file__).parent.parent
    try:
        done = subprocess.run(
            argv, cwd=root, capture_output=True, text=True, timeout=_JUDGE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_JUDGE_SECONDS} seconds"
    if done.returncode not in {0, 2}:
        return done.stderr.strip()[-300:] or "the judge died"
    return str(json.loads(done.stdout)["difference"])


def main(argv: list[str]) -> int:
    """Run the benchmark; the last line is one JSON object."""
    options = options_of("quixbugs").parse_args(argv)
    names = options.only.split(",") if options.only else sorted(FRESH)
    start = time.monotonic()
    results: list[Result] = []
    problems: list[str] = []
    with world(options.data) as place:
        speed = _speed.rates(place.sandbox)
        for name in names:
            try:
                baseline = place.baseline(name)
                for half in (False,) if options.skip_half else (False, True):
                    known = halved(baseline, name) if half else baseline
                    results.append(searched(place, name, known, half, options.seconds))
                    if not options.json:
                        print(json.dumps(asdict(results[-1])), flush=True)
            except (HealBotError, OSError) as error:
                problems.append(f"{name}: {type(error).__name__}: {error}")
                if not options.json:
                    print(problems[-1], flush=True)
    summary = _summary(results) | speed
    summary |= {"complete": not problems and not options.only and not options.skip_half}
    summary |= {"wall_seconds": round(time.monotonic() - start, 1), "problems": problems}
    print(json.dumps(summary))
    return 0 if not problems else 1


def _split(half: str, results: Sequence[Result]) -> dict[str, Any]:
    """What is called healed and what is suggested, and how much of each is correct."""
    told: dict[str, Any] = {}
    for name, suggested in (("healed", False), ("suggestion", True)):
        rows = [r for r in results if r.plausible and r.suggested is suggested]
        told |= {f"{name}{half}": len(rows), f"{name}_correct{half}": sum(r.correct for r in rows)}
    return told


def _summary(results: Sequence[Result]) -> dict[str, Any]:
    every = [r for r in results if not r.half]
    halves = [r for r in results if r.half]
    solved = [r for r in every if r.plausible]
    return (
        _split("", every)
        | _split("_half_tests", halves)
        | {
            "programs": len(every),
            "plausible": len(solved),
            "correct": sum(r.correct for r in every),
            "plausible_half_tests": sum(r.plausible for r in halves),
            "correct_half_tests": sum(r.correct for r in halves),
            "median_candidates": statistics.median(r.candidates for r in solved)
            if solved
            else None,
            "median_seconds": statistics.median(r.seconds for r in solved) if solved else None,
            "seconds": round(sum(r.seconds for r in every), 1),
            "seconds_half": round(sum(r.seconds for r in halves), 1),
            "fresh_inputs": INPUTS,
            "missed": {
                mode: [r.program for r in rows if not r.correct]
                for mode, rows in (("all", every), ("half", halves))
            },
        }
    )
