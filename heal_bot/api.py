"""heal-bot for programs: the same run as the command line's, with events as they happen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

from heal_bot import pipeline, wiring
from heal_bot.conclusion import conclude_unrun
from heal_bot.core.errors import (
    BudgetError,
    HealBotError,
    ProvisionError,
    SandboxError,
    limit_errors,
)
from heal_bot.core.events import Event
from heal_bot.core.model import HealRequest, Outcome
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.core.settings import Settings
from heal_bot.core.statuses import OutcomeStatus
from heal_bot.repair.search import attempt_history
from heal_bot.repair.search.cluster_search import SearchLimits
from heal_bot.sandbox.sandbox_client import Launch
from heal_bot.wiring.proposers import NOTHING, CustomProposers

# What a run is called that could not make its first runs.
_CUT = frozenset({
    OutcomeStatus.SANDBOX_ERROR, OutcomeStatus.ENVIRONMENT_ERROR, OutcomeStatus.BUDGET_EXHAUSTED,
})  # fmt: skip


def heal(
    job: wiring.HealJob,
    settings: Settings,
    sink: Callable[[Event], None] = lambda event: None,
    stopped: Callable[[], bool] = lambda: False,
    own: CustomProposers = NOTHING,
    launch: Launch | None = None,
) -> OutcomeRecord:
    """Heal what the job names, write its bundle, and return what the bundle says.

    `sink` gets every event, `stopped` is asked often whether to end with what is verified, `own`
    holds models and proposers of the calling program, `launch` is its sandbox where that starts
    already. Raises HealBotError where the job itself is wrong: no such report, repository or key.
    """
    with wiring.connect(job, settings, sink, stopped, own, launch) as made:
        began = made.run.clock()
        edges = pipeline.Edges(
            made.workspace, made.runner, made.proposers, made.store, made.critics
        )
        limits = SearchLimits(
            attempts=settings.max_attempts, min_confidence=settings.min_confidence
        )
        try:
            with limit_errors(made.run.left):
                outcome = pipeline.heal(
                    made.run, made.request, edges, made.root, made.remembered, limits
                )
        except (SandboxError, ProvisionError, BudgetError) as error:
            if (kept := made.store.record) is not None and (kept.patch or kept.suggestion):
                # What was verified before stays; the bundle on disk holds it already.
                made.run.warn("verify", str(error))
                return kept
            outcome = replace(conclude_unrun(made.request, error), memory=made.remembered)
        if stopped():
            outcome = _interrupted(outcome)
        made.store.save(replace(outcome, seconds=made.run.clock() - began))
        if job.memory is not None:
            attempt_history.save(job.memory, outcome.memory)
        assert made.store.record is not None
        return made.store.record


def write_broken_bundle(
    request: HealRequest, out: Path, settings: Settings, error: HealBotError
) -> OutcomeRecord:
    """Write the bundle of a request that broke before anything could be run."""
    store = wiring.BundleStore(out, settings.secrets)
    store.save(conclude_unrun(request, error))
    assert store.record is not None
    return store.record


async def aheal(
    job: wiring.HealJob,
    settings: Settings,
    sink: Callable[[Event], None] = lambda event: None,
    own: CustomProposers = NOTHING,
) -> OutcomeRecord:
    """`heal` beside an event loop, in which `sink` is called.

    A cancellation ends the run with what is verified: the bundle is written, then it is raised.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    asked: list[bool] = []

    def tell(event: Event) -> None:
        loop.call_soon_threadsafe(sink, event)

    work = asyncio.ensure_future(
        asyncio.to_thread(heal, job, settings, tell, lambda: bool(asked), own)
    )
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        asked.append(True)
        await work
        raise


async def events(
    job: wiring.HealJob, settings: Settings, own: CustomProposers = NOTHING
) -> AsyncIterator[Event | OutcomeRecord]:
    """The events of a run as they happen, and last what the bundle says.

    Leaving the iteration early and closing it ends the run like a cancellation of `aheal`.
    """
    import asyncio

    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    work = asyncio.ensure_future(aheal(job, settings, queue.put_nowait, own))
    work.add_done_callback(lambda done: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        yield await work
    finally:
        if not work.done():
            work.cancel()
            await asyncio.wait([work])


def _interrupted(outcome: Outcome) -> Outcome:
    """The same, or whose end it was where the runs that would have told were cut short."""
    if outcome.clusters or outcome.status not in _CUT:
        return outcome
    reason = "interrupted before the tests had run"
    return replace(outcome, status=OutcomeStatus.NOT_HEALED, stopped="interrupted", reason=reason)
