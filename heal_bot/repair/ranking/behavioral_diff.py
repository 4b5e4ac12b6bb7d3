"""What patches do on calls, beside what the code does unchanged: row against row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heal_bot.core.model import CallResult

# So many calls, and so many results before, show that it is the arguments that count.
_CALLS, _SEVERAL = 8, 3


def is_contradicted(shown: Sequence[Sequence[CallResult]], at: int) -> bool:
    """Whether an example fails in a row that holds in another one."""
    held = {n for row in shown for n, result in enumerate(row) if result.how == "held"}
    return any(result.how == "broken" and n in held for n, result in enumerate(shown[at]))


# What a row did, by call. Empty where there was no time for most.
Key = tuple[str, ...]


def outcome_signatures(rows: Sequence[Sequence[CallResult]]) -> list[Key]:
    """What each row did, equal for equal behaviour.

    What one of them had no time for tells nobody apart.
    """
    skipped = [{n for n, r in enumerate(row) if r.how == "skipped"} for row in rows]
    usable = [2 * len(s) <= len(row) for s, row in zip(skipped, rows, strict=True)]
    unknown = {n for s, ok in zip(skipped, usable, strict=True) if ok for n in s}
    return [
        tuple(r.mark for n, r in enumerate(row) if n not in unknown) if ok else ()
        for row, ok in zip(rows, usable, strict=True)
    ]


def changed_share(
    before: Sequence[CallResult], after: Sequence[CallResult], former: Sequence[CallResult] = ()
) -> float:
    """Of the calls that returned before, the share that does something else now.

    What a call did in the `former` code is nothing else. What there was no time for says nothing.
    """
    rows = zip(before, after, former or before, strict=False)
    known = [row for row in rows if row[0].how == "returned" and row[1].how != "skipped"]
    other = [row for row in known if differs(row[0], row[1]) and differs(row[2], row[1])]
    return len(other) / len(known) if known else 0


def differs(one: CallResult, other: CallResult) -> bool:
    """Whether a call does something else that counts: to leave its arguments alone does not."""
    spared = bool(one.value) and one.value == other.value and other.kept
    return one.mark != other.mark and not (spared and one.kind != "NoneType")


def is_other(before: CallResult, after: CallResult) -> bool:
    """Whether a call did something else that counts, as far as there was time for it."""
    return "skipped" not in {before.how, after.how} and differs(before, after)


def is_lookup(before: Sequence[CallResult], after: Sequence[CallResult], recorded: int) -> bool:
    """Whether calls that no test makes, which returned several things, give tests' answers now.

    One thing beside these, or none at all, is what a table of answers has for all others.
    """
    pairs = list(zip(before[recorded:], after[recorded:], strict=False))
    known = [pair for pair in pairs if pair[0].how == "returned" and pair[1].how != "skipped"]
    answers = _values(after[:recorded])
    had, now = _values(one for one, _ in known), _values(other for _, other in known)
    new = len(now - answers)
    return len(known) >= _CALLS and len(had - answers) >= _SEVERAL and new <= 1


def _values(results: Iterable[CallResult]) -> set[str]:
    """What calls returned; of a method there is no mark of the value alone."""
    return {result.value or result.text for result in results if result.how == "returned"}
