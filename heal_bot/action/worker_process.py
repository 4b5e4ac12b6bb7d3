"""The run that heals, in a child process that never sees the token."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from heal_bot.action import secret_vault
from heal_bot.action.action_context import HEALING, ActionContext
from heal_bot.action.webhook_event import EventPlace
from heal_bot.core import bundle, process
from heal_bot.core import request_file as requests
from heal_bot.core.errors import BudgetError, HealBotError, ProvisionError, UsageError
from heal_bot.core.model import HealRequest, Memory, Trust
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.core.settings import CONFIG, Settings
from heal_bot.environments import apt_packages
from heal_bot.environments.target_interpreter import readable_by_others
from heal_bot.github import actions_runner
from heal_bot.github.commit_fetch import Fetched, fetch
from heal_bot.junit import report_files
from heal_bot.junit.pip_freeze import NAME, find_files, find_frozen
from heal_bot.repair.search import attempt_history as memories
from heal_bot.source import functions

_RECORDS = ".jsonl"
# What the child may still need after its deadline to end its sandboxes and write its bundle.
_GRACE = 300.0
_REPORTS = "heal-bot-reports"
_CHUNK = 1 << 20
# The model keys and the index with its credentials; the token is not among them.
_KEYS = ("anthropic_api_key", "gemini_api_key", "openai_api_key", "index_url")
# What the child is told by its environment.
_TOLD = ("openai_base_url", "anthropic_base_url", "gemini_base_url", "github_repository",
         "virtual_env", "ca_file", "workspace", "cache_dir", "scratch_dir", "sandbox",
         "python_version", "setup", "test_command", "working_directory")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be healed: an admitted request, its reports, what is remembered.

    `report` is XML of the event itself, `downloaded` are files; `config_ref` is the branch whose
    configuration counts; `place` is the line that picks a function. `resumed` was interrupted.
    `spent` are the dollars that the day has cost.
    """

    request: HealRequest
    memory: Memory
    config_ref: str = ""
    report: str = ""
    downloaded: tuple[Path, ...] = ()
    place: EventPlace | None = None
    resumed: OutcomeRecord | None = None
    spent: float = 0.0


def heal(job: ActionContext, task: Task) -> OutcomeRecord:
    """Heal in a child process; the bundle it leaves is read as foreign."""
    asked = job.settings
    with tempfile.TemporaryDirectory(prefix="heal-bot-action-") as name:
        scratch = Path(name)
        fetched = fetch(
            job.run, asked.github_token, asked.github_server_url, asked.github_repository,
            task.request.base_sha, scratch / "repository", task.config_ref,
            task.request.tested_sha, task.request.good, job.route,
        )  # fmt: skip
        config = _config(job, fetched)
        job = job.configured(config)
        chosen = job.settings
        reports = _gathered(job, task, fetched.folder / _REPORTS)
        targets = (*task.request.targets, *_pointed(task.place, task.request.base_sha, fetched))
        request = replace(
            task.request,
            reports=reports,
            targets=targets,
            paths=chosen.paths,
            verify_command=chosen.verify_command,
        )
        argv = [*_argv(job, request, scratch, fetched), *_frozen(job, task, scratch)]
        argv += _left_of_day(job, task.spent)
        if config is not None:
            (scratch / "config.yml").write_bytes(config)
            argv += [f"--config={scratch / 'config.yml'}"]
        if task.resumed is not None:
            (scratch / "resumed").mkdir()
            text = bundle.dump(task.resumed)
            (scratch / "resumed" / bundle.OUTCOME).write_text(text, encoding="utf-8")
            argv += [f"--resume={scratch / 'resumed'}"]
        (scratch / "request.json").write_text(requests.dump(request), encoding="utf-8")
        (scratch / "memory.json").write_text(memories.dump(task.memory), encoding="utf-8")
        make_room(job)
        packages = apt_packages.parse_names(chosen.system_packages)
        apt_packages.install(job.run, packages, apt_packages.PATH, job.environ)
        done = _run(chosen, request, argv, scratch)
    actions_runner.give_back(job.bundle.parent, job.workspace)
    if (replies := _replies(job)) is not None and replies.exists():
        actions_runner.give_back(replies, job.workspace)
    if not done.ok and not (job.bundle / bundle.OUTCOME).exists():
        if done.full:
            raise ProvisionError(
                f"the disk filled while healing ({done.complaint()}): free space before the step "
                "runs"
            )
        if done.ended == "timeout":
            raise BudgetError("the run that heals did not end in time: raise max-minutes")
        raise HealBotError(f"the run that heals failed: {done.complaint()}")
    return bundle.read(job.bundle)


def _run(
    chosen: Settings, request: HealRequest, argv: Sequence[str], scratch: Path
) -> process.Completed:
    """The child; what it prints stands between commands that stop the runner from obeying it."""
    stop, resume = actions_runner.pause()
    click.echo(actions_runner.command("group", f"heal-bot: {request.base_sha[:12]}"))
    click.echo(stop)
    try:
        return process.run(
            argv,
            env=_environment(chosen, request.trust, scratch),
            cwd=scratch,
            seconds=chosen.max_minutes * 60 + _GRACE,
            stdin=secret_vault.pack_secrets(
                chosen.environ(*_KEYS) if request.trust is Trust.TRUSTED else {}
            ),
            tee=_show,
        )
    finally:
        click.echo(resume)
        click.echo(actions_runner.command("endgroup"))


def make_room(job: ActionContext) -> None:
    """The place of the bundle, empty: an older one must not pass for this run's."""
    above = job.bundle.parent
    if above.is_symlink() or job.bundle.is_symlink():
        raise UsageError(f"{above} is a link or holds one; remove it, the bundle lies below it")
    try:
        shutil.rmtree(job.bundle, ignore_errors=True)
        above.mkdir(parents=True, exist_ok=True)
        # Made anew: what earlier steps left there could lead elsewhere.
        (above / ".gitignore").unlink(missing_ok=True)
        (above / ".gitignore").write_text("*\n")
    except OSError as error:
        raise ProvisionError(
            f"the workspace {job.workspace} cannot be written ({error.strerror}): the bundle lies "
            "below it; mount it writable and free space"
        ) from error


def _argv(job: ActionContext, request: HealRequest, scratch: Path, fetched: Fetched) -> list[str]:
    argv = [sys.executable, "-I", "-m", "heal_bot", "heal", "--secrets-stdin",
            "--repo", str(fetched.folder), "--request", str(scratch / "request.json"),
            "--memory", str(scratch / "memory.json"), "--out", str(job.bundle)]  # fmt: skip
    for option in HEALING:
        if option in job.inputs and not (option == "proposers" and request.trust is Trust.KEYLESS):
            argv += [f"--{option}={job.inputs[option]}"]
    if request.trust is Trust.KEYLESS:
        argv += ["--proposers=rules"]
    if (replies := _replies(job)) is not None and request.trust is not Trust.KEYLESS:
        argv += [f"--replies={replies}"]
    if job.settings.loopback:
        argv += ["--loopback"]
    return argv


def _left_of_day(job: ActionContext, spent: float) -> list[str]:
    """What is left of the day's dollars, where that is less than a run may cost."""
    chosen = job.settings
    left = max(0.0, chosen.max_usd_per_day - spent)
    if left >= chosen.max_usd or chosen.tiers() == ("rules",):
        return []
    message = (
        f"${spent:.2f} of the day's ${chosen.max_usd_per_day:g} are spent; this run has ${left:.2f}"
    )
    job.run.warn("intake", message)
    # The last of an option counts.
    return [f"--max-usd={left:.4f}"]


def _config(job: ActionContext, fetched: Fetched) -> bytes | None:
    """The settings file of the base branch; UsageError where one is named that is not there."""
    name = job.inputs.get("config", CONFIG)
    config = fetched.read(fetched.config, name)
    if config is None and "config" in job.inputs:
        raise UsageError(f"input config is {name!r}: the base branch has no such file")
    return config


def _frozen(job: ActionContext, task: Task, scratch: Path) -> list[str]:
    """The versions of the failing run: the file that is named, else the one beside its reports.

    A pattern that matches nothing names none; the child tells so where there is no other.
    """
    named = job.inside("freeze", job.settings.freeze)
    given = [] if named is None else [f"--freeze={named}"]
    if named is not None and find_files(str(named)):
        return given
    data = find_frozen(task.downloaded)
    if data is None or job.settings.setup:
        return given
    path = scratch / NAME
    path.write_bytes(data)
    return [f"--freeze={path}"]


def _replies(job: ActionContext) -> Path | None:
    """Where answers of models are kept between jobs: records, for no database may be restored."""
    path = job.inside("replies")
    if path is not None and path.suffix != _RECORDS:
        raise UsageError(f"input replies is {path.name!r}; give a file that ends in {_RECORDS}")
    return path


def _gathered(job: ActionContext, task: Task, folder: Path) -> tuple[str, ...]:
    """Copies of all reports below the repository, where the child may read them.

    Those of the workspace keep their path and time, by which later attempts are told.
    """
    folder.mkdir()
    if task.report:
        (folder / "event.xml").write_text(task.report, encoding="utf-8")
    for path in task.downloaded:
        shutil.copy2(path, folder / path.name)
    if task.request.reports:
        _copied(job.workspace, task.request.reports, folder / "workspace")
    return (f"{_REPORTS}/**",) if any(folder.iterdir()) else ()


def _copied(workspace: Path, patterns: Sequence[str], folder: Path) -> None:
    """Plain files below the workspace, copied without following a link."""
    for place in report_files.find(workspace, patterns):
        opened = report_files.open_report(place)
        if isinstance(opened, str):
            raise UsageError(f"report {place.name}: {opened}")
        target = folder / place.name
        target.parent.mkdir(parents=True, exist_ok=True)
        with opened.file as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy, _CHUNK)
        os.utime(target, (opened.modified, opened.modified))


def _pointed(place: EventPlace | None, base_sha: str, fetched: Fetched) -> tuple[str, ...]:
    """The innermost function around a line of the commit, as `path::qualname`."""
    if place is None or place.sha != base_sha:
        return ()
    data = fetched.read(base_sha, place.path)
    if data is None or not place.path.endswith(".py"):
        return ()
    try:
        found = functions.index_targets(place.path, data.decode("utf-8"))
    except (HealBotError, UnicodeDecodeError):
        return ()
    around = [
        t for t in found if t.kind == "function" and t.first_line <= place.line <= t.last_line
    ]
    around.sort(key=lambda target: target.last_line - target.first_line)
    return tuple(f"{place.path}::{target.qualname}" for target in around[:1])


def _environment(chosen: Settings, trust: Trust, scratch: Path) -> dict[str, str]:
    """The child's environment, from an allow-list: addresses and folders, no key, no token.

    A proxy's address may hold a password: it is for trusted code alone.
    """
    own = {
        "PATH": os.defpath + ":/usr/local/bin",
        "HOME": str(scratch),
        "TMPDIR": _temporary(scratch.parent),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
    }
    proxy = chosen.environ("proxy") if trust is Trust.TRUSTED else {}
    own |= chosen.environ(*_TOLD) | proxy
    return {name: value for name, value in own.items() if value}


def _temporary(folder: Path) -> str:
    """The step's folder for temporary files; none that the user of the tests cannot enter."""
    return str(folder) if os.geteuid() != 0 or readable_by_others(folder) else ""


def _show(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
