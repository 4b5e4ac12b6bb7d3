"""The failures before any change, seen once more where the environment lacked plugins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from heal_bot.core.errors import BudgetError, ProvisionError, SandboxError, UncollectedError
from heal_bot.core.events import Noted
from heal_bot.core.model import Baseline, Outcome, Report
from heal_bot.core.statuses import FailureStatus
from heal_bot.ports import RunContext
from heal_bot.source.workflow_files import Variables
from heal_bot.verification import missing_plugins


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What fails before any change, and where: the report with remarks, and the baseline.

    `remark` says what became of plugins that the environment lacked.
    """

    context: RunContext
    report: Report
    baseline: Baseline
    remark: str = ""


# Where tests fail they run again, alone and in other orders.
_SUITES = 2
Observe = Callable[[RunContext], Reproduction | Outcome]


def reproduce_completed(
    context: RunContext, report: Report, observe: Observe
) -> Reproduction | Outcome:
    """What `observe` sees; in an environment with the plugins that the first one lacked.

    Where the declared pytest does not start, as an old one on a new Python, a newer one may.
    """
    tree, env = context.tree, context.env
    before: Reproduction | None = None
    try:
        seen = observe(context)
        if isinstance(seen, Outcome):
            return seen
        before = seen
        lacking = missing_plugins.find_missing(report, seen.baseline.suite, tree, env)
        if not lacking:
            return seen
    except ProvisionError as error:
        lacking = missing_plugins.find_stopping(report, str(error), tree, env)
        if not lacking:
            if isinstance(error, UncollectedError):
                return _renewed(context, report, observe, error)
            raise
    try:
        context = _completed(context, report, lacking)
    except ProvisionError as error:
        if before is None:
            raise
        context.run.warn("workspace", str(error))
        return replace(before, remark=str(error))
    return _again(context, observe, lacking, before)


def _renewed(
    context: RunContext, report: Report, observe: Observe, stopped: UncollectedError
) -> Reproduction | Outcome:
    """What `observe` sees with a newer pytest than is declared; `stopped` where it cannot."""
    hints = replace(report.hints, plugins=(*report.hints.plugins, "pytest"))
    try:
        newer = context.provision(context.tree, hints)
    except ProvisionError:
        raise stopped from None
    if newer == context.env:
        raise stopped
    remark = "the declared pytest ends before it has collected the tests; a newer one ran here"
    context.run.emit(Noted(stage="workspace", message=remark, level="info"))
    try:
        seen = observe(replace(context, env=newer))
    except UncollectedError:
        raise stopped from None
    return seen if isinstance(seen, Outcome) else replace(seen, remark=remark)


def reproduce_with(
    choices: Sequence[Variables], seen: Reproduction | Outcome, observe: Observe
) -> Reproduction | Outcome:
    """What `observe` sees with the first of the choices of variables under which tests fail.

    As it was where tests fail already, or under none of them.
    """
    if isinstance(seen, Outcome) or seen.baseline.confirmed or not choices:
        return seen
    if FailureStatus.NOT_REPRODUCED not in {item.status for item in seen.baseline.reproduced}:
        return seen
    context = seen.context
    for choice in choices:
        if context.run.left() < _SUITES * seen.baseline.suite.seconds:
            break
        shown = ", ".join("=".join(one) for one in choice)
        variables = tuple({**dict(context.env.variables), **dict(choice)}.items())
        try:
            tried = observe(replace(context, env=replace(context.env, variables=variables)))
        except (BudgetError, ProvisionError, SandboxError) as error:
            context.run.warn("workspace", f"with {shown} the tests do not run ({error})")
            continue
        if isinstance(tried, Reproduction) and tried.baseline.confirmed:
            remark = f"the tests fail with {shown}, which one job of the workflows sets"
            context.run.emit(Noted(stage="workspace", message=remark, level="info"))
            return replace(tried, remark="; ".join(filter(None, (seen.remark, remark))))
    context.runner.preflight(context.run, context.env)
    return seen


def _completed(context: RunContext, report: Report, lacking: tuple[str, ...]) -> RunContext:
    """The same with the plugins it lacks; ProvisionError where it cannot be given them."""
    names = ", ".join(lacking)
    hints = replace(report.hints, plugins=(*report.hints.plugins, *lacking))
    try:
        fuller = context.provision(context.tree, hints)
    except ProvisionError as error:
        raise ProvisionError(
            f"the tests need {names}, which is not installed and cannot be added ({error}): "
            "install it in the test environment, or declare it"
        ) from error
    if fuller == context.env:
        raise ProvisionError(
            f"the tests need {names}, which {fuller.python} does not have; an environment that is "
            "there is not changed: install it there"
        )
    message = f"the tests need {names}: the environment has it now, and they run again"
    context.run.emit(Noted(stage="workspace", message=message, level="info"))
    return replace(context, env=fuller)


def _again(
    context: RunContext, observe: Observe, added: tuple[str, ...], before: Reproduction | None
) -> Reproduction | Outcome:
    """The failures with the plugins added; as they were `before` where these stop the tests."""
    names = ", ".join(added)
    kept = before if before is not None and before.baseline.confirmed else None
    try:
        seen = observe(context)
        why = _stopped(seen, kept)
    except (BudgetError, ProvisionError, SandboxError) as error:
        if kept is None:
            raise
        seen, why = kept, str(error)
    if kept is None or not why:
        if isinstance(seen, Outcome):
            return seen
        return replace(seen, remark=f"{names} was added to the environment and is there now")
    message = f"with {names} added the tests do not run ({why}): what ran without counts"
    context.run.warn("workspace", message)
    context.runner.preflight(context.run, kept.context.env)
    return replace(kept, remark=message)


def _stopped(seen: Reproduction | Outcome, before: Reproduction | None) -> str:
    """What keeps tests that were confirmed before from running; '' where they run."""
    if before is None or isinstance(seen, Outcome):
        return seen.reason if isinstance(seen, Outcome) else ""
    if seen.baseline.confirmed:
        return ""
    if not seen.baseline.suite.finished:
        return seen.baseline.suite.detail or seen.baseline.suite.ended
    known = {failure.test for failure in before.baseline.confirmed}
    items = (i for i in seen.baseline.reproduced if i.failure.test in known)
    return next((i.failure.reason for i in items if i.status in {"environment", "explained"}), "")
