"""Search for faults whose repair is known, and measure every patch that passes the visible tests.

`python -m benchmarks.fit.pools --data DIR` plants faults in the projects of `tune`, or takes their
mined fixes; it keeps numbers alone, one line per pool, below DIR/pools, and goes on there. With
`--split held` it does so below DIR/held-pools, on which nothing is fitted (`benchmarks offer`).
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks._cases import options_of
from benchmarks._libraries import LIBRARIES
from benchmarks._repositories import commit_files
from benchmarks.fit.features import measure_group, split_tokens
from benchmarks.street import recipes
from benchmarks.street.clones import Clone, CloneError, clones, find, git_in, show
from benchmarks.street.compared import changed_pairs, holds
from benchmarks.street.digging import keep_rows, place, side_by_side
from benchmarks.street.faults import KINDS, faulty, targets
from benchmarks.street.history import is_source, is_test
from benchmarks.street.recipes import Recipe, Split
from heal_bot import wiring
from heal_bot.core.errors import HealBotError
from heal_bot.core.model import (
    Attempt,
    Baseline,
    Candidate,
    Cluster,
    Edit,
    Failure,
    PatchedFile,
    Reproduced,
    RunHints,
    SuiteRun,
    Target,
)
from heal_bot.core.settings import Settings
from heal_bot.core.statuses import SURE, FailureStatus, VerdictStatus
from heal_bot.fault_localization import collection_suspects
from heal_bot.ports import Ask, RunContext, Session, Tree
from heal_bot.repair.ranking.patch_pool import Pool, compare_patches
from heal_bot.repair.ranking.patch_ranking import choose_patches, explain_lookup
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.cluster_search import SearchLimits, search_cluster
from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.template_costs import load_costs
from heal_bot.repair.templates.template_proposer import TemplateProposer
from heal_bot.source import functions
from heal_bot.source.guard import SourceRejected
from heal_bot.verification.warm_trial import find_covering, open_session

_SUITE_SECONDS = 60.0
_SEARCH_SECONDS = 25.0
_CANDIDATES = 1_500
_GUARDS = 300
# How many of the failing tests a search may see, by turns: a report has all, a weak suite few.
_VISIBLE = (1, 99, 2, 99, 3, 99)
# So many calls have to be alike before a patch counts as right, over so many seeds.
_ALIKE, _SEEDS = 20, range(7, 12)
_TRIES = 60


@dataclass(frozen=True, slots=True)
class Fault:
    """A tree that is red, the edits that make it right, what its tests show, and those that tell.

    `suite` is one run of the tests `red` and `near` at least, with what they execute.
    """

    name: str
    origin: str
    tree: Tree
    right: tuple[Edit, ...]
    red: tuple[str, ...]
    near: tuple[str, ...]
    suite: SuiteRun


def collect(
    repository: str, until: float, data: Path, origin: str, seed: int, split: Split = "tune"
) -> int:
    """The pools of a project, one line each; how many there are."""
    begun = f"{origin}{seed}" if seed else origin
    folder = data / ("pools" if split == "tune" else f"{split}-pools")
    kept = place(folder, f"{begun}-{repository}", "jsonl")
    return keep_rows(kept, repository, until, _found(repository, data, origin, seed, split))


def _found(
    repository: str, data: Path, origin: str, seed: int, split: Split
) -> Iterator[dict[str, Any]]:
    clone = find(data, repository)
    yield from planted(clone, data, seed) if origin == "planted" else mined(clone, data, split)


def planted(
    clone: Clone, data: Path, seed: int, most: int = 16, seconds: float = 400
) -> Iterator[dict[str, Any]]:
    """The pools of seeded faults at the newest commit of a project."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pools-", dir=data) as name:
        repo = export(clone, "HEAD", Path(name) / "repo")
        with wiring.open_bench(
            repo, None, _settings(), lambda event: None, "HEAD", RunHints()
        ) as made:
            (clean,) = made.run_many([Ask(made.tree, spectrum=True, seconds=60)])
            if not clean.finished or clean.seconds > _SUITE_SECONDS or len(clean.passed) < 5:
                raise ValueError(f"suite {clean.ended} in {clean.seconds:.0f} s, {clean.reached}")
            begun = f"{clone.repository} {seed}" if seed else clone.repository
            faults = _plant(made, clean, random.Random(begun))
            for number, fault in enumerate(faults):
                row = _pooled(made, fault, visible=_VISIBLE[number % len(_VISIBLE)])
                if row is not None:
                    yield row
                if number + 1 >= most or time.monotonic() - begin > seconds:
                    return


def mined(clone: Clone, data: Path, split: Split = "tune") -> Iterator[dict[str, Any]]:
    """The pools of the mined fixes of a project: their parent's source with their own tests."""
    for recipe in recipes.load("fixes"):
        if recipe.repository != clone.repository or recipe.split != split:
            continue
        try:
            row = _mined_one(clone, recipe, data)
        except (HealBotError, ValueError) as error:
            print(f"{recipe.id}: {' '.join(str(error).split())[:200]}", file=sys.stderr, flush=True)
            continue
        if row is not None:
            yield row


def _mined_one(clone: Clone, recipe: Recipe, data: Path) -> dict[str, Any] | None:
    with tempfile.TemporaryDirectory(prefix="pools-", dir=data) as name:
        repo = export(clone, recipe.base, Path(name) / "repo", recipe.fix, recipe.tests)
        with wiring.open_bench(
            repo, None, _settings(), lambda event: None, "HEAD", RunHints()
        ) as made:
            (seen,) = made.run_many([Ask(made.tree, spectrum=True, seconds=90)])
            red = tuple(sorted({r.test for r in seen.red} & set(recipe.red)))
            right = _edits_between(clone, recipe, made.tree)
            if not red or not seen.finished:
                raise ValueError(f"{seen.reached}, {len(red)} of {len(recipe.red)} red")
            near = find_covering(seen, [edit.target for edit in right]) if right else set()
            files = {test.partition("::")[0] for test in red}
            near |= {test for test in seen.passed if test.partition("::")[0] in files}
            fault = Fault(
                recipe.id, "fix", made.tree, right, red, tuple(sorted(near & seen.passed)), seen
            )
            return _pooled(made, fault, visible=len(red))


def _edits_between(clone: Clone, recipe: Recipe, tree: Tree) -> tuple[Edit, ...]:
    """The functions that the maintainers changed, as edits; none where they changed other lines."""
    edits: list[Edit] = []
    for path in recipe.sources:
        before, after = tree.read(path).decode(), clone.read(recipe.fix, path)
        pairs = changed_pairs(path, before, after)
        edits += [
            Edit(old, new.source)
            for old, new in pairs
            if not any(holds(other, old) for other, _ in pairs if other != old)
        ]
    return tuple(edits)


def export(clone: Clone, sha: str, folder: Path, fix: str = "", tests: Sequence[str] = ()) -> Path:
    """A repository with one commit: a project's files, some of them as the fix has them."""
    clone.check_out(folder)
    show(folder, sha, fix, tests)
    shutil.rmtree(folder / ".git")
    commit_files(folder, "Release")
    with contextlib.suppress(CloneError):
        git_in(folder, "tag", clone.git("describe", "--tags", "--abbrev=0", sha).strip())
    return folder


def _settings() -> Settings:
    return Settings(max_minutes=30)


def _plant(made: RunContext, clean: SuiteRun, rng: random.Random) -> Iterator[Fault]:
    """Seeded faults that one to forty of the tests notice."""
    executed = _executed(made.tree, clean)
    # Kinds take turns, whatever there is more of in a project.
    kinds = rng.sample(sorted(KINDS), len(KINDS))
    for number in range(_TRIES if executed else 0):
        kind, target, source = kinds[number % len(kinds)], executed[0], ""
        for target in rng.sample(executed, len(executed)):
            source = faulty(target, kind, rng.randrange(1 << 30))
            if source and source != target.source:
                break
        else:
            continue
        near = tuple(sorted(find_covering(clean, [target]) & clean.passed))
        text = made.tree.read(target.path).decode()
        old = functions.split_lines(text)
        lines = [*old[: target.first_line - 1], source, *old[target.last_line :]]
        blob = made.tree.blob(target.path)
        tree = made.patched([PatchedFile(target.path, blob, "".join(lines))])
        (seen,) = made.run_many([Ask(tree, near, spectrum=True, seconds=60)])
        red = tuple(sorted(result.test for result in seen.red if result.phase == "call"))
        if not seen.finished or not 1 <= len(red) <= 40 or len(red) < len(seen.red):
            continue
        now = functions.find_same(target, functions.index_targets(target.path, "".join(lines)))
        if now is None:
            continue
        name = f"{target.path}::{target.qualname} {kind} {number}"
        yield Fault(name, "planted", tree, (Edit(now, target.source),), red, near, seen)


def _executed(tree: Tree, clean: SuiteRun) -> list[Target]:
    """The functions of the project's source whose bodies tests execute."""
    if clean.spectrum is None:
        return []
    lines: dict[str, set[int]] = {}
    for path, line in clean.spectrum.locations:
        if is_source(path) and path.endswith(".py"):
            lines.setdefault(path, set()).add(line)
    found: list[Target] = []
    for path in sorted(lines):
        try:
            known = targets(path, tree.read(path).decode())
        except (KeyError, SourceRejected, UnicodeDecodeError, SyntaxError):
            continue
        found += [t for t in known if any(t.first_line < n <= t.last_line for n in lines[path])]
    return found


def _pooled(made: RunContext, fault: Fault, visible: int) -> dict[str, Any] | None:
    """Search with so many of the failing tests; the measured pool, None where nothing passes."""
    rng = random.Random(fault.name)
    shown = sorted(rng.sample(fault.red, min(visible, len(fault.red))))
    hidden = set(fault.red).difference(shown)
    run = replace(made.run, deadline=min(made.run.deadline, made.run.clock() + _SEARCH_SECONDS))
    context = replace(made, run=run, tree=fault.tree)
    begin = time.monotonic()
    suite = _without(fault.suite, hidden)
    found = [result.as_failure() for result in suite.red if result.test in set(shown)]
    baseline = Baseline(tuple(Reproduced(one, FailureStatus.CONFIRMED) for one in found), suite, 1)
    clusters = collection_suspects.locate(run, baseline, fault.tree)
    if not clusters:
        return None
    cluster, log = clusters[0], AttemptLog(fault.tree, spectrum=baseline.suite.spectrum)
    judge, limits = partial(open_session, context, baseline), SearchLimits(_CANDIDATES)
    # The first winner comes when the search has ended.
    next(search_cluster(run, cluster, (), (TemplateProposer(),), judge, log, limits), None)
    fixes = [a for a in log.attempts if a.verdict.status == VerdictStatus.FIXED]
    row = {
        "case": fault.name, "origin": fault.origin, "visible": len(shown),
        "red": len(fault.red), "suspects": len(cluster.suspects),
        "tried": sum(search.tried for search in log.searches),
        "rank": _rank(cluster, fault.right), "seconds": round(time.monotonic() - begin, 1),
        "honest": _measure_right(replace(made, run=run), fault),
    }  # fmt: skip
    if not fixes:
        return row | {"groups": []}
    known = {failure.test: failure for failure in cluster.failures}
    fixed = [known[test] for test in fixes[0].verdict.fixed if test in known]
    more = replace(made.run, deadline=made.run.clock() + 60)
    context = replace(context, run=more)
    with open_session(context, baseline, cluster, ()) as session:
        # Calls are made by what has judged.
        list(session.judge([fixes[0].candidate]))
        pool = compare_patches(session, fixes, len(fixed))
        groups = pool.groups()
        first = next(choose_patches(session, fixes, fixed, lambda attempt: False, SURE))
    labels = _label(replace(made, run=more), fault, pool, [group[0] for group in groups])
    told = [
        {"right": label, "why": why, "family": pool.fixes[group[0]].candidate.family,
         "rest": round(_measure_rest(pool.fixes[group[0]].candidate), 4),
         **{k: round(v, 4) for k, v in measure_group(pool, group).items()}}
        for group, (label, why) in zip(groups, labels, strict=True)
    ]  # fmt: skip
    offer = _describe_offer(first, [[pool.fixes[at].number for at in group] for group in groups])
    return row | {"uncompared": pool.uncompared, "groups": told, "offer": offer}


def _measure_rest(candidate: Candidate) -> float:
    """What a patch costs beside the usual changes of its families: tier, suspect and line."""
    names = candidate.family.split(" + ")
    return candidate.prior - sum(load_costs().compute_cost(name, Tier.USUAL) for name in names)


def _describe_offer(first: Attempt, groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Which group would be offered, how it is rated, and which other one a question is about."""
    places = {number: at for at, group in enumerate(groups) for number in group}
    rated, rival = first.confidence, first.rival
    return {
        "at": places[first.number], "level": str(rated.level) if rated else "",
        "p": rated.p if rated else 0.0, "lacks": bool(first.lacks), "likely": first.is_likely,
        "rival": places[rival.attempt] if rival else None,
    }  # fmt: skip


def _measure_right(made: RunContext, fault: Fault) -> dict[str, Any] | None:
    """How many calls that no test makes the right change was tried on, and whether it is refused.

    None where it could not be called.
    """
    red = [Failure(test, "", "") for test in fault.red]
    right = Candidate(fault.right, "right", "right")
    run = replace(made.run, deadline=made.run.clock() + 30)
    with made.runner.warm(run, fault.tree, made.env, red, fault.near[:_GUARDS]) as session:
        verdict = next(iter(session.judge([right])), None) if fault.right else None
        if verdict is None or verdict.status != VerdictStatus.FIXED:
            return None
        calls = session.call([right])
        if len(calls.rows) != 2 or not calls.rows[1]:
            return None
        varied = len(calls.rows[0]) - calls.examples - calls.recorded
        return {"varied": varied, "refused": bool(explain_lookup(calls))}


def _without(suite: SuiteRun, tests: set[str]) -> SuiteRun:
    """A run as if there were no such tests."""
    spectrum = suite.spectrum
    if spectrum is not None:
        hits = {test: bits for test, bits in spectrum.hits.items() if test not in tests}
        spectrum = replace(spectrum, hits=hits)
    return replace(
        suite, results=tuple(r for r in suite.results if r.test not in tests),
        collected=tuple(t for t in suite.collected if t not in tests), spectrum=spectrum,
    )  # fmt: skip


def _rank(cluster: Cluster, right: Sequence[Edit]) -> int:
    """The place of the guilty function among the suspects; -1 where it is none."""
    wanted = {(e.target.path, e.target.qualname, e.target.nth) for e in right}
    places = [
        n for n, s in enumerate(cluster.suspects)
        if (s.target.path, s.target.qualname, s.target.nth) in wanted
    ]  # fmt: skip
    return places[0] if places else -1


def _label(
    made: RunContext, fault: Fault, pool: Pool, chosen: Sequence[int]
) -> list[tuple[bool | None, str]]:
    """Whether each patch is right: by the text, by all tests that tell, by its calls' results."""
    fixes = [pool.fixes[at].candidate for at in chosen]
    found: dict[int, tuple[bool | None, str]] = {
        n: (True, "same") for n, fix in enumerate(fixes) if _is_same(fix.edits, fault.right)
    }
    asked = [n for n in range(len(fixes)) if n not in found]
    right = Candidate(fault.right, "right", "right")
    red = [Failure(test, "", "") for test in fault.red]
    guards = [test for test in fault.near if test not in set(fault.red)][:_GUARDS]
    with made.runner.warm(made.run, fault.tree, made.env, red, guards) as session:
        verdicts = list(
            session.judge([*(fixes[n] for n in asked), *([right] if fault.right else [])])
        )
        if fault.right and verdicts[-1].status != VerdictStatus.FIXED:
            return [found.get(n, (None, "release does not pass")) for n in range(len(fixes))]
        passing: list[int] = []
        for n, verdict in zip(asked, verdicts, strict=False):
            if verdict.status == VerdictStatus.FIXED:
                passing.append(n)
            elif verdict.status in {VerdictStatus.ERROR, VerdictStatus.TIMEOUT}:
                found[n] = (None, verdict.detail[:80])
            else:
                found[n] = (False, "suite")
        found |= (
            _compare(session, right, {n: fixes[n] for n in passing})
            if fault.right
            else dict.fromkeys(passing, (None, "no edit to compare with"))
        )
    return [found[n] for n in range(len(fixes))]


def _compare(
    session: Session, right: Candidate, fixes: dict[int, Candidate]
) -> dict[int, tuple[bool | None, str]]:
    """Patches beside the right one, on the calls of all tests and on varied ones."""
    counts = dict.fromkeys(fixes, 0)
    found: dict[int, tuple[bool | None, str]] = {}
    for seed in _SEEDS if fixes else ():
        left = [n for n in fixes if n not in found]
        calls = session.call([right, *(fixes[n] for n in left)], seed)
        if len(calls.rows) < 2 + len(left) or not calls.rows[1]:
            break
        for n, row in zip(left, calls.rows[2:], strict=True):
            for one, other in zip(calls.rows[1], row, strict=False):
                if "skipped" in (one.how, other.how):
                    continue
                counts[n] += 1
                if one.mark != other.mark:
                    found[n] = (False, "calls")
                    break
    for n, count in counts.items():
        found.setdefault(
            n, (True, f"{count} calls") if count >= _ALIKE else (None, f"{count} calls")
        )
    return found


def _is_same(ours: Sequence[Edit], theirs: Sequence[Edit]) -> bool:
    """Whether two patches are the same text but for layout."""
    one = {
        (e.target.path, e.target.qualname, e.target.nth): split_tokens(e.new_source) for e in ours
    }
    two = {
        (e.target.path, e.target.qualname, e.target.nth): split_tokens(e.new_source) for e in theirs
    }
    return bool(theirs) and one == two


def main(argv: list[str]) -> int:
    """Collect the pools of all projects that may take part."""
    asked = options_of("fit.pools").parse_args(argv)
    data = asked.data.resolve()
    names = [c.repository for c in clones(data) if asked.only in c.repository]
    names = [n for n in names if recipes.split(n) == asked.split and not is_benchmarked(n)]
    if asked.origin == "fix":
        with_fix = {r.repository for r in recipes.load("fixes")}
        names = [name for name in names if name in with_fix]
    names.sort(key=lambda name: _weigh_tests(find(data, name)))
    work = partial(collect, data=data, origin=asked.origin, seed=asked.seed, split=asked.split)
    print(json.dumps({"pools": sum(side_by_side(work, names, asked)), "projects": len(names)}))
    return 0


def _weigh_tests(clone: Clone) -> int:
    """The bytes of a project's tests: little suites come first, so that many take part."""
    rows = [row.split(maxsplit=4) for row in clone.git("ls-tree", "-r", "-l", "HEAD").splitlines()]
    return sum(int(size) for *_, size, path in rows if is_test(path) and size.isdigit())


def is_benchmarked(repository: str) -> bool:
    """Whether a project is one that the development sets are made of."""
    name = repository.rpartition("/")[2].lower()
    return name.removeprefix("python-") in {one.name for one in LIBRARIES}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
