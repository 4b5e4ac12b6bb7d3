"""The failing tests and the guards in a warm process, before any change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from heal_bot.errors import SandboxError
from heal_bot.model import CaseResult
from heal_bot.sandbox.order import Answer, Order

_SECONDS = 5.0
_FRESH_TIMES = 3
_GUARD_SECONDS = 60.0
# Tests that hang unchanged, of which so many are waited for.
_HANGS = 3
_GOOD = {"passed", "xfailed"}


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Results of the failing tests, the names of those that hang, and the guards that pass."""

    failing: Mapping[str, CaseResult]
    hung: tuple[str, ...]
    guards: tuple[CaseResult, ...]


def measure(
    ask: Callable[[Order], Answer], names: Sequence[str], guards: Sequence[str]
) -> Unchanged:
    """Run all of them; SandboxError when a test that must fail passes here."""
    results, hung, files = _failing(ask, names)
    lucky = [name for name in names if name in results and results[name].outcome == "passed"]
    if lucky:
        raise SandboxError(
            f"{lucky[0]} and {len(lucky) - 1} other failing tests pass in a warm process; "
            "only cold runs can judge them"
        )
    order = Order(
        (), guards=tuple(guards), files=files, limit=4 * _SECONDS, longer=_GUARD_SECONDS,
        all_tests=True,
    )  # fmt: skip
    found = ask(order).results if guards else {}
    good = [found[name] for name in guards if name in found and found[name].outcome in _GOOD]
    return Unchanged(results, hung, tuple(good))


def _failing(
    ask: Callable[[Order], Answer], names: Sequence[str]
) -> tuple[dict[str, CaseResult], tuple[str, ...], dict[str, str] | None]:
    """Results, those that hang, and `{}` in place of None where nothing can be swapped.

    A run that takes too long is repeated from the first test without a result; that one hangs
    when most of the time was its own.
    """
    results: dict[str, CaseResult] = {}
    hung: list[str] = []
    files: dict[str, str] | None = None
    left = list(names)
    while left and len(hung) < _HANGS:
        limit = _SECONDS if files is None else _FRESH_TIMES * 4 * _SECONDS
        base = ask(Order(tuple(left), files=files, limit=limit, all_tests=True))
        late = base.how == "timeout"
        if files is None and not late and (base.how != "judged" or not base.results):
            files = {}
            continue
        results.update(base.results)
        if not late:
            return results, tuple(hung), files
        left = [name for name in left if name not in results]
        own = base.seconds - sum(result.seconds for result in base.results.values())
        if left and (own > _SECONDS / 2 or not base.results):
            hung.append(left.pop(0))
    return results, (*hung, *left), files
