"""A recording, judged: where each technique ranks the guilty function, and which causes it has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from benchmarks._libraries import Recording
from benchmarks._mutants import Mutant
from heal_bot.core.events import Run
from heal_bot.core.model import Cluster
from heal_bot.fault_localization import failure_evidence, ranking, spectrum
from heal_bot.fault_localization.baseline_observations import Key, Observations, observe, target_key
from heal_bot.fault_localization.target_index import Places
from tests.fakes import FolderTree


@dataclass(frozen=True)
class Killed:
    """A mutant that failed tests, and which technique found it: the chance of top 1, 3 and 5."""

    mutant: Mutant
    red: frozenset[str]
    crash: bool
    clusters: int
    hits: dict[str, list[float]]


def expected(scores: Iterable[tuple[float, bool]], top: int) -> float:
    """The chance that the guilty one is among the first `top` when ties are drawn."""
    ordered = sorted(scores, key=lambda one: -one[0])
    for score, guilty in ordered:
        if guilty:
            above = sum(other > score for other, _ in ordered)
            tied = sum(other == score for other, _ in ordered)
            return max(0.0, min(1.0, (top - above) / tied))
    return 0.0


def judged(recording: Recording, folder: Path, mutant: Mutant) -> Killed:
    """Top 1, 3 and 5 hits of each technique."""
    tree, baseline = FolderTree(folder), recording.baseline()
    clusters = ranking.locate(Run(lambda event: None), baseline, tree)
    places = Places(tree, baseline.suite.collected)
    seen = observe(baseline, baseline.confirmed, places)
    guilty = (mutant.path, mutant.qualname, mutant.nth)
    frames: defaultdict[tuple[str, str, int], float] = defaultdict(float)
    crash = False
    for failure in baseline.confirmed:
        for target, weight in failure_evidence.weigh_frames(failure, places):
            frames[target_key(target)[:3]] += weight == 1.0
            crash = True
    ours = [(s.score, target_key(s.target)[:3] == guilty) for s in clusters[0].suspects]
    lists = {
        "ours": ours,
        "traceback": [(score, one == guilty) for one, score in frames.items() if score],
        "ochiai": _plain(seen, spectrum.ochiai, guilty),
        "dstar": _plain(seen, dstar, guilty),
    }
    hits = {name: [expected(scores, top) for top in (1, 3, 5)] for name, scores in lists.items()}
    return Killed(mutant, recording.red, crash, len(clusters), hits)


def dstar(failing: int, failed: int, passed: int) -> float:
    """DStar with exponent 2: failed² / (passed + failing - failed); infinite without doubt."""
    rest = passed + failing - failed
    return failed**2 / rest if rest else inf if failed else 0.0


def _plain(
    seen: Observations, formula: Callable[[int, int, int], float], guilty: tuple[str, str, int]
) -> list[tuple[float, bool]]:
    failed = spectrum.count_bits(seen.hits.values(), len(seen.locations))
    best: dict[Key, float] = {}
    for at, target in seen.owners.items():
        score = formula(len(seen.hits), failed[at], seen.passed[at])
        best[target_key(target)] = max(best.get(target_key(target), 0.0), score)
    return [(score, one[:3] == guilty) for one, score in best.items()]


def own(at: int, causes: Sequence[frozenset[str]]) -> frozenset[str]:
    """The tests that fail for one cause alone."""
    return causes[at].difference(*(tests for n, tests in enumerate(causes) if n != at))


def exact(clusters: Collection[Cluster], causes: Sequence[frozenset[str]]) -> bool:
    """Whether there is one cluster per cause, with its tests and none that fails for others.

    A test that fails for several causes may stand with any of them, one that fails for none of
    them alone anywhere.
    """
    known = frozenset().union(*causes)
    groups = [frozenset(f.test for f in one.failures) & known for one in clusters]
    if len(groups) != len(causes):
        return False
    homes = [
        [at for at, group in enumerate(groups) if alone & group]
        for alone in (own(at, causes) for at in range(len(causes)))
    ]
    if any(len(home) != 1 for home in homes) or len({home[0] for home in homes}) != len(homes):
        return False
    return all(groups[home[0]] <= cause for home, cause in zip(homes, causes, strict=True)) and (
        frozenset().union(*groups) == known
    )
