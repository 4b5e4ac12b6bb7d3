"""Which of the patches that pass the same tests to offer, and when rather none.

Patches are grouped by what their functions do on the arguments of the tests' calls and on varied
ones. A group weighs what its members weigh together, a member by its cost: patches that agree
support each other, as in the vote that raised hidden correctness from 77 to 82 % of 115 searches
(cost alone against vote and family prior). An example in a docstring is one more test: it speaks
for the patch that makes it hold, and against one after which it does not hold any more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from heal_bot.model import Attempt, CallResult, Calls, Failure
from heal_bot.ports import Session
from heal_bot.repair import behaviour
from heal_bot.repair.behaviour import Key
from heal_bot.repair.belief import Grounds, Odds, is_believed, together
from heal_bot.repair.scrutiny import Findings, Scrutiny, scrutiny
from heal_bot.text import one_line

# Groups that are offered although another one weighs as much would be wrong every second time.
# Nor does one stand out that is hardly ahead of the next one; where a single test failed, or the
# tests make a single call, much passes by accident, and twice the weight is needed: of 76 programs
# that nobody had looked at, one with one failing test got a wrong patch that was 1.9 times ahead.
_SHARE, _AHEAD, _FAR_AHEAD = 0.5, 1.05, 2.0
_MOST = 24
# A change whose results are of a type that the function never returned before.
_STRANGE = 2.0
# What a patch loses that changes all that worked: much where the fault was a crash, since what
# did not crash was right; less where results were wrong, since some of the others may be too.
_NEW, _OTHER = 4.0, 1.0
# And one that crashes on all varied calls as the tests did, where no `raise` is meant to.
_CRASH = 3.0
# A condition that told calls apart before, and does not any more.
_VACUOUS = 2.0
# Every call returns the same, and they returned several things before: a hash of `True` is a hash.
_FLAT = 3.0
# For a single failing test, calls like those of the tests change and those of the tests do not: of
# 19 such patches for planted faults and 11 for programs of others, one did, and it was wrong.
_SPARING = 1.5
# Twice the sum would do what the patch's own does: one that the calls look at comes first. Alone it
# is believed like others: a limit that no test meets from above is right more often than not.
_INDIFFERENT = 2.0
# An example of a docstring fails that held before, or that holds after another patch.
_CONTRADICTED = 4.0
_ASSERTIONS = {"AssertionError", "Failed", ""}
_SHOWN = 3
# What fails in the cold run is followed by a patch that behaves differently.
_OFFERED = 3
_CLIP = 80


@dataclass(frozen=True, slots=True)
class Choice:
    """One patch of each of the first groups, in the order to offer them.

    With `refused` none is offered, and `ranked` are all of them. `difference` is a call on which
    the first groups differ, in words.
    """

    ranked: tuple[Attempt, ...]
    refused: str = ""
    difference: str = ""


@dataclass(frozen=True, slots=True)
class _Group:
    """Patches that do the same on every call; `row` what they do.

    `mended` is 1 where examples of docstrings hold since: they were written together.
    """

    members: tuple[Attempt, ...]
    weight: float
    row: tuple[CallResult, ...]
    grounds: Grounds
    mended: int = 0


def choose(
    session: Session, fixes: Sequence[Attempt], failures: Sequence[Failure], odds: Odds
) -> Choice:
    """Rank the patches that pass all tests of a cluster, of which these failed before.

    `odds` tell how easily they are passed.
    """
    few = tuple(sorted(fixes, key=lambda fix: fix.candidate.prior)[:_MOST])
    asked = scrutiny(few)
    calls = session.call([*(fix.candidate for fix in few), *asked.candidates])
    groups = _groups(few, asked, calls, failures)
    difference = _difference(groups, calls)
    if why := _refused(groups, len(fixes), len(failures), odds):
        return Choice(tuple(m for group in groups for m in group.members), why, difference)
    others = len(fixes) - len(groups[0].members)
    doubts = _doubts(others, difference)
    offered = tuple(replace(group.members[0], doubts=doubts) for group in groups[:_OFFERED])
    return Choice(offered, "", difference)


def _refused(groups: Sequence[_Group], fixes: int, failures: int, odds: Odds) -> str:
    """Why none of the groups is offered; '' when the first one is."""
    best = groups[0].weight
    rivals = [group.weight for group in groups[1:]]
    close = rivals and best < _SHARE * (best + sum(rivals)) and best <= 2 * rivals[0]
    seen = bool(rivals and groups[0].row and groups[1].row)
    many = failures + groups[0].mended > 1 and groups[0].grounds.recorded > 1
    ahead = _AHEAD if many else _FAR_AHEAD
    if close or (seen and best < ahead * rivals[0]):
        return f"{fixes} changes pass the same tests and behave in {len(groups)} ways"
    if not is_believed(groups[0].grounds, failures + groups[0].mended, odds):
        tests = "one test" if failures == 1 else f"{failures} tests"
        return f"what passes is too far-fetched for {tests} to vouch for it"
    return ""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What patches do on the calls, row by row, beside unchanged code, and what was asked of them.

    `examples` are those of docstrings, of unchanged code first. `crashes` are exceptions that the
    failing tests ended with, other than assertions, `faults` those that no statement raises, and
    `least` the share of calls that end with one after the best patch. `known` says whether a call
    of the tests stays as it was, `called` whether unchanged code could be called at all.
    """

    calls: Calls
    unchanged: tuple[CallResult, ...]
    rows: tuple[tuple[CallResult, ...], ...]
    examples: tuple[tuple[CallResult, ...], ...]
    keys: tuple[Key, ...]
    findings: Findings
    failures: int
    crashes: frozenset[str]
    faults: frozenset[str]
    least: float
    known: bool
    called: bool


def _shown(
    fixes: Sequence[Attempt], asked: Scrutiny, calls: Calls, failures: Sequence[Failure]
) -> _Shown:
    """After the patches, `calls` hold what was `asked` about them; nothing where none were made."""
    crashes = frozenset(f.kind for f in failures) - _ASSERTIONS
    faults = crashes - behaviour.refusals(e.target.source for f in fixes for e in f.candidate.edits)
    count = 1 + len(fixes) + len(asked.candidates)
    told = calls.rows if len(calls.rows) == count else ((),) * count
    keys = behaviour.keys([*told[1:], told[0]], len(fixes))
    some = told[: 1 + len(fixes)]
    unchanged, *rows = (row[: len(row) - calls.examples] for row in some)
    examples = tuple(row[len(row) - calls.examples :] for row in some)
    return _Shown(
        calls, unchanged, tuple(rows), examples, tuple(keys), asked.found(keys),
        len(failures), crashes, faults,
        least=min((behaviour.crashing(row, faults) for row in rows), default=0.0),
        known=behaviour.known(unchanged, rows, calls.recorded),
        called=any(result.how != "skipped" for result in unchanged),
    )  # fmt: skip


def _groups(
    fixes: Sequence[Attempt], asked: Scrutiny, calls: Calls, failures: Sequence[Failure]
) -> list[_Group]:
    """Patches by behaviour, the heaviest group first; without calls each is on its own."""
    shown = _shown(fixes, asked, calls, failures)
    found: dict[object, list[int]] = {}
    for at in range(len(fixes)):
        found.setdefault(shown.keys[at] or at, []).append(at)
    groups = [_group(shown, fixes, members) for members in found.values()]
    return sorted(groups, key=lambda group: -group.weight)


def _group(shown: _Shown, fixes: Sequence[Attempt], members: Sequence[int]) -> _Group:
    """Patches that behave alike, with what stands behind them and against them."""
    first, recorded = members[0], shown.calls.recorded
    row, findings = shown.rows[first], shown.findings
    any_sum = not findings.indifferent.isdisjoint(members)
    bad = _CRASH * behaviour.felt(behaviour.crashing(row, shown.faults) - shown.least)
    bad += _VACUOUS if findings.vacuous.issuperset(members) else 0.0
    if shown.failures == 1 and behaviour.is_sparing(shown.unchanged, row, recorded):
        bad += _SPARING
    bad += _FLAT if behaviour.is_flat(shown.unchanged, row) else 0.0
    bad += _CONTRADICTED if behaviour.is_contradicted(shown.examples, 1 + first) else 0.0
    changed = behaviour.share(shown.unchanged, row, recorded, shown.failures)
    apart = bad + (_INDIFFERENT if any_sum else 0.0)
    apart += (_NEW if shown.crashes else _OTHER) * behaviour.felt(changed)
    apart += _STRANGE if behaviour.is_strange(shown.unchanged, row, recorded) else 0.0
    penalty = bad + (_OTHER * behaviour.felt(changed) if shown.known else 0.0)
    costs = tuple(fixes[at].candidate.prior for at in members)
    # What does nothing agrees whatever is right: the cheapest speaks for all.
    alone = any_sum or not findings.inert.isdisjoint(members)
    weight = math.exp(-apart) * together(costs[:1] if alone else costs)
    ended = sum(result.how in {"returned", "raised"} for result in row)
    grounds = Grounds(costs, changed if row and shown.called else None, recorded, ended, penalty)
    mended = behaviour.mended(shown.examples[0], shown.examples[1 + first])
    whole = (*row, *shown.examples[1 + first])
    return _Group(tuple(fixes[at] for at in members), weight, whole, grounds, mended)


def _difference(groups: Sequence[_Group], calls: Calls) -> str:
    """A call on which the first groups do different things, recorded ones and short ones first."""
    if len(groups) < 2 or not groups[0].row or not groups[1].row:
        return ""
    one, other = groups[0].row, groups[1].row
    apart = [at for at in range(len(calls.calls)) if one[at].mark != other[at].mark]
    if not apart:
        return ""
    at = min(apart, key=lambda at: (_is_late(one[at], other[at]), len(calls.calls[at])))
    rows = [group.row[at] for group in groups[:_SHOWN] if group.row]
    told = [
        f"{_said(result)} with {_name(group)}" for result, group in zip(rows, groups, strict=False)
    ]
    return f"{one_line(calls.calls[at], _CLIP)} {'; it '.join(told)}"


def _is_late(*results: CallResult) -> bool:
    return any(result.how in {"late", "skipped"} for result in results)


def _said(result: CallResult) -> str:
    if result.how in {"held", "broken"}:
        return "gives what the docstring says" if result.how == "held" else "does not"
    if result.how == "returned":
        return f"returns {one_line(result.text, _CLIP)}"
    return f"raises {result.kind}" if result.how == "raised" else "does not end"


def _name(group: _Group) -> str:
    first = group.members[0]
    return one_line(first.candidate.rationale, _CLIP) or f"attempt {first.number}"


def _doubts(others: int, difference: str) -> tuple[str, ...]:
    """What a reviewer should know of the patches that were not taken."""
    if not others:
        return ()
    told = f"{others} other changes also pass the failing tests and behave differently"
    if others == 1:
        told = "one other change also passes the failing tests and behaves differently"
    return (f"{told}: {difference}" if difference else told,)
