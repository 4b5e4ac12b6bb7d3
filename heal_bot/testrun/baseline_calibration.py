"""The failing tests and the guards in a warm process, before any change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from heal_bot.core.errors import SandboxError
from heal_bot.core.model import CaseResult
from heal_bot.core.statuses import EXPECTED
from heal_bot.testrun.judge_protocol import JudgeRequest, JudgeResponse

_SECONDS = 5.0
_FRESH_SECONDS = 60.0
# A test hangs when it takes that often as long as any that passes, and no less than this.
_TIMES, _LEAST = 50.0, 0.5
_UNGUARDED = 0.04
_GUARD_SECONDS = 60.0
# Tests that hang unchanged, of which so many are waited for.
_HANGS = 2


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Results of the failing tests, the names of those that hang, and the guards that pass."""

    failing: Mapping[str, CaseResult]
    hung: tuple[str, ...]
    guards: tuple[CaseResult, ...]


def measure(
    ask: Callable[[JudgeRequest], JudgeResponse], names: Sequence[str], guards: Sequence[str]
) -> Unchanged:
    """Run all of them; SandboxError when a test that must fail passes here."""
    good = _passing(ask, guards, None)
    slowest = max((guard.seconds for guard in good), default=_UNGUARDED)
    patience = min(_SECONDS, max(_LEAST, _TIMES * slowest))
    results, hung, files = _failing(ask, names, patience)
    lucky = [name for name in names if name in results and results[name].passed]
    if lucky:
        raise SandboxError(
            f"{lucky[0]} and {len(lucky) - 1} other failing tests pass in a warm process; "
            "only cold runs can judge them"
        )
    if files is not None and not good:
        good = _passing(ask, guards, files)
    return Unchanged(results, hung, good)


def measure_alone(
    ask: Callable[[JudgeRequest], JudgeResponse], found: Unchanged, names: Sequence[str]
) -> Unchanged:
    """What was found, with these tests as they fail in a process of their own.

    What a session sets up once takes its time in the test that happens to run first.
    """
    again = ask(JudgeRequest(tuple(names), limit=_SECONDS, all_tests=True)).results
    return replace(found, failing={**found.failing, **again})


def _passing(
    ask: Callable[[JudgeRequest], JudgeResponse],
    guards: Sequence[str],
    files: Mapping[str, str] | None,
) -> tuple[CaseResult, ...]:
    """The guards that pass."""
    order = JudgeRequest(
        (), guards=tuple(guards), files=files, limit=4 * _SECONDS, longer=_GUARD_SECONDS,
        all_tests=True,
    )  # fmt: skip
    found = ask(order).results if guards else {}
    held = (found[name] for name in guards if name in found)
    return tuple(result for result in held if result.outcome in EXPECTED)


def _failing(
    ask: Callable[[JudgeRequest], JudgeResponse], names: Sequence[str], patience: float
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
        limit = patience if files is None else _FRESH_SECONDS
        base = ask(JudgeRequest(tuple(left), files=files, limit=limit, all_tests=True))
        late = base.how == "timeout"
        if files is None and not late and (base.how != "judged" or not base.results):
            files = {}
            continue
        results.update(base.results)
        if not late:
            return results, tuple(hung), files
        left = [name for name in left if name not in results]
        own = base.seconds - sum(result.seconds for result in base.results.values())
        if left and (own > patience / 2 or not base.results):
            hung.append(left.pop(0))
            patience = min(patience, _LEAST)
    return results, (*hung, *left), files
