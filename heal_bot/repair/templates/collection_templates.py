"""Candidates for source that keeps tests from being collected, and how strong the evidence is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from heal_bot.core.model import Attempt, Candidate
from heal_bot.ports import Brief
from heal_bot.repair.templates import import_repair, syntax_repair
from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.source import edit, guard

# Up to this a change is what the history tells, and not only likely.
_KNOWN = Tier.USUAL


def candidates(brief: Brief, name: str) -> Iterator[Candidate]:
    """Changes of the lines that do not parse or import, the likeliest first."""
    failure = brief.cluster.failures[0]
    broken, suspects = failure.broken, brief.cluster.suspects
    if broken is None or not suspects:
        return
    text, target = edit.text_of(brief.tree, broken.path), suspects[0].target
    try:
        guard.parse(text)
    except guard.SourceRejected:
        family = "syntax"
        found = syntax_repair.repairs(brief.tree, broken.path, text, broken.line)
    else:
        family = "import"
        found = import_repair.repairs(brief.tree, target, text, failure)
    for change, rarity, why in sorted(found, key=lambda item: item[1]):
        yield Candidate((change,), name, family, why, prior=rarity)


def ordered(fixes: Sequence[Attempt]) -> Iterator[Attempt]:
    """What passes, the likeliest first, with what speaks against it: others that pass as well."""
    ranked = sorted(fixes, key=lambda fix: fix.candidate.prior)
    for place, fix in enumerate(ranked[:3]):
        rivals = [
            other.candidate.rationale
            for other in (*ranked[:place], *ranked[place + 1 :])
            if fix.candidate.prior > _KNOWN or other.candidate.prior <= _KNOWN
        ]
        lacks = (f"another change passes as well: {rivals[0]}",) if rivals else None
        yield replace(fix, lacks=lacks)
