"""Source that does not parse or import: one cause, however many test files it keeps out."""

from __future__ import annotations

from dataclasses import replace

from heal_bot.core.events import Run
from heal_bot.core.model import Baseline, Broken, Cluster, Failure, History, Suspect
from heal_bot.fault_localization import failure_signatures, ranking
from heal_bot.fault_localization.ranking import NO_HISTORY
from heal_bot.fault_localization.target_index import Places
from heal_bot.ports import Tree
from heal_bot.source import edit, line_targets


def locate(
    run: Run,
    baseline: Baseline,
    tree: Tree,
    hints: tuple[str, ...] = (),
    history: History = NO_HISTORY,
) -> tuple[Cluster, ...]:
    """The confirmed failures as clusters: first those of broken source, which hide others."""
    places: dict[tuple[str, int], list[Failure]] = {}
    for failure in baseline.confirmed:
        if failure.broken is not None:
            places.setdefault((failure.broken.path, failure.broken.line), []).append(failure)
    others = tuple(r for r in baseline.reproduced if r.failure.broken is None)
    ranked = ranking.locate(run, replace(baseline, reproduced=others), tree, hints, history)
    known = Places(tree, baseline.suite.collected)
    found = [_cluster(tuple(failures), known) for failures in places.values()]
    return (*sorted(found, key=lambda c: (-len(c.failures), c.failures[0].test)), *ranked)


def _cluster(failures: tuple[Failure, ...], places: Places) -> Cluster:
    broken = failures[0].broken
    assert isinstance(broken, Broken)
    signature = f"{broken.path}:{broken.line}: {broken.message}"
    suspects: tuple[Suspect, ...] = ()
    if places.is_project(broken.path):
        target = line_targets.find_statement(
            broken.path, edit.text_of(places.tree, broken.path), broken.line
        )
        suspects = (Suspect(target, 1.0, (broken.said,)),) if target else ()
    return Cluster(failure_signatures.name_cluster(failures), failures, suspects, signature)
