"""What an admitted request asks: heal and publish, close what is no longer needed, or speak."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from heal_bot.action import comment_command
from heal_bot.action.action_context import ActionContext
from heal_bot.action.prior_runs import finish_known, recall_prior
from heal_bot.action.webhook_event import CommandRequest
from heal_bot.action.worker_process import Task
from heal_bot.core import bundle
from heal_bot.core.errors import ForgeError, HealBotError
from heal_bot.core.events import Noted
from heal_bot.core.model import HealRequest
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.core.text import for_log, for_markdown
from heal_bot.github import actions_runner
from heal_bot.github.pulls import GitHub
from heal_bot.github.workflow_runs import Runs
from heal_bot.ports.code_host import STOPPED, try_aside
from heal_bot.publish import apply_comment_command, close_stale_pulls
from heal_bot.publish.carried_patch import carry_record
from heal_bot.publish.change_identity import is_formatting_only
from heal_bot.publish.delivery_options import Options, Published
from heal_bot.publish.prior_decision import Prior
from heal_bot.publish.publishing import publish, suspected_lines
from heal_bot.report import status_comment

# GitHub shows ten of a level per step; the end of the run is one of them.
_MARKED = 9
_HINT = 8_000
Healer = Callable[[ActionContext, Task], OutcomeRecord]


def heal_and_publish(
    job: ActionContext,
    asked: CommandRequest,
    config_ref: str,
    forge: GitHub,
    runs: Runs,
    heal: Healer,
) -> None:
    """Reports, memory, the run itself, delivery; a superseded result is healed once more."""
    request, options = asked.request, job.options()
    if options.mode != "dry-run":
        _begin(job, asked, forge)
    with tempfile.TemporaryDirectory(prefix="heal-bot-reports-") as name:
        downloaded = _reports(job, asked, runs, Path(name))
        prior = recall_prior(job, asked, request, config_ref, Path(name), forge, options)
        if prior.done is not None:
            finish_known(job, request, prior, prior.done, forge)
            return
        # What only a search needs is asked for where there is one.
        request = _discussed(job, _since_green(job, asked, runs), forge)
        task = Task(
            request, prior.memory, config_ref, asked.report, downloaded, asked.place,
            _interrupted(job, request) or prior.resumed, prior.state.spent_on(job.today),
        )  # fmt: skip
        try:
            record = heal(job, task)
            done = _published(job, record, request, forge, options, prior)
            if done.status == "superseded" and _goes_on(job, request, done, forge):
                job.run.emit(Noted(stage="publish", message=f"{done.reason}: healing once more"))
                request = replace(request, base_sha=done.head, tested_sha=done.head)
                resumed = carry_record(job.run, record, request, forge) or task.resumed
                record = heal(job, replace(task, request=request, resumed=resumed))
                done = _published(job, record, request, forge, options, prior)
        except BaseException as error:
            report_ended_run(job, request, forge, error)
            raise
    job.finish(record, done, request.callback)
    if not done.checked and done.status != "unchanged":
        _mark(record)


def _mark(record: OutcomeRecord) -> None:
    """The likeliest lines on the run's page, where no check run shows them."""
    shown = {"notice": 0, "warning": 0}
    for found in suspected_lines(record):
        shown[found.level] += 1
        if shown[found.level] <= _MARKED:
            place = {"file": found.path, "line": str(found.line), "title": "heal-bot"}
            click.echo(actions_runner.command(found.level, found.message, **place))


def _goes_on(job: ActionContext, request: HealRequest, done: Published, forge: GitHub) -> bool:
    """Whether a result for a branch that moved is made for its new head.

    Who asked by a comment asked for the head of then, unless nothing but the layout changed.
    """
    if not done.head:
        return False
    return request.reply_to is None or is_formatting_only(
        job.run, forge, request.base_sha, done.head
    )


def _published(
    job: ActionContext,
    record: OutcomeRecord,
    request: HealRequest,
    forge: GitHub,
    options: Options,
    prior: Prior,
) -> Published:
    """What came of it; where GitHub fails altogether the step summary and the outputs hold it."""
    try:
        return publish(job.run, record, request, forge, options, prior=prior)
    except ForgeError as error:
        job.finish(record, Published("summary", str(error)), request.callback)
        raise


def report_ended_run(
    job: ActionContext, request: HealRequest, forge: GitHub, error: BaseException
) -> None:
    """Tell whoever waits for the answer that the run broke, or was cancelled."""
    told = str(error) if isinstance(error, HealBotError) else "its log says why"
    if isinstance(error, KeyboardInterrupt):
        told = "it was cancelled"
    job.say(forge, request, lambda mark: status_comment.render_failed(mark, told))


def _begin(job: ActionContext, asked: CommandRequest, forge: GitHub) -> None:
    """Show whoever asked that the request was seen, and for which commit it is served."""
    request = asked.request
    react_seen(job, asked, forge)
    first = job.environ.get("GITHUB_RUN_ATTEMPT") == "1"
    job.say(
        forge,
        request,
        lambda mark: status_comment.render_working(mark, request.base_sha, job.run_url),
        # A bot's answer may be there from a request before.
        new=first and not request.actor.endswith("[bot]"),
    )


def react_seen(job: ActionContext, asked: CommandRequest, forge: GitHub) -> None:
    """React to the comment; a review itself takes no reaction."""
    if asked.request.reply_to is None or job.environ.get("GITHUB_EVENT_NAME", "").endswith(
        "review"
    ):
        return
    number = asked.request.reply_to
    try_aside(job.run, lambda: forge.talk.react(job.run, number, "eyes", review=asked.review))


def _reports(
    job: ActionContext, asked: CommandRequest, runs: Runs, folder: Path
) -> tuple[Path, ...]:
    """The artifacts of the run that was red; without them the sandboxed baseline is the report."""
    request = asked.request
    if not asked.artifacts:
        return ()
    try:
        number = request.run_id
        if request.trigger in {"comment", "commit"}:
            number = runs.red_of(request.base_sha)
        if number is None:
            return ()
        return runs.reports(
            job.run, number, job.artifacts, folder, own=str(number) == job.settings.github_run_id
        )
    except ForgeError as error:
        job.run.warn("intake", f"no artifacts: {error}")
        return ()


def _since_green(job: ActionContext, asked: CommandRequest, runs: Runs) -> HealRequest:
    """The request with the commit and the time of the last green run, where no event names one."""
    request = asked.request
    named = request.good not in {"", request.base_sha}
    # The run of a comment, or of a dispatch that names none, is not the red one.
    dispatched = request.trigger == "dispatch" and not asked.artifacts
    other = dispatched or request.trigger in {"comment", "commit"}
    if request.run_id is None or other or named:
        return request
    try:
        green = runs.last_green(request.run_id)
    except ForgeError as error:
        job.run.warn("history", f"the last green run is not known: {error}")
        return request
    return replace(request, good=green.sha, green=green.started) if green else request


def _discussed(job: ActionContext, request: HealRequest, forge: GitHub) -> HealRequest:
    """The request with what people said on our proposal, where it was made, as its hint."""
    if request.thread is None:
        return request
    try:
        said = forge.talk.discussion(job.run, request.thread)
    except ForgeError as error:
        job.run.warn("intake", f"discussion: {error}")
        return request
    told = [f"{login}: {hint}" for login, text in said if (hint := comment_command.hint_of(text))]
    return replace(request, instruction="\n".join([request.instruction, *told]).strip()[:_HINT])


def _interrupted(job: ActionContext, request: HealRequest) -> OutcomeRecord | None:
    """The bundle that is resumed, read before this run's own takes its place."""
    folder = job.inside("resume")
    return bundle.read(folder) if folder is not None and request.verb != "retry" else None


def close_green(job: ActionContext, request: HealRequest, forge: GitHub) -> None:
    """The tests pass without us: close what proposes to repair them."""
    options = job.options()
    closed: tuple[int, ...] = ()
    if options.mode != "dry-run":
        closed = close_stale_pulls.close_stale(
            job.run, request.base_ref, request.base_sha, forge, options.prefix
        )
    numbers = ", ".join(str(number) for number in closed)
    job.nothing(f"the run is green; closed: {numbers}" if closed else "the run is green")


def reply_to_verb(job: ActionContext, asked: CommandRequest, forge: GitHub) -> None:
    """The verbs that start no run: apply, explain, stop, help."""
    request = asked.request
    try:
        done, text = _spoken(job, request, forge)
    except ForgeError as error:
        done = Published("refused", str(error))
        text = f"Not done: {for_markdown(str(error), 400)}"
        click.echo(actions_runner.annotation("warning", "heal-bot", str(error)))
    job.say(forge, request, lambda mark: status_comment.render_answer(mark, text))
    job.tell({"status": "nothing_to_do", "delivery": done.status}, text)
    click.echo(for_log(f"{request.verb}: {done.status}"))


def _spoken(job: ActionContext, request: HealRequest, forge: GitHub) -> tuple[Published, str]:
    """What came of a verb, and the answer as Markdown of our own words."""
    prefix, run = job.options().prefix, job.run
    done = Published("commented", request.verb)
    match request.verb:
        case "apply":
            done = apply_comment_command.apply_proposal(
                run, request.base_ref, request.base_sha, forge, prefix
            )
            return done, f"{for_markdown(done.reason, 400)}."
        case "explain":
            return done, apply_comment_command.explain_proposals(
                run, request.base_ref, forge, prefix
            )
        case "stop":
            assert request.answered_in is not None
            forge.talk.label(run, request.answered_in, (STOPPED,))
            told = f"until the label `{STOPPED}` is removed"
            return done, f"heal-bot leaves this pull request alone {told}."
    return done, status_comment.HELP
