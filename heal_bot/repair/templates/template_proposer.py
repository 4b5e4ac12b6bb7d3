"""The offline tier: candidates of all rule families, cheapest and most suspicious first."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial

from heal_bot.core.events import Run
from heal_bot.core.model import Attempt, Candidate, Cost, Edit, Suspect, Target
from heal_bot.core.text import one_line
from heal_bot.ports import Brief, Recall
from heal_bot.repair.templates import collection_templates, missing_import
from heal_bot.repair.templates.failure_hints import gather, with_examples
from heal_bot.repair.templates.module_context import explore
from heal_bot.repair.templates.mutation_context import MutationContext, look
from heal_bot.repair.templates.priced_enumeration import Idea, order, rank_cost
from heal_bot.repair.templates.program_identity import fingerprint, is_ugly
from heal_bot.repair.templates.target_ast import survey
from heal_bot.repair.templates.template_table import Template
from heal_bot.repair.templates.text_edits import applied
from heal_bot.source.guard import SourceRejected
from heal_bot.source.patch_policy import MAX_SOURCE

_SUSPECTS = 5
# How far behind them values are tried too; not measured.
_MOST = 10
_IMPROVERS = 30
# Improvers that are tried together with changes of other functions.
_BESIDE = 6
_SECOND_ROOF = 8.0


class TemplateProposer:
    """Implements the Proposer port with edits alone: no model, no key, no cost.

    A second search of the same cluster goes on where the first ended: what was proposed is not
    proposed again. Where attempts improved the cluster, edits on top of them come first.
    """

    name = "rules"
    streams = True
    notes: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._proposed: dict[str, set[int]] = {}

    def spent(self) -> Cost:
        """Nothing: no model is asked."""
        return Cost()

    def propose(self, run: Run, recall: Recall) -> Iterator[Candidate]:
        """Candidates one by one; none is made before it is asked for."""
        brief = recall()
        if brief.cluster.failures[0].broken is not None:
            yield from collection_templates.candidates(brief, self.name)
            return
        seen = self._proposed.setdefault(brief.cluster.id, set())
        yield from self._pairs(run, brief, seen)
        yield from self._singles(run, brief, seen)
        later = recall()
        if len(later.partial) > len(brief.partial):
            yield from self._pairs(run, later, seen)

    def _singles(self, run: Run, brief: Brief, seen: set[int]) -> Iterator[Candidate]:
        suspects = _select(brief.cluster.suspects)
        best = suspects[0].score if suspects else 0
        scopes: list[tuple[MutationContext, float]] = []
        for rank, suspect in enumerate(suspects):
            scope = _scope(run, brief, suspect, suspect.target.source, suspect.lines)
            if scope is not None:
                scope.frame = _frame(suspect.target, suspects)
                scopes.append((scope, rank_cost(rank, suspect.score, best)))
        for idea in order(scopes, skipped=partial(_skipped, run)):
            edit = _realized(idea, seen)
            if edit is not None:
                name, why = idea.family.name, idea.change.why
                yield Candidate((edit,), self.name, name, why, prior=idea.cost)

    def _pairs(self, run: Run, brief: Brief, seen: set[int]) -> Iterator[Candidate]:
        """Cheap edits on top of the attempts that fixed most, without breaking anything.

        The second edit is in the function of the first one, or in another suspect.
        """
        known = {s.target: s for s in brief.cluster.suspects}
        improvers = [a for a in brief.partial if len(a.candidate.edits) == 1]
        improvers.sort(key=lambda a: (-len(a.verdict.fixed), a.number))
        scopes: list[tuple[MutationContext, float]] = []
        first: dict[int, Attempt] = {}
        for rank, attempt in enumerate(improvers[:_IMPROVERS]):
            edit = attempt.candidate.edits[0]
            suspect = known.get(edit.target)
            if suspect is None:
                continue
            lines = moved(edit.target, edit.new_source, suspect.lines)
            scope = _scope(run, brief, suspect, edit.new_source, lines)
            if scope is not None:
                first[id(scope)] = attempt
                scopes.append((scope, 0.15 * rank))
            for scope, extra in self._beside(run, brief, edit.target, rank):
                first[id(scope)] = attempt
                scopes.append((scope, extra))
        for idea in order(scopes, roof=_SECOND_ROOF, skipped=partial(_skipped, run)):
            start = first[id(idea.scope)].candidate
            (before,) = start.edits
            second = _realized(idea, seen, before)
            if second is None:
                continue
            why = f"{start.rationale}; {idea.change.why}"
            family = f"{start.family} + {idea.family.name}"
            prior = start.prior + idea.cost
            both = (second,) if second.target == before.target else (before, second)
            yield Candidate(both, self.name, family, why, prior=prior)

    def _beside(
        self, run: Run, brief: Brief, changed: Target, rank: int
    ) -> Iterator[tuple[MutationContext, float]]:
        """The other suspects, for the first improvers, each dearer than the function itself."""
        suspects = brief.cluster.suspects[:_SUSPECTS] if rank < _BESIDE else ()
        for place, suspect in enumerate(s for s in suspects if s.target != changed):
            scope = _scope(run, brief, suspect, suspect.target.source, suspect.lines)
            if scope is not None:
                yield scope, 0.15 * rank + 0.3 * (place + 1)


def _select(suspects: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """The likeliest suspects, and values behind them, of which there are few changes."""
    values = (one for one in suspects[_SUSPECTS:_MOST] if one.target.is_value)
    return (*suspects[:_SUSPECTS], *values)


def _skip(run: Run, target: Target, why: str) -> None:
    where = f"{target.path}:{target.first_line} {target.qualname}"
    run.warn("repair", f"rules skip {where}: {why}")


def _skipped(run: Run, scope: MutationContext, family: Template, error: Exception) -> None:
    """One family is left out for a target."""
    _skip(run, scope.site.target, f"{family.name}: {one_line(str(error), 100)}")


def _scope(
    run: Run, brief: Brief, suspect: Suspect, source: str, lines: Mapping[int, float] | None
) -> MutationContext | None:
    """The parsed suspect; None, with a note, where it cannot be parsed alone or is all data."""
    target = suspect.target
    if len(target.source) > MAX_SOURCE:
        _skip(run, target, f"{len(target.source):,} characters, more than a patch may rewrite")
        return None
    try:
        site = survey(target, source, lines)
    except SourceRejected as error:
        _skip(run, target, str(error))
        return None
    told = ast.get_docstring(site.function) if site.function is not None else None
    evidence = with_examples(gather(brief.cluster.failures), told or "")
    scope = look(site, explore(brief.tree, target), evidence)
    scope.importable = missing_import.lines(brief.tree, target.path, evidence)
    text = site.source.decode()
    plain = fingerprint(text)
    scope.loose = plain is None
    scope.original = (fingerprint(text, loose=True) if plain is None else plain) or 0
    return scope


def _realized(idea: Idea, seen: set[int], before: Edit | None = None) -> Edit | None:
    """The edit of an idea; None when it is no Python, nothing new, or needlessly roundabout.

    `before` is what it stands on: its source is that of the scope, or of another function.
    """
    site, change = idea.scope.site, idea.change
    raw = applied(site.source, change.cuts)
    growth = 0
    for cut in sorted(change.cuts, key=lambda c: c.start):
        end = cut.start + growth + len(cut.text.encode())
        begin = cut.start + growth
        if is_ugly(raw, begin, end) and not is_ugly(site.source, cut.start, cut.end):
            return None
        growth = end - cut.end
    text = raw.decode()
    mark = fingerprint(text, loose=idea.scope.loose)
    if mark is None and idea.scope.around.enclosing:
        # With `nonlocal` an inner function compiles inside the outer one alone.
        mark = fingerprint(text, loose=True)
    if mark is None or (mark == idea.scope.original and not change.imports):
        return None
    target, imports = site.target, change.imports
    elsewhere = before is not None and before.target != target
    base = before.new_source if before is not None and elsewhere else ""
    if before is not None and not elsewhere:
        imports = (*before.imports, *imports)
    key = hash((target.path, target.qualname, target.nth, target.kind, mark, imports, base))
    own = site.own(text)
    # A change of an inner function is one of the outer function too.
    whole = own.join(idea.scope.frame).rstrip()
    same = hash((target.path, whole, imports, base))
    if key in seen or same in seen:
        return None
    seen.update((key, same))
    return Edit(target, own, imports)


def _frame(target: Target, suspects: Sequence[Suspect]) -> tuple[str, str]:
    """What a suspect around a target has before and after it; nothing where there is none."""
    around = [
        s.target
        for s in suspects
        if s.target.path == target.path
        and s.target.kind == target.kind == "function"
        and s.target.first_line < target.first_line <= target.last_line <= s.target.last_line
    ]
    if not around:
        return "", ""
    outer = min(around, key=lambda found: found.first_line)
    lines = outer.source.splitlines(keepends=True)
    first, last = target.first_line - outer.first_line, target.last_line - outer.first_line + 1
    return "".join(lines[:first]), "".join(lines[last:])


def moved(
    target: Target, source: str, lines: Mapping[int, float] | None
) -> dict[int, float] | None:
    """Suspicion by file line for a changed source; new lines are as suspicious as the worst."""
    if not lines:
        return None
    old, new = target.source.splitlines(), source.splitlines()
    hottest = max(lines.values())
    result: dict[int, float] = {}
    for tag, a, _, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for at in range(c, d):
            if tag == "equal":
                known = lines.get(target.first_line + a + at - c)
                if known is not None:
                    result[target.first_line + at] = known
            else:
                result[target.first_line + at] = hottest
    return result
