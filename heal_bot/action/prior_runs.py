"""What earlier runs left for this one, looked up before anything is healed."""

from __future__ import annotations

from pathlib import Path

import click

from heal_bot.action.action_context import ActionContext
from heal_bot.action.webhook_event import CommandRequest
from heal_bot.core.errors import HealBotError
from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest, ReportedCase
from heal_bot.core.text import for_log, for_markdown
from heal_bot.github.pulls import GitHub
from heal_bot.junit import reader
from heal_bot.junit.failure_signature import sign_failures
from heal_bot.ports.code_host import Check, try_aside
from heal_bot.publish.delivery_options import Options, Published
from heal_bot.publish.prior_decision import Prior, Situation, decide, recall
from heal_bot.publish.run_memory import remember_endings
from heal_bot.report import status_comment

_EVENT = "event.xml"


def recall_prior(
    job: ActionContext,
    asked: CommandRequest,
    request: HealRequest,
    into: str,
    folder: Path,
    forge: GitHub,
    options: Options,
) -> Prior:
    """What is known of what is red, with the result where nothing needs to be searched.

    `into` is the branch that the pull request of the commit goes into, where it belongs to one;
    `folder` holds the reports that were downloaded.
    """
    reported = _sign_reports(job, asked, request, folder, options.project)
    into = into if request.pull_number is not None else ""
    prior = recall(job.run, request, Situation(reported, into, job.today), forge, options)
    return decide(job.run, prior, request, forge, options)


def finish_known(
    job: ActionContext, request: HealRequest, prior: Prior, done: Published, forge: GitHub
) -> None:
    """End a run whose result is known: tell whoever asked, and what the run is told by."""
    dry = job.options().mode == "dry-run"
    if not dry and (prior.endings or prior.adopted):
        try_aside(job.run, lambda: remember_endings(job.run, request, prior, forge))
    if not dry and done.elsewhere:
        found = Check(request.base_sha, "neutral", "red on its base too", for_markdown(done.reason))
        try_aside(job.run, lambda: forge.talk.check(job.run, found))
    if not dry:
        text = f"{for_markdown(done.reason, 400)}.\n\n{done.url}".strip()
        job.say(forge, request, lambda mark: status_comment.render_answer(mark, text))
    outputs = {
        "status": "nothing_to_do",
        "delivery": done.status,
        "pull-request-url": done.url,
        "pull-request-number": str(done.number or ""),
        "callback": request.callback,
    }
    job.tell(outputs, f"{for_markdown(done.reason, 1_000)}\n\n{done.url}".strip())
    click.echo(for_log(f"nothing to do, {done.status}: {done.reason} {done.url}".strip()))


def _sign_reports(
    job: ActionContext, asked: CommandRequest, request: HealRequest, folder: Path, project: str
) -> tuple[str, ...]:
    """The digests of what the reports name; none where there is no report that can be read."""
    if asked.report:
        (folder / _EVENT).write_text(asked.report, encoding="utf-8")
    silent = Run(lambda event: None)
    cases: list[ReportedCase] = []
    for root, patterns in ((folder, ("**",)), (job.workspace, request.reports)):
        if not patterns or not any(root.iterdir()):
            continue
        try:
            cases.extend(reader.read_reports(silent, root, patterns).cases)
        except HealBotError:
            # The run that heals reads them too, and says what is wrong with them.
            continue
    return sign_failures(cases, project)
