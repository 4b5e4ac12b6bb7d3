"""The event of a job is read, located and admitted, or refused in one sentence."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heal_bot.action import event_file, local_event
from heal_bot.action import webhook_event as events
from heal_bot.action.action_context import ActionContext, report_broken_run
from heal_bot.action.webhook_event import CommandRequest, Ignored
from heal_bot.core.errors import HealBotError, ProvisionError, no_room
from heal_bot.core.model import ASKED, HealRequest
from heal_bot.core.text import one_line
from heal_bot.github import actions_runner, permission_check
from heal_bot.github.pulls import GitHub
from heal_bot.github.workflow_runs import Runs
from heal_bot.ports.code_host import is_branch, try_aside
from heal_bot.report import status_comment

if TYPE_CHECKING:
    from heal_bot.action.request_handlers import Healer

_FINGERPRINT = re.compile(r"[0-9a-f]{12}")


def receive(environ: Mapping[str, str], path: Path | None) -> None:
    """Serve the event of a sealed process, and tell the runner of what breaks."""
    if path is not None and not environ.get("GITHUB_EVENT_NAME"):
        environ = local_event.complete_environment(environ, event_file.load(path))
    try:
        job = ActionContext.of(environ)
    except HealBotError as error:
        report_broken_run(environ, error)
        raise
    for line in actions_runner.masks(job.settings.secrets):
        click.echo(line)
    path = path or event_file.find_event_file(environ)
    try:
        _written(job, environ.get("GITHUB_EVENT_NAME", ""), path)
    except HealBotError as error:
        job.fail(error)
        raise
    except Exception as error:
        job.fail(HealBotError(f"a bug of heal-bot ended the run: {type(error).__name__}"))
        raise


def _written(job: ActionContext, name: str, path: Path) -> None:
    """Serve where temporary files can be written; ProvisionError when a disk is full."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError as error:
        raise ProvisionError(
            f"no temporary folder can be written ({error.strerror}): free space before the step "
            "runs"
        ) from error
    try:
        serve(job, name, path)
    except OSError as error:
        if (told := no_room(error)) is not None:
            raise told from error
        raise


def serve(job: ActionContext, name: str, path: Path, heal: Healer | None = None) -> None:
    """The whole run: event, admission, healing without the token, publishing with it."""
    payload = event_file.load(path)
    asked = events.read_event(name, payload, job.facts())
    if isinstance(asked, Ignored) and asked.reply_to is None:
        job.nothing(asked.reason)
        return
    forge = job.forge(local_event.find_default_branch(payload))
    if isinstance(asked, Ignored):
        job.refuse(asked.reason)
        _reply(job, forge, asked, once=asked.actor if asked.once else "")
        return
    runs = Runs(
        forge.repo, forge.repository, job.settings.github_token, job.settings.github_api_url,
        job.route,
    )  # fmt: skip
    runs.learn(payload.get("workflow_run"))
    located = _located(job, asked, forge, runs)
    if isinstance(located, str):
        job.nothing(located)
        return
    if idle := _own(located.request, job) or _fleeting(located.request, job):
        job.nothing(idle)
        return
    admitted = permission_check.admit(
        job.run, located.request, forge, job.allow, job.bots, job.options().prefix
    )
    request = admitted.request
    if request.answered_in is None and (base := job.inputs.get("base")):
        request = replace(request, base_ref=base)
    if admitted.refusal:
        job.refuse(admitted.refusal)
        told = Ignored(admitted.refusal, request.answered_in, request.reply_to, request.actor)
        _reply(job, forge, told, once=request.actor if admitted.stranger else "")
        return
    # Imported here: a request that is refused need not wait for what it will not use.
    from heal_bot.action import request_handlers, worker_process

    asked = replace(located, request=request)
    if located.green:
        request_handlers.close_green(job, request, forge)
    elif request.verb in {"heal", "retry", "pick"}:
        request_handlers.heal_and_publish(
            job, asked, admitted.config_ref, forge, runs, heal or worker_process.heal
        )
    else:
        request_handlers.reply_to_verb(job, asked, forge)


def _located(
    job: ActionContext, asked: CommandRequest, forge: GitHub, runs: Runs
) -> CommandRequest | str:
    """The request with its commit, where only the API knows it; or why there is none."""
    request = asked.request
    if request.trigger == "schedule":
        found = runs.last_red(forge.default_branch(job.run), job.facts().run_id)
        if found is None:
            return "the default branch has no red run"
    elif (request.trigger == "dispatch" and not request.base_sha) or "run-id" in job.inputs:
        found = runs.facts(request.run_id or 0)
        if found is None:
            return f"there is no run {request.run_id}"
    else:
        return asked
    if found.repo.lower() != forge.repo.lower() or not found.branch:
        return f"run {found.id} is of code from {found.repo or 'a deleted fork'}"
    known = replace(
        request, base_sha=found.sha, tested_sha=found.sha, base_ref=found.branch, run_id=found.id,
        good="",
    )  # fmt: skip
    return replace(asked, request=known, artifacts=True)


def _fleeting(request: HealRequest, job: ActionContext) -> str:
    """Why a run of what is no lasting branch starts nothing."""
    if request.base_ref and not is_branch(request.base_ref):
        return f"{one_line(request.base_ref, 80)} is not a branch that a pull request can target"
    if request.base_ref.startswith("gh-readonly-queue/"):
        return "the branch of a merge queue lives for its check alone; heal the pull request"
    tag = job.environ.get("GITHUB_REF_TYPE") == "tag" and request.trigger.startswith("step:")
    if tag and "base" not in job.inputs and "run-id" not in job.inputs:
        return f"{request.base_ref} is a tag; give the input base to say where a repair goes"
    return ""


def _own(request: HealRequest, job: ActionContext) -> str:
    """Why a red run of a proposal of ours starts nothing: it would propose to itself for ever."""
    name = request.base_ref.removeprefix(job.options().prefix)
    if request.trigger in ASKED or name == request.base_ref or not _FINGERPRINT.fullmatch(name):
        return ""
    return f"branch {request.base_ref} is heal-bot's own; ask with a comment to repair it"


def _reply(job: ActionContext, forge: GitHub, told: Ignored, *, once: str) -> None:
    """Answer a request that is not served in one sentence; to `once`, a person, once for all."""
    number, reply_to = told.pull_number, told.reply_to
    if number is None or reply_to is None:
        return
    person = status_comment.person_mark(once) if once else ""
    mark = person or status_comment.mark_of(reply_to, told.actor)
    said = status_comment.render_refused(mark, told.reason)
    try_aside(job.run, lambda: forge.talk.comment(job.run, number, mark, said, keep=bool(once)))
