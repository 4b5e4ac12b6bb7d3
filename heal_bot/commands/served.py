"""What an admitted request asks: heal and publish, close what is no longer needed, or speak."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from heal_bot.commands.child import Task
from heal_bot.commands.job import Job
from heal_bot.delivery import accept, retire
from heal_bot.delivery.ladder import mine
from heal_bot.delivery.options import Options, Published
from heal_bot.errors import ForgeError, HealBotError
from heal_bot.events import Noted
from heal_bot.forge.pulls import GitHub
from heal_bot.forge.runs import Runs
from heal_bot.forge_port import STOPPED
from heal_bot.intake.event import Asked
from heal_bot.model import HealRequest, Memory
from heal_bot.outcome import OutcomeRecord
from heal_bot.publish import publish
from heal_bot.report import notebook, status
from heal_bot.text import for_log, for_markdown

Healer = Callable[[Job, Task], OutcomeRecord]


def healed(
    job: Job, asked: Asked, config_ref: str, forge: GitHub, runs: Runs, heal: Healer
) -> None:
    """Reports, memory, the run itself, delivery; a stale result is healed once more."""
    request, options = asked.request, job.options()
    if options.mode != "dry-run":
        _begin(job, asked, forge)
    with tempfile.TemporaryDirectory(prefix="heal-bot-reports-") as name:
        downloaded = _reports(job, asked, runs, Path(name))
        memory = _remembered(job, request, forge, options)
        task = Task(request, memory, config_ref, asked.report, downloaded, asked.place)
        try:
            record = heal(job, task)
            done = publish(job.run, record, request, forge, options)
            if done.status == "stale" and done.head and request.reply_to is None:
                job.run.emit(Noted(stage="publish", message=f"{done.reason}: healing once more"))
                request = replace(request, base_sha=done.head, tested_sha=done.head)
                record = heal(job, replace(task, request=request))
                done = publish(job.run, record, request, forge, options)
        except HealBotError as error:
            if request.reply_to is not None and request.pull_number is not None:
                mark = status.request_mark(request.reply_to)
                text = status.failed(mark, str(error))
                forge.talk.comment(job.run, request.pull_number, mark, text)
            raise
    job.finish(record, done, request.callback)


def _begin(job: Job, asked: Asked, forge: GitHub) -> None:
    """Show whoever asked that the request was seen, and for which commit it is served."""
    request = asked.request
    if request.reply_to is None or request.pull_number is None:
        return
    _seen(job, asked, forge)
    mark = status.request_mark(request.reply_to)
    text = status.working(mark, request.base_sha, job.run_url)
    new = job.environ.get("GITHUB_RUN_ATTEMPT") == "1"
    forge.talk.comment(job.run, request.pull_number, mark, text, new=new)


def _seen(job: Job, asked: Asked, forge: GitHub) -> None:
    """React to the comment; a review itself takes no reaction."""
    if asked.request.reply_to is None or job.environ.get("GITHUB_EVENT_NAME", "").endswith(
        "review"
    ):
        return
    try:
        forge.talk.react(job.run, asked.request.reply_to, "eyes", review=asked.review)
    except ForgeError as error:
        job.run.emit(Noted(stage="forge", message=str(error), level="warning"))


def _reports(job: Job, asked: Asked, runs: Runs, folder: Path) -> tuple[Path, ...]:
    """The artifacts of the run that was red; without them the sandboxed baseline is the report."""
    request = asked.request
    if not asked.artifacts:
        return ()
    try:
        number = request.run_id
        if request.trigger == "comment":
            number = runs.red_of(request.base_sha)
        if number is None:
            return ()
        return runs.reports(job.run, number, job.artifacts, folder, own=_is_own(job, number))
    except ForgeError as error:
        job.run.emit(Noted(stage="intake", message=f"no artifacts: {error}", level="warning"))
        return ()


def _is_own(job: Job, number: int) -> bool:
    return str(number) == job.settings.github_run_id


def _remembered(job: Job, request: HealRequest, forge: GitHub, options: Options) -> Memory:
    """What our open proposals into this branch remember; nothing when asked to try again."""
    if request.verb == "retry":
        return Memory()
    noted = [
        notebook.read(pull.body)
        for pull in mine(job.run, forge, options.prefix)
        if pull.base_ref == request.base_ref
    ]
    tried = dict(item for note in noted if note is not None for item in note.memory.tried)
    return Memory(tuple(tried.items()))


def green(job: Job, request: HealRequest, forge: GitHub) -> None:
    """The tests pass without us: close what proposes to repair them."""
    options = job.options()
    closed: tuple[int, ...] = ()
    if options.mode != "dry-run":
        closed = retire.retire(job.run, request.base_ref, request.base_sha, forge, options.prefix)
    numbers = ", ".join(str(number) for number in closed)
    job.nothing(f"the run is green; closed: {numbers}" if closed else "the run is green")


def speak(job: Job, asked: Asked, forge: GitHub) -> None:
    """The verbs that start no run: apply, explain, stop, help."""
    options = job.options()
    request, run = asked.request, job.run
    assert request.pull_number is not None
    assert request.reply_to is not None
    done = Published("commented", request.verb)
    if request.verb == "apply":
        done = accept.accept(run, request.base_ref, request.base_sha, forge, options.prefix)
        text = f"{for_markdown(done.reason, 400)}."
    elif request.verb == "explain":
        text = accept.explained(run, request.base_ref, forge, options.prefix)
    elif request.verb == "stop":
        forge.talk.label(run, request.pull_number, (STOPPED,))
        text = f"heal-bot leaves this pull request alone until the label `{STOPPED}` is removed."
    else:
        text = status.HELP
    mark = status.request_mark(request.reply_to)
    forge.talk.comment(run, request.pull_number, mark, status.answer(mark, text))
    job.tell({"status": "nothing_to_do", "delivery": done.status}, text)
    click.echo(for_log(f"{request.verb}: {done.status}"))
