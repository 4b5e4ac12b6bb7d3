"""Which of the changes that pass the same tests comes first, how sure it is, and what it lacks.

Patches are grouped by what their functions do on the arguments of the tests' calls and on varied
ones; a group is as dear as its cheapest member, and dearer the more varied calls it changes to what
neither the code nor, where a commit broke the tests, the code before that commit does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from heal_bot.core.model import Attempt, CallResult, Calls, Confidence, Edit, Failure, Rival
from heal_bot.core.statuses import ConfidenceLevel, VerdictStatus
from heal_bot.core.text import count, one_line
from heal_bot.ports import Session
from heal_bot.repair.ranking import behavioral_diff
from heal_bot.repair.ranking.patch_pool import Pool, compare_patches
from heal_bot.repair.ranking.patch_probability import load_model, measure_features

# What a patch loses that changes all varied calls (`ranked` of `python -m benchmarks fit`).
CHANGED = 2.0
# What fails in the cold run is followed by a patch that behaves differently.
_OFFERED = 3
# How many failing tests, and different calls of theirs, vouch for a patch at the least.
_TESTS = 2
_CLIP = 80
_TWO = "it takes two changes at once, and how often such are right is not known"
LOOKUP = "for arguments that no test uses it returns answers of the tests, or always the same"


@dataclass(frozen=True, slots=True)
class _Group:
    """Patches that do the same on every call; `row` what they do.

    `inputs` counts the calls with different arguments that failing tests make and that they change,
    None where no call could be repeated; `spoiled` are the calls of passing tests, in words, that
    they change to what the code before a commit did not do.
    """

    members: tuple[Attempt, ...]
    cost: float
    row: tuple[CallResult, ...]
    inputs: int | None
    spoiled: tuple[str, ...]
    objections: tuple[str, ...]

    @property
    def is_refuted(self) -> bool:
        """Whether what worked does not work with these, or a call speaks against them."""
        return bool(self.spoiled or self.objections)


def choose_patches(
    session: Session,
    fixes: Sequence[Attempt],
    failures: Sequence[Failure],
    failed: Callable[[Attempt], bool],
    least: float,
    former: Sequence[Edit] = (),
) -> Iterator[Attempt]:
    """One patch of each of the first groups, in the order to offer them, with what each lacks.

    `former` are the functions that a commit broke, as they were before. The patches pass all of the
    `failures`, which are to pass. One that was offered, and `failed` in the cold run, is no rival
    of the next. One that is right with the probability `least` lacks nothing.
    """
    pool = compare_patches(session, fixes, len(failures), former)
    groups = _groups(pool)
    for group in groups[:_OFFERED]:
        others = [g for g in groups if g is not group and not failed(g.members[0])]
        rivals = _rivals(group, others)
        missing = _lacks(pool, group, rivals)
        attempt = _weigh([group, *others], len(failures), least, missing)
        rival = _find_rival(pool, group, rivals)
        if rival is not None and len(rivals) == 1:
            left = [other for other in others if other is not rivals[0]]
            rival = replace(rival, alone=_weigh([group, *left], len(failures), least, ()))
        yield replace(attempt, rival=rival)


def _weigh(
    groups: Sequence[_Group], failures: int, least: float, missing: tuple[str, ...]
) -> Attempt:
    """The first patch of the first of some groups, with how likely it is to be right.

    Where that is high, what its evidence is missing is a doubt, and else what it lacks. A partial
    fix, and what another run found among others that are not known here, are not rated; neither
    is what takes two changes, of which no search with a known repair found one.
    """
    first = groups[0].members[0]
    if first.candidate.lacks is not None or first.verdict.status != VerdictStatus.FIXED:
        return replace(first, lacks=missing)
    if " + " in first.candidate.family:
        return replace(first, lacks=missing or (_TWO,))
    priors = [group.members[0].candidate.prior for group in groups]
    features = measure_features(failures, priors, 0, strong=not missing)
    confidence = _cap(load_model().rate(features, least), groups[0], failures)
    if confidence.level is ConfidenceLevel.HIGH:
        doubts = (*first.doubts, *missing)
        return replace(first, lacks=(), doubts=doubts, confidence=confidence)
    return replace(first, lacks=missing or (confidence.ground,), confidence=confidence)


def _cap(confidence: Confidence, group: _Group, failures: int) -> Confidence:
    """Low where something refutes a group, never more than medium for one failing test alone."""
    if group.is_refuted:
        return replace(confidence, level=ConfidenceLevel.LOW)
    if failures == 1 and confidence.level is ConfidenceLevel.HIGH:
        return replace(confidence, level=ConfidenceLevel.MEDIUM)
    return confidence


def compare_calls(session: Session, one: Attempt, other: Attempt) -> tuple[int, str]:
    """How many calls two changes were compared on, and one on which they differ; '' if none."""
    calls = session.call((one.candidate, other.candidate))
    rows = calls.rows[1:] if len(calls.rows) == 3 else ((), ())
    first, second = behavioral_diff.outcome_signatures(rows)
    if not first or not second:
        return 0, ""
    names = f"attempt {one.number}", f"attempt {other.number}"
    return len(first), "" if first == second else _told_apart(rows, names, calls)


def explain_lookup(calls: Calls) -> str:
    """That the one change that was called holds the tests' answers instead of computing, or ''."""
    if len(calls.rows) != 2 or not calls.rows[1]:
        return ""
    unchanged, row = (row[: len(row) - calls.examples] for row in calls.rows)
    return LOOKUP if behavioral_diff.is_lookup(unchanged, row, calls.recorded) else ""


def _rivals(first: _Group, others: Sequence[_Group]) -> list[_Group]:
    """The groups that speak against one; what spoils something that worked rivals none."""
    return [group for group in others if first.is_refuted or not group.is_refuted]


def _lacks(pool: Pool, first: _Group, rivals: Sequence[_Group]) -> tuple[str, ...]:
    """What the evidence for a group that was found among many others lacks, in sentences.

    Of thousands of changes some pass a test by accident. Nothing is lacking where at least two
    failing tests of different inputs pass with it, a third test calls what it changes, nothing
    changes that worked, and no other change passes that behaves otherwise. How often that is right
    is one of the numbers in `patch_probability`.
    """
    told = _list_untested(pool, first.inputs)
    if rivals:
        told.append(_rivalry(first, rivals, pool.calls))
    if pool.uncompared:
        changes = count(pool.uncompared, "change")
        told.append(f"{changes} more that also pass the failing tests were not compared with it")
    if first.spoiled:
        calls = count(len(first.spoiled), "call")
        told.append(f"it changes {calls} that passing tests make: {first.spoiled[0]}")
    return (*told, *first.objections)


def _list_untested(pool: Pool, inputs: int | None) -> list[str]:
    """What the failing tests do not show, by how many calls with different arguments they make."""
    if pool.failures < _TESTS:
        return ["one failing test alone vouches for it"]
    if inputs is None:
        return ["no call of what it changes could be repeated: what else it changes is not known"]
    if inputs < _TESTS:
        tests = count(pool.failures, "failing test")
        return [f"{tests} pass with it, and they do not call what it changes with different inputs"]
    if pool.failures == _TESTS and not pool.calls.worked:
        return ["two failing tests vouch for it, and no passing test calls what it changes"]
    return []


def _find_rival(pool: Pool, first: _Group, rivals: Sequence[_Group]) -> Rival | None:
    """The first rival, where either lacks nothing else and a call tells both from all others."""
    if not rivals or any(_lacks(pool, group, ()) for group in (first, rivals[0])):
        return None
    found = _deciding_call([group.row for group in (first, *rivals)], pool.calls)
    if found is None:
        return None
    call, answers = found
    return Rival(rivals[0].members[0].number, call, answers)


def _rivalry(first: _Group, rivals: Sequence[_Group], calls: Calls) -> str:
    """That others pass too, and a call on which the first of them differs."""
    changes = sum(len(group.members) for group in rivals)
    told = f"{changes} other changes also pass the failing tests and behave differently"
    if changes == 1:
        told = "one other change also passes the failing tests and behaves differently"
    names = _name(first), _name(rivals[0])
    difference = _told_apart((first.row, rivals[0].row), names, calls)
    return f"{told}: {difference or names[1]}"


def _groups(pool: Pool) -> list[_Group]:
    """Patches by behaviour, the likeliest group first."""
    found = [_group(pool, members) for members in pool.groups()]
    return sorted(found, key=lambda group: (group.is_refuted, group.cost))


def _group(pool: Pool, members: Sequence[int]) -> _Group:
    """Patches that behave alike, with what stands behind them and against them."""
    first, recorded = members[0], pool.calls.recorded
    row, fixes = pool.rows[first], [pool.fixes[at] for at in members]
    varied = (known[recorded:] for known in (pool.unchanged, row, pool.former))
    changed = behavioral_diff.changed_share(*varied)
    return _Group(
        members=tuple(fixes),
        cost=fixes[0].candidate.prior + CHANGED * changed,
        row=(*row, *pool.examples[1 + first]),
        inputs=pool.count_inputs(first),
        spoiled=tuple(_turned(pool, row, n) for n in pool.find_spoiled(first)),
        objections=_objections(pool, first),
    )


def _objections(shown: Pool, first: int) -> tuple[str, ...]:
    """What the calls show of a patch that no repair does."""
    found = {
        "an example in a docstring fails with it": behavioral_diff.is_contradicted(
            shown.examples, 1 + first
        ),
        LOOKUP: behavioral_diff.is_lookup(shown.unchanged, shown.rows[first], shown.calls.recorded),
    }
    return tuple(said for said, holds in found.items() if holds)


def _turned(shown: Pool, row: Sequence[CallResult], at: int) -> str:
    """What a call did, and does with a patch."""
    call, before, after = one_line(shown.calls.calls[at], _CLIP), shown.unchanged[at], row[at]
    if _said(before) == _said(after):
        return f"{call} {_said(after)} as before, and leaves what it was called on otherwise"
    return f"{call} {_said(before)} without it, and {_said(after)} with it"


def _told_apart(rows: Sequence[Sequence[CallResult]], names: Sequence[str], calls: Calls) -> str:
    """A call on which two rows differ, short ones first; '' where nothing was compared."""
    if not all(rows):
        return ""
    one, other = rows
    apart = [at for at in range(len(calls.calls)) if one[at].mark != other[at].mark]
    if not apart:
        return ""
    at = min(apart, key=lambda at: (_is_late(one[at], other[at]), len(calls.calls[at])))
    call = one_line(calls.calls[at], _CLIP)
    if _said(one[at]) == _said(other[at]):
        return f"{call} leaves what it was called on otherwise with {names[1]}"
    return f"{call} {_said(one[at])} with {names[0]}; it {_said(other[at])} with {names[1]}"


def _deciding_call(
    rows: Sequence[Sequence[CallResult]], calls: Calls
) -> tuple[str, tuple[str, str]] | None:
    """The shortest call with what the first two rows give, where no other row gives either."""
    if not all(rows):
        return None
    found = []
    for call, *results in zip(calls.calls, *rows, strict=False):
        first, second, *others = answers = [_answer(result) for result in results]
        apart = first != second and {first, second}.isdisjoint(others)
        if apart and _is_whole(call) and all(answers):
            found.append((call, (first, second)))
    return min(found, key=lambda one: len(one[0]), default=None)


def _answer(result: CallResult) -> str:
    """What a call gives, as a person is asked for it; '' where nobody could tell."""
    if result.how == "raised":
        return f"raises {result.kind}"
    return result.text if result.how == "returned" and _is_whole(result.text) else ""


def _is_whole(text: str) -> bool:
    """Whether nothing of a text is cut or folded where it is shown."""
    return one_line(text, _CLIP) == text and "…" not in text


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
