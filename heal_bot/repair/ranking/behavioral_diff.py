"""What patches do on calls, beside what the code does unchanged: row against row."""

from __future__ import annotations

import ast
import contextlib
import math
import textwrap
from collections.abc import Iterable, Sequence

from heal_bot.core.model import CallResult

_FEW = 1 / 3
# How seldom chance alone may spare the tests' calls, of at least so many.
_CHANCE, _STAYING = 0.05, 4
# So many calls, and so many results before, show that it is the arguments that count.
_CALLS, _SEVERAL = 8, 3


def find_refusals(sources: Iterable[str]) -> frozenset[str]:
    """The exceptions that functions raise by a statement of their own: to end so may be right."""
    found: set[str] = set()
    for source in set(sources):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            found.update(filter(None, map(_raised, ast.walk(ast.parse(textwrap.dedent(source))))))
    return frozenset(found)


def _raised(node: ast.AST) -> str:
    """The name of what a statement raises; '' for any other node."""
    match node:
        case ast.Raise(exc=ast.Call(func=kind)) | ast.Raise(exc=ast.expr() as kind):
            return str(getattr(kind, "attr", getattr(kind, "id", "")))
    return ""


def is_contradicted(shown: Sequence[Sequence[CallResult]], at: int) -> bool:
    """Whether an example fails in a row that holds in another one."""
    held = {n for row in shown for n, result in enumerate(row) if result.how == "held"}
    return any(result.how == "broken" and n in held for n, result in enumerate(shown[at]))


# What a row did, by call; None for what there was no time for. Empty where that was most.
Key = tuple[str | None, ...]


def outcome_signatures(rows: Sequence[Sequence[CallResult]], patches: int) -> list[Key]:
    """What each row did, equal for equal behaviour of the first ones, which are of `patches`.

    What one of those, or the last row, had no time for tells nobody apart.
    """
    skipped = [{n for n, r in enumerate(row) if r.how == "skipped"} for row in rows]
    usable = [2 * len(s) <= len(row) for s, row in zip(skipped, rows, strict=True)]
    real = [*range(patches), len(rows) - 1]
    unknown = {n for at in real if usable[at] for n in skipped[at]}
    return [
        tuple(None if n in s else r.mark for n, r in enumerate(row) if n not in unknown)
        if ok else ()
        for row, s, ok in zip(rows, skipped, usable, strict=True)
    ]  # fmt: skip


def is_same(one: Key, other: Key) -> bool:
    """Whether two rows did the same on all calls that both had time for."""
    pairs = zip(one, other, strict=False)
    return bool(one and other) and all(a == b or a is None or b is None for a, b in pairs)


def impact_weight(share: float) -> float:
    """How bad a share of the calls is: a few are already much worse than none."""
    return _FEW + (1 - _FEW) * share if share > 0 else 0.0


def changed_share(
    before: Sequence[CallResult], after: Sequence[CallResult], recorded: int, failures: int
) -> float:
    """Of the calls that returned before, the share that does something else now.

    As many calls of the tests as there are failures had to change. What there was no time for says
    nothing.
    """
    tests, varied = _changed(before, after, recorded)
    asked = min(failures, sum(tests))
    left = len(tests) + len(varied) - asked
    return (sum(tests) + sum(varied) - asked) / left if left else 0.0


def _changed(
    before: Sequence[CallResult], after: Sequence[CallResult], recorded: int
) -> tuple[list[bool], list[bool]]:
    """Of the calls that returned before, whether each does something else: the tests', varied ones.

    What there was no time for is left out.
    """
    found: tuple[list[bool], list[bool]] = [], []
    for at, (one, other) in enumerate(zip(before, after, strict=False)):
        if one.how == "returned" and other.how != "skipped":
            found[at >= recorded].append(differs(one, other))
    return found


def differs(one: CallResult, other: CallResult) -> bool:
    """Whether a call does something else that counts: to leave its arguments alone does not."""
    spared = bool(one.value) and one.value == other.value and other.kept
    return one.mark != other.mark and not (spared and one.kind != "NoneType")


def is_other(before: CallResult, after: CallResult) -> bool:
    """Whether a call did something else that counts, as far as there was time for it."""
    return "skipped" not in {before.how, after.how} and differs(before, after)


def crashing_share(row: Sequence[CallResult], crashes: frozenset[str]) -> float:
    """The share of calls that still end as the tests did, or do not end."""
    bad = sum(r.how == "late" or (r.how == "raised" and r.kind in crashes) for r in row)
    return bad / len(row) if row else 0.0


def is_sparing(before: Sequence[CallResult], after: Sequence[CallResult], recorded: int) -> bool:
    """Whether a change spares the tests' calls, but for one that failed, and not the varied ones.

    Varied calls are made from those of the tests: were these as likely to change, so few of them
    would with a chance of one in twenty at most.
    """
    tests, varied = _changed(before, after, recorded)
    asked = min(1, sum(tests))
    count, few = len(tests) - asked, sum(tests) - asked
    rate = sum(varied) / len(varied) if varied else 0.0
    ways = (math.comb(count, n) * rate**n * (1 - rate) ** (count - n) for n in range(few + 1))
    return count >= _STAYING and sum(ways) < _CHANCE


def is_flat(before: Sequence[CallResult], after: Sequence[CallResult]) -> bool:
    """Whether all calls return the same now, which returned several things before."""
    # Of a method there is no mark of the value alone.
    had = [result.value or result.text for result in before if result.how == "returned"]
    now = [result.value or result.text for result in after if result.how == "returned"]
    return len(now) >= _CALLS and len(set(now)) == 1 and len(set(had)) >= _SEVERAL


def is_strange(before: Sequence[CallResult], after: Sequence[CallResult], recorded: int) -> bool:
    """Whether the tests' calls return a type now that none of them returned before."""
    known = {result.kind for result in before[:recorded] if result.how == "returned"}
    now = {result.kind for result in after[:recorded] if result.how == "returned"}
    return bool(known) and bool(now - known)
