"""What the baseline run observed, restricted to what may be suspected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from heal_bot.core.model import Baseline, Failure, Spectrum, Target
from heal_bot.core.model.execution import bitmap, indices
from heal_bot.fault_localization import clusters, spectrum
from heal_bot.fault_localization.target_index import Places

Key = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True)
class Observations:
    """Executions of the failing tests, and per line how many passing tests executed it.

    `hits` are the failing tests' bitmaps over lines that have an owner; `owners` says which
    function runs at a location; `passed` counts passing tests per location, of `passing` in all,
    which are not those of the whole suite where it was `cut`.
    """

    locations: Sequence[tuple[str, int]]
    hits: Mapping[str, int]
    owners: Mapping[int, Target]
    passed: Sequence[int]
    passing: int
    levels: clusters.Levels
    support: bool = False
    cut: bool = False

    def functions(self) -> int:
        """How many functions the failing tests executed."""
        return len({target_key(target) for target in self.owners.values()})


def target_key(target: Target) -> Key:
    """What identifies a target without comparing its source."""
    return (target.path, target.qualname, target.nth, target.kind)


def observe(baseline: Baseline, failures: Sequence[Failure], places: Places) -> Observations:
    """The spectrum of the baseline as far as project functions go.

    When the failing tests executed no project function, the functions of test support that they
    executed stand in, and `support` says so. Without a spectrum everything is empty.
    """
    recorded = baseline.suite.spectrum or Spectrum((), {})
    failing = {f.test: recorded.hits[f.test] for f in failures if recorded.hits.get(f.test)}
    owners = _owners(recorded, failing, places.is_project, places)
    support = bool(failing) and not owners
    if support:
        tests = frozenset(test.partition("[")[0] for test in baseline.suite.collected)
        owners = {
            at: target
            for at, target in _owners(recorded, failing, places.is_test, places).items()
            if f"{target.path}::{target.qualname.replace('.', '::')}" not in tests
        }
    width = len(recorded.locations)
    mask = bitmap(owners, width)
    passing = [hits for test, hits in recorded.hits.items() if test in baseline.passed]
    passed = spectrum.count_bits((hits & mask for hits in passing), width)
    return Observations(
        locations=recorded.locations,
        hits={test: hits & mask for test, hits in failing.items()},
        owners=owners,
        passed=passed,
        passing=len(passing),
        levels=clusters.count_levels(passed, mask, len(passing)),
        support=support,
        cut=not (baseline.whole and baseline.suite.finished),
    )


def _owners(
    recorded: Spectrum,
    failing: Mapping[str, int],
    wanted: Callable[[str], bool],
    places: Places,
) -> dict[int, Target]:
    """The function per location, for locations a failing test executed in wanted files."""
    union = 0
    for hits in failing.values():
        union |= hits
    allowed: dict[str, bool] = {}
    owners = {}
    for at in indices(union):
        path, line = recorded.locations[at]
        if path not in allowed:
            allowed[path] = wanted(path)
        target = places.running(path, line) if allowed[path] else None
        if target is not None:
            owners[at] = target
    return owners
