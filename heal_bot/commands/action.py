"""`heal-bot action`: the entry of the GitHub Action; reads the event, heals, publishes."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import click

from heal_bot import bundle, process, settings
from heal_bot.errors import HealBotError, UsageError
from heal_bot.events import Run
from heal_bot.forge import actions, admission
from heal_bot.forge.fetch import fetch
from heal_bot.forge.pulls import GitHub
from heal_bot.intake import event as events
from heal_bot.intake import request as requests
from heal_bot.model import HealRequest
from heal_bot.outcome import OutcomeRecord
from heal_bot.publish import Published, publish
from heal_bot.report import console, summary
from heal_bot.settings import Settings
from heal_bot.text import Secret, for_log, for_markdown

# What the child may still need after its deadline to end its sandboxes and write its bundle.
_GRACE = 300.0
_OPTIONS = ("proposers", "model", "max-usd", "max-minutes", "max-attempts", "sandbox")
_INPUTS = frozenset({*_OPTIONS, "github-token", "junit", "anthropic-api-key", "gemini-api-key",
                     "openai-api-key", "openai-base-url", "instruction", "allow"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """This step of the workflow: its settings, inputs, and the runner's files."""

    settings: Settings
    inputs: Mapping[str, str]
    environ: Mapping[str, str]
    workspace: Path
    run: Run

    @property
    def bundle(self) -> Path:
        """Where the bundle lies: below the workspace, so that a later step can upload it."""
        return self.workspace / ".heal-bot" / "bundle"


@click.command("action")
@click.option(
    "--event",
    "event_file",
    type=click.Path(path_type=Path),
    help="The event's payload; by default GITHUB_EVENT_PATH.",
)
def command(event_file: Path | None) -> None:
    """Run as a step of a workflow: inputs from INPUT_*, the event from the runner's file."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    environ = settings.environment()
    job = _job(environ)
    for line in actions.masks(job.settings.secrets):
        click.echo(line)
    path = event_file or Path(environ.get("GITHUB_EVENT_PATH") or "/nonexistent")
    try:
        _serve(job, events.load(path))
    except HealBotError as error:
        click.echo(actions.annotation("error", "heal-bot", str(error)))
        _tell(job, {"status": "failed"}, summary.failed(str(error)))
        raise


def _job(environ: Mapping[str, str]) -> Job:
    given = actions.inputs(environ)
    if unknown := sorted(set(given) - _INPUTS):
        click.echo(actions.annotation("warning", "heal-bot", f"unknown input {unknown[0]}"))
    options: dict[str, object] = {
        name.replace("-", "_"): Secret(value) if name.endswith(("-key", "-token")) else value
        for name, value in given.items()
        if name not in {"junit", "allow"}
    }
    if "proposers" in given:
        options["proposers"] = tuple(p.strip() for p in given["proposers"].split(",") if p.strip())
    if given.get("allow", "write") not in admission.LEVELS:
        raise UsageError(f"input allow is {given['allow']!r}; use one of {admission.LEVELS}")
    chosen = settings.load(environ, options={k: v for k, v in options.items() if k in
                                             Settings.model_fields})  # fmt: skip
    run = Run(lambda event: click.echo(console.line(event)))
    return Job(chosen, given, environ, Path(environ.get("GITHUB_WORKSPACE") or Path.cwd()), run)


def _serve(job: Job, payload: dict[str, object]) -> None:
    """The whole run: event, admission, healing without the token, publishing with it."""
    chosen, environ = job.settings, job.environ
    patterns = job.inputs.get("junit", "").replace(",", "\n").splitlines()
    facts = events.Facts(
        chosen.github_repository,
        environ.get("GITHUB_SHA", ""),
        environ.get("GITHUB_HEAD_REF") or environ.get("GITHUB_REF_NAME", ""),
        int(chosen.github_run_id) if chosen.github_run_id.isdigit() else None,
        tuple(str(job.workspace / p.strip()) for p in patterns if p.strip()),
        chosen.instruction,
    )
    asked = events.read(environ.get("GITHUB_EVENT_NAME", ""), payload, facts)
    if isinstance(asked, events.Ignored) and not asked.answer:
        click.echo(for_log(f"nothing to do: {asked.reason}"))
        _tell(job, {"status": "nothing_to_do"}, for_markdown(asked.reason, 1_000))
        return
    forge = GitHub.open(chosen.github_token, chosen.github_api_url, facts.repo)
    if isinstance(asked, events.Ignored):
        _refuse(job, asked.reason)
        return
    admitted = admission.admit(job.run, asked.request, forge, job.inputs.get("allow", "write"))
    if admitted.refusal:
        _refuse(job, admitted.refusal)
        if asked.request.reply_to and asked.request.pull_number:
            mark = f"<!-- heal-bot request {asked.request.reply_to} -->"
            text = f"{mark}\nNot started: {for_markdown(admitted.refusal, 300)}."
            forge.comment(job.run, asked.request.pull_number, mark, text)
        return
    record = _heal(job, admitted.request, asked.report)
    done = publish(job.run, record, admitted.request, forge)
    _finish(job, record, done)


def _refuse(job: Job, reason: str) -> None:
    click.echo(actions.annotation("warning", "heal-bot", reason))
    _tell(job, {"status": "refused"}, summary.failed(reason))


def _heal(job: Job, request: HealRequest, report: str) -> OutcomeRecord:
    """Heal in a child process that never sees the token; the bundle it leaves is read as foreign.

    What the child prints is shown between commands that stop the runner from obeying it.
    """
    chosen = job.settings
    with tempfile.TemporaryDirectory(prefix="heal-bot-action-") as name:
        scratch = Path(name)
        repository = fetch(
            job.run, chosen.github_token, chosen.github_server_url, chosen.github_repository,
            request.base_sha, scratch / "repository",
        )  # fmt: skip
        if report:
            (scratch / "report.xml").write_text(report, encoding="utf-8")
            request = replace(request, reports=(str(scratch / "report.xml"),))
        (scratch / "request.json").write_text(requests.dump(request), encoding="utf-8")
        # An older bundle must not pass for this run's when the child fails.
        shutil.rmtree(job.bundle, ignore_errors=True)
        job.bundle.parent.mkdir(parents=True, exist_ok=True)
        (job.bundle.parent / ".gitignore").write_text("*\n")
        argv = [sys.executable, "-I", "-m", "heal_bot", "heal", "--repo", str(repository),
                "--request", str(scratch / "request.json"), "--out", str(job.bundle)]  # fmt: skip
        for option in _OPTIONS:
            if option in job.inputs:
                argv += [f"--{option}={job.inputs[option]}"]
        stop, resume = actions.pause()
        click.echo(stop)
        done = process.run(
            argv,
            env=_environment(chosen, scratch),
            cwd=scratch,
            seconds=chosen.max_minutes * 60 + _GRACE,
            tee=_show,
        )
        click.echo(resume)
    actions.give_back(job.bundle.parent, job.workspace)
    if not done.ok and not (job.bundle / bundle.OUTCOME).exists():
        raise HealBotError(f"the run that heals failed: {done.complaint()}")
    return bundle.read(job.bundle)


def _environment(chosen: Settings, scratch: Path) -> dict[str, str]:
    """The child's environment, from an allow-list: model keys and addresses, never the token."""
    known = {
        "PATH": os.defpath + ":/usr/local/bin",
        "HOME": str(scratch),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "ANTHROPIC_API_KEY": chosen.anthropic_api_key.reveal(),
        "GEMINI_API_KEY": chosen.gemini_api_key.reveal(),
        "OPENAI_API_KEY": chosen.openai_api_key.reveal(),
        "OPENAI_BASE_URL": chosen.openai_base_url,
        "ANTHROPIC_BASE_URL": chosen.anthropic_base_url,
        "GEMINI_BASE_URL": chosen.gemini_base_url,
        "GITHUB_REPOSITORY": chosen.github_repository,
        "VIRTUAL_ENV": chosen.virtual_env,
        "HEAL_BOT_CACHE": chosen.cache_dir,
        "HEAL_BOT_SCRATCH": chosen.scratch_dir,
        "HEAL_BOT_SANDBOX": chosen.sandbox,
    }
    return {name: value for name, value in known.items() if value}


def _show(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _finish(job: Job, record: OutcomeRecord, done: Published) -> None:
    """Outputs, step summary, and one line in the log."""
    fixed = sum(f.status == "fixed" for f in record.failures)
    failing = sum(f.status in {"still_failing", "not_attempted"} for f in record.failures)
    status = done.status if done.status in {"stale", "refused"} else record.status
    patch = job.bundle / "patch.diff"
    outputs = {
        "status": status,
        "pull-request-url": done.url,
        "pull-request-number": str(done.number or ""),
        "patch": str(patch) if patch.exists() else "",
        "fixed": str(fixed),
        "still-failing": str(failing),
        "cost-usd": "" if record.cost.usd is None else f"{record.cost.usd:.4f}",
        "bundle": str(job.bundle),
    }
    _tell(job, outputs, summary.step(record, done.status, done.reason, done.url))
    level = "notice" if status not in {"stale", "refused"} else "warning"
    said = f"{status}: {done.url or done.reason}"
    click.echo(actions.annotation(level, "heal-bot", said))


def _tell(job: Job, outputs: Mapping[str, str], text: str) -> None:
    """Write to the runner's files, where there is a runner."""
    if path := job.environ.get("GITHUB_OUTPUT"):
        actions.write_outputs(Path(path), outputs)
    if path := job.environ.get("GITHUB_STEP_SUMMARY"):
        actions.write_summary(Path(path), summary.fit(text, summary.STEP_LIMIT - 1))
