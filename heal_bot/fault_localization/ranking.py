"""Failures to suspects: which function is guilty, with the evidence in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log1p

from heal_bot.core.events import Noted, Run
from heal_bot.core.model import Baseline, Cluster, Failure, History, Regression, Suspect, Target
from heal_bot.core.text import name_first
from heal_bot.fault_localization import (
    clusters,
    failure_evidence,
    failure_signatures,
    import_time_suspects,
    shared_words,
    spectrum,
)
from heal_bot.fault_localization.baseline_observations import Key, Observations, observe, target_key
from heal_bot.fault_localization.target_index import Places, find_hinted
from heal_bot.ports import Tree
from heal_bot.source.reversal import survey_change

# Line suspicion + 0.35 function suspicion + 0.3 traceback + 0.08 ln(1 + lines of the highest
# suspicion): chosen on mutants of six libraries; docs/offline-engine.md has the figures.
FUNCTION_WEIGHT = 0.35
TRACEBACK_WEIGHT = 0.3
LINES_WEIGHT = 0.08
# And for the likest words of its body, and of its name: chosen on real fixes of `tune`.
WORDS_WEIGHT = 0.1
# Without executions only these remain; their order follows what each reached alone.
COMPARED_WEIGHT = 0.6
NAMED_WEIGHT = 0.4
USED_WEIGHT = 0.3
MAX_SUSPECTS = 20
# Of the values that a commit brought so many are accused beside its functions; not measured.
_BROUGHT = 4
MAX_FILES = 2_000
NO_HISTORY = History()


@dataclass(slots=True)
class _RankedCase:
    """What is collected about one target while a cluster is ranked.

    A `guess` has nothing but words against it; one is `blamed` where the commit that broke the
    tests changed it.
    """

    target: Target
    score: float = 0.0
    evidence: list[str] = field(default_factory=list)
    lines: dict[int, float] | None = None
    guess: bool = False
    blamed: bool = False


def locate(
    run: Run,
    baseline: Baseline,
    tree: Tree,
    hints: tuple[str, ...] = (),
    history: History = NO_HISTORY,
) -> tuple[Cluster, ...]:
    """The confirmed failures as clusters of one cause each, with suspects, the likeliest first.

    `hints` are addresses (`path::qualname`) a person named; they come first in every cluster, then
    what the commit that broke its tests changed and they execute. Tests that failed before it have
    causes of their own, which come last. Gaps in what was observed are emitted as notes.
    """
    failures = baseline.confirmed
    if not failures:
        return ()
    places = Places(tree, baseline.suite.collected)
    seen = observe(baseline, failures, places)
    sites = {
        failure.test: failure_evidence.find_raise_site(failure, places) for failure in failures
    }
    parts = [[f for f in failures if (f.test in history.older) is old] for old in (False, True)]
    groups = [
        one
        for part in filter(None, parts)
        for one in clusters.group(
            part, seen.hits, seen.levels, seen.functions(), lambda failure: sites[failure.test]
        )
    ]
    named = find_hinted(run, hints, places)
    changed = tree.changed_lines()
    culprits = [(one, survey_change(tree, one.files).targets) for one in history.regressions]
    common = shared_words.find_common(places)
    found = []
    for one in groups:
        ranked = _ranked(one.failures, seen, places, common)
        ranked = _accuse(ranked, one.failures, culprits)
        _add_examples(ranked, one.failures)
        suspects = _finished(ranked, named, changed)
        accused = [*named, *(case.target for case in ranked if case.score and not case.guess)]
        found.append(
            Cluster(
                id=failure_signatures.name_cluster(one.failures),
                failures=one.failures,
                suspects=suspects,
                signature=failure_signatures.choose_signature(one.failures, sites),
                stale=_is_stale(accused, baseline, places),
            )
        )
    _tell_gaps(run, baseline, seen, places)
    found.sort(key=lambda one: (-len(one.failures), one.failures[0].test))
    return tuple(sorted(found, key=lambda one: one.failures[0].test in history.older))


def _ranked(
    failures: Sequence[Failure], seen: Observations, places: Places, common: frozenset[str]
) -> list[_RankedCase]:
    """All targets with anything against them, the likeliest first."""
    cases: dict[Key, _RankedCase] = {}
    tests = [failure.test for failure in failures if seen.hits.get(failure.test)]
    if tests:
        _add_executions(cases, tests, seen)
    if seen.support or not tests:
        _add_names(cases, failures, places, tuple(seen.owners.values()))
    _add_tracebacks(cases, failures, places)
    _add_fixtures(cases, failures, places)
    _add_comparisons(cases, failures, weight=0.0 if tests else COMPARED_WEIGHT)
    _add_words(cases, failures, places, common)
    ranked = sorted(cases.values(), key=_order)
    _add_constants(cases, ranked, places)
    return sorted(cases.values(), key=_order)


def _accuse(
    ranked: list[_RankedCase],
    failures: Sequence[Failure],
    culprits: Sequence[tuple[Regression, Sequence[Target]]],
) -> list[_RankedCase]:
    """What the commit that broke these tests changed comes first, in the order it had."""
    tests = {failure.test for failure in failures}
    top = max((case.score for case in ranked), default=0.0)
    for regression, targets in culprits:
        changed = set() if tests.isdisjoint(regression.tests) else {target_key(t) for t in targets}
        said = f"changed by {regression.bad_sha[:7]}, the commit that broke these tests"
        for case in ranked:
            if target_key(case.target) in changed:
                case.guess, case.blamed = False, True
                case.score += top
                case.evidence.append(said)
        known = {target_key(case.target) for case in ranked}
        new = [target for target in targets if target_key(target) in changed - known]
        if not changed.isdisjoint(known):
            new = [target for target in new if target.is_value][:_BROUGHT]
        ranked += [_RankedCase(target, top, [said], blamed=True) for target in new]
    return sorted(ranked, key=_order)


def _order(case: _RankedCase) -> tuple[float, bool, str, int]:
    """By score, then by blame and place, so that the order is the same in each run."""
    return (-round(case.score, 9), not case.blamed, case.target.path, case.target.first_line)


def _add_executions(
    cases: dict[Key, _RankedCase], tests: Sequence[str], seen: Observations
) -> None:
    """The suspicion of the likeliest line and of the function, and how many lines share it.

    Of two functions alike in all else the one with more code is the likelier one. Every execution
    of a function passes its first statement, so the largest count among its lines is the count of
    the function.
    """
    failed = spectrum.count_bits((seen.hits[test] for test in tests), len(seen.locations))
    counted: defaultdict[Key, list[int]] = defaultdict(list)
    for at, target in seen.owners.items():
        if failed[at]:
            counted[target_key(target)].append(at)
    for one, places in counted.items():
        case = cases.setdefault(one, _RankedCase(seen.owners[places[0]]))
        case.lines = {
            seen.locations[at][1]: spectrum.ochiai(len(tests), failed[at], seen.passed[at])
            for at in places
        }
        most = max(failed[at] for at in places)
        passed = max(seen.passed[at] for at in places)
        case.score += max(spectrum.cause(len(tests), failed[at], seen.passed[at]) for at in places)
        case.score += FUNCTION_WEIGHT * spectrum.cause(len(tests), most, passed)
        top = max(case.lines.values())
        case.score += LINES_WEIGHT * log1p(sum(value == top for value in case.lines.values()))
        case.evidence.append(
            f"executed by {most} of {len(tests)} failing and {passed} of {seen.passing}"
            f" passing tests{' that ran, of a suite cut short' if seen.cut else ''}"
        )
        if seen.support:
            case.evidence.append(
                "test support: the failing tests executed no function of the project"
            )


def _add_tracebacks(
    cases: dict[Key, _RankedCase], failures: Sequence[Failure], places: Places
) -> None:
    weights: defaultdict[Key, float] = defaultdict(float)
    raised: Counter[Key] = Counter()
    for failure in failures:
        for target, weight in failure_evidence.weigh_frames(failure, places):
            cases.setdefault(target_key(target), _RankedCase(target))
            weights[target_key(target)] += weight
            raised[target_key(target)] += weight == 1.0
    for one, weight in weights.items():
        cases[one].score += TRACEBACK_WEIGHT * weight / len(failures)
        if cases[one].target.kind != "function":
            cases[one].score += _unpassed(raised[one], failures)
        cases[one].evidence.append(
            f"raised here in {raised[one]} of {len(failures)} failing tests"
            if raised[one]
            else "on the traceback"
        )


def _unpassed(raised: int, failures: Sequence[Failure]) -> float:
    """The suspicion of what raises before a test begins: no passing test got past it."""
    return (1 + FUNCTION_WEIGHT) * spectrum.cause(len(failures), raised, 0)


def _add_fixtures(
    cases: dict[Key, _RankedCase], failures: Sequence[Failure], places: Places
) -> None:
    """Fixtures and set-up functions on the traceback, though no patch may change them."""
    raised: Counter[Key] = Counter()
    for failure in failures:
        found = failure_evidence.find_fixture(failure, places)
        if found:
            target, itself = found
            case = cases.setdefault(target_key(target), _RankedCase(target))
            case.score += TRACEBACK_WEIGHT * (1.0 if itself else 0.5) / len(failures)
            raised[target_key(target)] += itself
    for one, times in raised.items():
        cases[one].score += _unpassed(times, failures)
        said = f"raised in this fixture in {times} of {len(failures)} failing tests"
        support = "test support: no patch changes it"
        cases[one].evidence += [said if times else "a fixture on the traceback", support]


def _add_comparisons(
    cases: dict[Key, _RankedCase], failures: Sequence[Failure], weight: float
) -> None:
    """Functions whose results the failed assertions show."""
    sides: dict[str, str] = {}
    for failure in failures:
        for name, side in failure_evidence.find_compared(failure.message):
            sides.setdefault(name, side)
    for case in cases.values():
        shown = sides.get(case.target.qualname.rpartition(".")[2])
        if shown is not None and case.target.kind == "function":
            where = (
                "in the failed assertion"
                if shown == "some"
                else (f"on the {shown} side of the failed comparison")
            )
            case.score += weight
            case.evidence.append(f"its result is {where}")


def _add_examples(ranked: Sequence[_RankedCase], failures: Sequence[Failure]) -> None:
    """The smallest example that hypothesis found, as evidence for the likeliest function."""
    found = next(filter(None, map(failure_evidence.find_example, failures)), "")
    for case in ranked[:1] if found else ():
        case.evidence.append(f"the smallest failing example is {found}")


def _add_names(
    cases: dict[Key, _RankedCase],
    failures: Sequence[Failure],
    places: Places,
    support: Iterable[Target],
) -> None:
    """Where no execution was recorded: what the tests' names, bodies and support mention."""
    words = frozenset().union(*(failure_evidence.test_words(failure) for failure in failures[:100]))
    used = frozenset().union(
        *(failure_evidence.test_names(failure, places) for failure in failures[:100])
    )
    for path in places.project()[:MAX_FILES]:
        for entry in places.entries(path):
            name = entry.target.qualname.rpartition(".")[2]
            if entry.target.kind != "function":
                continue
            case = cases.setdefault(target_key(entry.target), _RankedCase(entry.target))
            if name.lower().strip("_") in words:
                case.score += NAMED_WEIGHT
                case.evidence.append("named by the failing test")
            if name in used:
                case.score += USED_WEIGHT
                case.evidence.append("used in the failing test's body")
    tests = [test for f in failures[:100] if (test := failure_evidence.test_function(f, places))]
    for user in dict.fromkeys([*tests, *support]):
        for target in _find_used(user, places):
            case = cases.setdefault(target_key(target), _RankedCase(target))
            if places.is_project(target.path) and not case.score:
                case.score = USED_WEIGHT
                case.evidence.append(f"used by {user.qualname}")


def _find_used(user: Target, places: Places) -> Iterator[Target]:
    """What a function of the tests calls and uses, also at second hand."""
    yield from (target for target, _ in import_time_suspects.find_used(user, {}, places.references))
    for symbol in places.references.uses(user):
        yield from import_time_suspects.find_called(symbol, places.references)


def _add_words(
    cases: dict[Key, _RankedCase],
    failures: Sequence[Failure],
    places: Places,
    common: frozenset[str],
) -> None:
    """Functions that are about what the failing tests are about."""
    found_in = (case.target for case in cases.values() if places.is_project(case.target.path))
    targets = [target for target in found_in if target.kind == "function"]
    for target, found in shared_words.score_words(
        targets, shared_words.collect_words(failures, places), common
    ).items():
        case = cases[target_key(target)]
        case.guess = not case.score
        case.score += WORDS_WEIGHT * (found.body + found.name)
        if found.shared:
            case.evidence.append(f"has words of the failing tests: {', '.join(found.shared)}")


def _add_constants(
    cases: dict[Key, _RankedCase], ranked: Sequence[_RankedCase], places: Places
) -> None:
    """Assignments, class attributes and defaults that the likeliest functions depend on."""
    for case in ranked[: import_time_suspects.MAX_USERS]:
        for target, share in import_time_suspects.find_used(
            case.target, case.lines or {}, places.references
        ):
            known = cases.setdefault(target_key(target), _RankedCase(target, guess=True))
            if places.is_project(target.path) and case.score * share > known.score:
                known.guess = known.guess and case.guess
                known.score = case.score * share
                known.evidence.append(f"used by {case.target.qualname}")


def _finished(
    ranked: Sequence[_RankedCase], named: Sequence[Target], changed: Mapping[str, frozenset[int]]
) -> tuple[Suspect, ...]:
    """The suspects: hinted ones first, the rest by score, all with what the history says."""
    wanted = {target_key(target) for target in named}
    known = {target_key(case.target): case for case in ranked}
    top = max((case.score for case in ranked), default=0.0)
    first = []
    for target in named:
        case = known.get(target_key(target)) or _RankedCase(target)
        evidence = ["named by the person who asked", *case.evidence]
        first.append(replace(case, score=top + 1.0, evidence=evidence))
    rest = [case for case in ranked if target_key(case.target) not in wanted and case.score > 0]
    return tuple(_suspect(case, changed) for case in [*first, *rest][:MAX_SUSPECTS])


def _suspect(case: _RankedCase, changed: Mapping[str, frozenset[int]]) -> Suspect:
    target = case.target
    lines = range(target.first_line, target.last_line + 1)
    evidence = tuple(case.evidence)
    if not case.blamed and not changed.get(target.path, frozenset()).isdisjoint(lines):
        evidence += ("changed by the commits under test",)
    return Suspect(target, round(case.score, 4), evidence, case.lines)


def _tell_gaps(run: Run, baseline: Baseline, seen: Observations, places: Places) -> None:
    recorded = baseline.suite.spectrum
    gaps = list(recorded.gaps) if recorded else []
    if not seen.owners or seen.support:
        gaps.append("no execution of project code was recorded: tracebacks and names decide")
    missing = [f.test for f in baseline.confirmed if not seen.hits.get(f.test)]
    if seen.owners and missing:
        left = name_first(len(missing), missing[0], "failing test")
        gaps.append(f"no execution recorded for {left}")
    gaps.extend(f"not indexed: {path}: {why}" for path, why in places.unread.items())
    for gap in gaps[:20]:
        run.emit(Noted(stage="locate", message=gap, level="detail"))


def _is_stale(accused: Iterable[Target], baseline: Baseline, places: Places) -> bool:
    """Whether all was observed and nothing that a patch may change is accused by it."""
    seen = baseline.suite.spectrum
    known = seen is not None and not seen.gaps
    return known and not any(places.is_project(target.path) for target in accused)
