"""The offline tier: candidates of all rule families, cheapest and most suspicious first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from heal_bot.events import Noted, Run
from heal_bot.model import Attempt, Candidate, Cost, Edit, Suspect, Target
from heal_bot.ports import Brief, Recall
from heal_bot.repair.rules.doubt import doubt
from heal_bot.repair.rules.evidence import gather
from heal_bot.repair.rules.identity import fingerprint, is_ugly
from heal_bot.repair.rules.queue import Idea, order, rank_cost
from heal_bot.repair.rules.scope import Scope, look
from heal_bot.repair.rules.site import survey
from heal_bot.repair.rules.surroundings import explore
from heal_bot.repair.rules.text import applied
from heal_bot.source.guard import SourceRejected

_SUSPECTS = 5
_IMPROVERS = 30
_SECOND_ROOF = 4.0


class Rules:
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
        seen = self._proposed.setdefault(brief.cluster.id, set())
        yield from self._pairs(run, brief, seen)
        yield from self._singles(run, brief, seen)
        later = recall()
        if len(later.partial) > len(brief.partial):
            yield from self._pairs(run, later, seen)

    def _singles(self, run: Run, brief: Brief, seen: set[int]) -> Iterator[Candidate]:
        suspects = brief.cluster.suspects[:_SUSPECTS]
        best = suspects[0].score if suspects else 0.0
        scopes: list[tuple[Scope, float]] = []
        for rank, suspect in enumerate(suspects):
            scope = _scope(run, brief, suspect, suspect.target.source, suspect.lines)
            if scope is not None:
                scopes.append((scope, rank_cost(rank, suspect.score, best)))
        for idea in order(scopes):
            source = _realized(idea, seen)
            if source is not None:
                edit = Edit(idea.scope.site.target, source)
                prior = idea.cost + doubt(idea)
                yield Candidate((edit,), self.name, idea.family.name, idea.change.why, prior=prior)

    def _pairs(self, run: Run, brief: Brief, seen: set[int]) -> Iterator[Candidate]:
        """Cheap edits on top of the attempts that fixed most, without breaking anything."""
        known = {s.target: s for s in brief.cluster.suspects}
        improvers = [a for a in brief.partial if len(a.candidate.edits) == 1]
        improvers.sort(key=lambda a: (-len(a.verdict.fixed), a.number))
        scopes: list[tuple[Scope, float]] = []
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
        for idea in order(scopes, roof=_SECOND_ROOF):
            source = _realized(idea, seen)
            if source is None:
                continue
            start = first[id(idea.scope)].candidate
            why = f"{start.rationale}; {idea.change.why}"
            edit = Edit(idea.scope.site.target, source)
            family = f"{start.family} + {idea.family.name}"
            prior = start.prior + idea.cost + doubt(idea)
            yield Candidate((edit,), self.name, family, why, prior=prior)


def _scope(
    run: Run, brief: Brief, suspect: Suspect, source: str, lines: Mapping[int, float] | None
) -> Scope | None:
    """The parsed suspect; None, with a note, where it cannot be parsed alone."""
    target = suspect.target
    try:
        site = survey(target, source, lines)
    except SourceRejected as error:
        where = f"{target.path}:{target.first_line} {target.qualname}"
        run.emit(Noted(stage="repair", message=f"rules skip {where}: {error}", level="warning"))
        return None
    scope = look(site, explore(brief.tree, target), gather(brief.cluster.failures))
    text = site.source.decode()
    plain = fingerprint(text)
    scope.loose = plain is None
    scope.original = (fingerprint(text, loose=True) if plain is None else plain) or 0
    return scope


def _realized(idea: Idea, seen: set[int]) -> str | None:
    """The changed source; None when it is no Python, nothing new, or needlessly roundabout."""
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
    if mark is None:
        return None
    key = hash((site.target.path, site.target.qualname, site.target.nth, site.target.kind, mark))
    if mark == idea.scope.original or key in seen:
        return None
    seen.add(key)
    return site.own(text)


def moved(
    target: Target, source: str, lines: Mapping[int, float] | None
) -> dict[int, float] | None:
    """Suspicion by file line for a changed source; new lines are as suspicious as the worst."""
    if not lines:
        return None
    old, new = target.source.splitlines(), source.splitlines()
    hottest = max(lines.values())
    result: dict[int, float] = {}
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for at in range(c, d):
            if tag == "equal":
                known = lines.get(target.first_line + a + at - c)
                if known is not None:
                    result[target.first_line + at] = known
            else:
                result[target.first_line + at] = hottest
        del b
    return result
