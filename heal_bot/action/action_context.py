"""This step of the workflow: its settings and inputs, and what the runner is told."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heal_bot.action.webhook_event import EventFacts
from heal_bot.core import settings
from heal_bot.core.errors import BudgetError, ForgeError, HealBotError, ProvisionError, UsageError
from heal_bot.core.events import Run
from heal_bot.core.model import HealRequest
from heal_bot.core.settings import Settings
from heal_bot.core.text import Secret, for_log, for_markdown
from heal_bot.github import actions_runner, permission_check
from heal_bot.github.client import Route
from heal_bot.github.pulls import GitHub
from heal_bot.ports.code_host import try_aside
from heal_bot.publish.delivery_options import Options, Published
from heal_bot.report import console, status_comment, step_summary
from heal_bot.report.failure_status import FAILING
from heal_bot.report.status_sentences import describe_run

if TYPE_CHECKING:
    from heal_bot.core.outcome import OutcomeRecord

# Inputs that are options of `heal` too.
HEALING = ("proposers", "model", "max-usd", "max-minutes", "max-attempts", "min-confidence",
           "candidates", "sandbox", "python-version", "setup", "test-command",
           "working-directory", "build-hosts")  # fmt: skip
_SECRET = frozenset({"github-token", "anthropic-api-key", "gemini-api-key", "openai-api-key",
                     "index-url"})  # fmt: skip
_DELIVERY = frozenset({"mode", "pull-requests", "diagnosis-comment", "base", "branch-prefix",
                       "title", "commit-message", "labels", "reviewers", "assignees", "draft",
                       "signoff"})  # fmt: skip
INPUTS = frozenset({*HEALING, *_SECRET, *_DELIVERY, "openai-base-url", "instruction", "junit",
                    "allow", "bots", "artifacts", "run-id", "app", "freeze", "loopback", "config",
                    "replies", "resume", "paths", "system-packages", "proxy", "ca-file",
                    "max-usd-per-day",
                    "verify-command"})  # fmt: skip
# What a step says to start the container; the runner passes it on like an input.
_RUNNERS = frozenset({"args", "entrypoint"})
_DOWNLOADED = "junit-*"
_TOLD = 5
_NUMBER = re.compile(r"[0-9]{1,18}")
# Where setup-python says that it put the interpreter: its tool cache, by version.
_SET_UP = re.compile(r"[/\\]Python[/\\](3\.[\w.-]{1,30})[/\\]")


@dataclass(frozen=True, slots=True)
class ActionContext:
    """One step of a workflow."""

    settings: Settings
    inputs: Mapping[str, str]
    environ: Mapping[str, str]
    workspace: Path
    run: Run
    now: Callable[[], float] = time.time

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> ActionContext:
        """The job that an environment describes. UsageError for a value that cannot be meant."""
        given = actions_runner.inputs(environ)
        if unknown := sorted(set(given) - INPUTS - _RUNNERS):
            raise UsageError(_unknown(unknown))
        chosen = _settings(environ, given)
        if given.get("allow", "write") not in permission_check.LEVELS:
            raise UsageError(
                f"input allow is {given['allow']!r}; use one of {permission_check.LEVELS}"
            )
        log = console.EventLog()
        run = Run(lambda event: click.echo(line) if (line := log.line(event)) else None)
        folder = Path(environ.get("GITHUB_WORKSPACE") or Path.cwd())
        return cls(chosen, given, environ, folder, run)

    def configured(self, config: bytes | None) -> ActionContext:
        """The job with what the base branch's settings file decides where no input does."""
        return replace(self, settings=_settings(self.environ, self.inputs, config))

    @property
    def bundle(self) -> Path:
        """Where the bundle lies: below the workspace, so that a later step can upload it."""
        return self.workspace / ".heal-bot" / "bundle"

    @property
    def today(self) -> int:
        """The day, counted from 1970."""
        return int(self.now() // 86_400)

    @property
    def bots(self) -> tuple[str, ...]:
        """The accounts that may ask although they are no people."""
        return settings.split_list(self.inputs.get("bots", ""))

    @property
    def allow(self) -> str:
        """The least role of whoever asks by comment."""
        return self.inputs.get("allow", "write")

    @property
    def artifacts(self) -> str:
        """The names of the artifacts that hold reports."""
        return self.inputs.get("artifacts", _DOWNLOADED)

    @property
    def run_url(self) -> str:
        """The page of this run, for people."""
        place, number = self.settings, self.settings.github_run_id
        page = f"{place.github_server_url.rstrip('/')}/{place.github_repository}"
        return f"{page}/actions/runs/{number}" if number.isdigit() else ""

    def inside(self, name: str, given: str = "") -> Path | None:
        """The path below the workspace that an input names, or that is `given` in its place.

        UsageError for one that leaves the workspace.
        """
        told = given or self.inputs.get(name, "")
        if not told:
            return None
        path = self.workspace / told
        if not path.resolve().is_relative_to(self.workspace.resolve()):
            raise UsageError(f"input {name} is {told!r}, outside of the workspace")
        return path

    def facts(self) -> EventFacts:
        """What the runner and the inputs say, for reading the event."""
        patterns = self.inputs.get("junit", "").replace(",", "\n").splitlines()
        chosen, environ = self.settings, self.environ
        run_id = self.inputs.get("run-id", chosen.github_run_id)
        numbered = _NUMBER.fullmatch(run_id) is not None
        if "run-id" in self.inputs and not numbered:
            raise UsageError(f"input run-id is {run_id[:40]!r}; give the number of a workflow run")
        return EventFacts(
            chosen.github_repository,
            environ.get("GITHUB_SHA", ""),
            environ.get("GITHUB_HEAD_REF") or environ.get("GITHUB_REF_NAME", ""),
            int(run_id) if numbered else None,
            tuple(p.strip() for p in patterns if p.strip()),
            chosen.instruction,
            self.bots,
            environ.get("GITHUB_JOB", ""),
            found[1] if (found := _SET_UP.search(environ.get("pythonLocation", ""))) else "",
        )

    def options(self) -> Options:
        """How the result is to be delivered."""
        given = self.inputs
        return Options(
            mode=given.get("mode", "pull-request"),
            prefix=given.get("branch-prefix", "heal-bot/"),
            title=given.get("title", ""),
            commit_message=given.get("commit-message", ""),
            labels=settings.split_list(given.get("labels", "")),
            reviewers=settings.split_list(given.get("reviewers", "")),
            draft=_flag(given, "draft"),
            signoff=_flag(given, "signoff"),
            paths=self.settings.paths,
            project=self.settings.working_directory,
            pull_requests=given.get("pull-requests", ""),
            base=given.get("base", ""),
            diagnosis_comment=_flag(given, "diagnosis-comment"),
            assignees=settings.split_list(given.get("assignees", "")),
        )

    @property
    def route(self) -> Route:
        """How GitHub is reached."""
        return Route(self.settings.proxy, self.settings.ca_file)

    def forge(self, default_branch: str = "") -> GitHub:
        """The repository on GitHub; nothing is asked yet."""
        chosen = self.settings
        return GitHub.open(
            chosen.github_token,
            chosen.github_api_url,
            chosen.github_repository,
            server_url=chosen.github_server_url,
            app=self.inputs.get("app", ""),
            route=self.route,
            default_branch=default_branch,
        )

    def say(
        self,
        forge: GitHub,
        request: HealRequest,
        text: Callable[[str], str],
        *,
        new: bool = False,
    ) -> None:
        """Write the one comment that answers a request, where one is waited for.

        `text` gets its mark. Where the token may not comment that is a warning: the step summary
        says the same.
        """
        number = request.answered_in
        if request.reply_to is None or number is None:
            return
        mark = status_comment.mark_of(request.reply_to, request.actor)
        try_aside(self.run, lambda: forge.talk.comment(self.run, number, mark, text(mark), new=new))

    def tell(self, outputs: Mapping[str, str], text: str) -> None:
        """Write to the runner's files, where there is a runner."""
        actions_runner.tell(
            self.environ, outputs, step_summary.fit_bytes(text, step_summary.STEP_LIMIT - 1)
        )

    def refuse(self, reason: str) -> None:
        """Tell the runner that this is not done, and why."""
        click.echo(actions_runner.annotation("warning", "heal-bot", reason))
        self.tell({"status": "refused"}, step_summary.render_failed(reason))

    def nothing(self, reason: str) -> None:
        """Tell the runner that there is nothing to do, and why."""
        click.echo(for_log(f"nothing to do: {reason}"))
        self.tell({"status": "nothing_to_do"}, for_markdown(reason, 1_000))

    def fail(self, error: HealBotError) -> None:
        """Tell the runner that the run broke."""
        report_broken_run(self.environ, error)

    def finish(self, record: OutcomeRecord, done: Published, callback: str) -> None:
        """Outputs, step summary, and one line in the log."""
        fixed = sum(f.status == "fixed" for f in record.failures)
        failing = sum(f.status in FAILING for f in record.failures)
        told = done.status if done.status in {"superseded", "refused"} else record.status
        patch, suggestion = self.bundle / "patch.diff", self.bundle / "suggestion.diff"
        outputs = {
            "status": told,
            "delivery": done.status,
            "pull-request-url": done.url,
            "pull-request-number": str(done.number or ""),
            "branch": done.branch if done.commit else "",
            "commit-sha": done.commit,
            "operation": done.status if done.status in {"created", "updated"} else "none",
            "patch": str(patch) if patch.exists() else "",
            "suggestion": str(suggestion) if suggestion.exists() else "",
            "fixed": str(fixed),
            "still-failing": str(failing),
            "cost-usd": "" if record.cost.usd is None else f"{record.cost.usd:.4f}",
            "bundle": str(self.bundle),
            "callback": callback,
        }
        self.tell(outputs, step_summary.render_step(record, done.status, done.reason, done.url))
        broken = told in {"environment_error", "sandbox_error"}
        level = "warning" if broken or told in {"superseded", "refused"} else "notice"
        why = broken or told == "explained"
        reason = record.reason if why else f"{done.url} {done.reason}".strip()
        ended = describe_run(record) if told == record.status else told.capitalize()
        said = f"{ended}: {reason}"
        click.echo(actions_runner.annotation(level, "heal-bot", said))


def report_broken_run(environ: Mapping[str, str], error: HealBotError) -> None:
    """Tell the runner of a run that broke, also where its inputs are what is wrong."""
    known = {ProvisionError: "environment_error", BudgetError: "budget_exhausted"}
    told = known.get(type(error), "failed")
    click.echo(actions_runner.annotation("error", "heal-bot", str(error)))
    # The runner's files lie on the disk that may be what is full.
    with contextlib.suppress(ForgeError):
        actions_runner.tell(environ, {"status": told}, step_summary.render_failed(str(error)))


def _settings(
    environ: Mapping[str, str], given: Mapping[str, str], config: bytes | None = None
) -> Settings:
    """The settings of a step: its inputs, then the file, then what the environment says."""
    options: dict[str, object] = {
        name.replace("-", "_"): Secret(value) if name in _SECRET else value
        for name, value in given.items()
    }
    for name in ("proposers", "paths", "build-hosts"):
        options[name.replace("-", "_")] = settings.split_list(given.get(name, ""))
    options["loopback"] = _flag(given, "loopback")
    if named := given.get("ca-file"):
        options["ca_file"] = str(_find_certificates(environ, named))
    known = {name: value for name, value in options.items() if name in Settings.model_fields}
    return settings.load(environ, config, known)


def _find_certificates(environ: Mapping[str, str], named: str) -> Path:
    """The file of certificates below the workspace."""
    workspace = Path(environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    path = (workspace / named).resolve()
    if not path.is_relative_to(workspace) or not path.is_file():
        raise UsageError(f"input ca-file is {named[:200]!r}; the workspace has no such file")
    return path


def _unknown(names: Sequence[str]) -> str:
    """What is wrong with inputs that nobody reads: the run would go on without what they give."""
    import difflib

    told = []
    for name in names[:_TOLD]:
        close = difflib.get_close_matches(name, INPUTS, n=1)
        told.append(f"{name[:40]} (did you mean {close[0]}?)" if close else name[:40])
    return f"unknown input {', '.join(told)}; docs/inputs.md lists every input"


def _flag(given: Mapping[str, str], name: str) -> bool:
    value = given.get(name, "false").lower()
    if value not in {"true", "false"}:
        raise UsageError(f"input {name} is {value[:40]!r}; use true or false")
    return value == "true"
