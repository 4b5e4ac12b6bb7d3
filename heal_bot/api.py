"""heal-bot for programs: the same run as the command line's, with events as they happen."""

from __future__ import annotations

from collections.abc import Callable

from heal_bot import pipeline, wiring
from heal_bot.errors import HealBotError, ProvisionError, SandboxError
from heal_bot.events import Event
from heal_bot.model import HealRequest, Outcome, Report
from heal_bot.outcome import OutcomeRecord
from heal_bot.repair import memory
from heal_bot.repair.hunt import Limits
from heal_bot.settings import Settings


def heal(
    job: wiring.Job,
    settings: Settings,
    sink: Callable[[Event], None] = lambda event: None,
    stopped: Callable[[], bool] = lambda: False,
) -> OutcomeRecord:
    """Heal what the job names, write its bundle, and return what the bundle says.

    `sink` gets every event, `stopped` is asked often whether to end with what is verified.
    Raises HealBotError where the job itself is wrong: no such report, repository or key.
    """
    with wiring.connected(job, settings, sink, stopped) as made:
        edges = pipeline.Edges(made.workspace, made.runner, made.proposers, made.store)
        limits = Limits(attempts=settings.max_attempts)
        try:
            outcome = pipeline.heal(
                made.run, made.request, edges, made.root, made.remembered, limits
            )
        except (SandboxError, ProvisionError) as error:
            outcome = _failed(made.request, error)
        if job.memory is not None:
            job.memory.write_text(memory.dump(outcome.memory), encoding="utf-8")
        made.store.save(outcome)
        assert made.store.record is not None
        return made.store.record


def _failed(request: HealRequest, error: HealBotError) -> Outcome:
    """The outcome when nothing could be run."""
    status = "sandbox_error" if isinstance(error, SandboxError) else "environment_error"
    return Outcome(request, status, "done", str(error), Report(()))
