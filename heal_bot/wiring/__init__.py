"""The composition root: settings become real edges, and the pipeline runs on them."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from heal_bot.checkout.bare_repository import Repository
from heal_bot.checkout.checkout_tree import list_committed, list_dirty
from heal_bot.core import bundle, pytest_options
from heal_bot.core import request_file as requests
from heal_bot.core.errors import UsageError, limit_errors
from heal_bot.core.events import Event, Run, Underway
from heal_bot.core.model import HealRequest, Memory, Outcome, RunHints, Trust
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.core.settings import Settings, close_untrusted
from heal_bot.core.text import Secret, count, redact
from heal_bot.environments import apt_packages
from heal_bot.environments.environment_request import Access, Wanted, find_programs
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.junit import command_results, pip_freeze
from heal_bot.ports import Critic, Proposer, RunContext, Runner
from heal_bot.repair.search import attempt_history
from heal_bot.report import console, html, pull_request_body
from heal_bot.report.outcome_record import flatten
from heal_bot.sandbox.sandbox_client import Launch, Sandbox, launch_sandbox
from heal_bot.testrun.command_runner import CommandRunner
from heal_bot.testrun.runner import SuiteRunner
from heal_bot.testrun.wheel_builder import SandboxBuilder
from heal_bot.wiring.proposers import NOTHING, CustomProposers, make_tiers


@dataclass(frozen=True, slots=True)
class HealJob:
    """What the command line asks of `heal`, beside the settings."""

    repo: Path
    out: Path
    junit: tuple[str, ...] = ()
    python: Path | None = None
    only: tuple[str, ...] = ()
    good: str = ""
    targets: tuple[str, ...] = ()
    request_file: Path | None = None
    memory: Path | None = None
    replies: Path | None = None


@dataclass(slots=True)
class BundleStore:
    """Keeps the bundle on disk up to date with what is verified."""

    folder: Path
    secrets: tuple[Secret, ...]
    project: str = ""
    events: list[Event] = field(default_factory=list)
    record: OutcomeRecord | None = None
    # When the clock of the run was 0, in epoch seconds.
    zero: float = field(default_factory=lambda: time.time() - time.monotonic())

    def save(self, outcome: Outcome) -> None:
        """Replace the bundle by the outcome as it stands."""
        record = flatten(outcome, self.secrets, self.project)
        texts = {
            "attempts.jsonl": _lines(a.model_dump_json() for a in record.attempts),
            "events.jsonl": _lines(console.json_line(event, self.zero) for event in self.events),
            "memory.json": attempt_history.dump(outcome.memory),
            "pull_request.md": pull_request_body.pull_request(record)[1],
            "report.html": html.render_page(record),
        }
        diffs = {"patch.diff": record.patch, "suggestion.diff": record.suggestion}
        texts |= {name: found.diff for name, found in diffs.items() if found is not None}
        bundle.write(self.folder, record, texts)
        self.record = record


@dataclass(frozen=True, slots=True)
class Connected:
    """Everything the pipeline needs to run on the real world, and the store of its bundle."""

    run: Run
    request: HealRequest
    root: Path
    workspace: LocalWorkspace
    runner: Runner
    proposers: tuple[Proposer, ...]
    critics: tuple[Critic, ...]
    store: BundleStore
    remembered: Memory


@contextmanager
def connect(
    job: HealJob,
    settings: Settings,
    sink: Callable[[Event], None],
    stopped: Callable[[], bool],
    own: CustomProposers = NOTHING,
    launch: Launch | None = None,
) -> Iterator[Connected]:
    """The edges for a job, as long as the context lasts.

    The sandbox's supervisor is started before anything else, so that it holds no key; `launch` is
    one that was started already.
    """
    place = settings.scratch_dir or None
    with (
        (launch or launch_sandbox(settings)).ready() as sandbox,
        tempfile.TemporaryDirectory(prefix="heal-bot-", dir=place) as scratch,
    ):
        store = BundleStore(job.out, settings.secrets, settings.working_directory)
        run = _run(settings, store, sink, stopped)
        with limit_errors(run.left):
            repository = Repository.of(run, job.repo, Path(scratch))
            request = _request(run, job, settings, repository, Path(scratch))
            apt_packages.install(
                run,
                apt_packages.parse_names(settings.system_packages),
                apt_packages.PATH,
                os.environ,
            )
        request = replace(
            request,
            paths=_paths(request.paths or settings.paths, settings.test_command),
            verify_command=request.verify_command or settings.verify_command,
            test_command=settings.test_command,
        )
        chosen = make_tiers(settings, repository.source, job.replies, own)
        places = repository, Path(scratch), job.python
        workspace = _workspace(run, settings, request.trust, sandbox, *places)
        yield Connected(
            run=run,
            request=request,
            root=repository.source,
            workspace=workspace,
            runner=_runner(settings, sandbox, workspace),
            proposers=chosen.proposers,
            critics=chosen.critics,
            store=store,
            remembered=attempt_history.join_memories(attempt_history.load(job.memory), own.before),
        )


@contextmanager
def open_bench(
    repo: Path,
    python: Path | None,
    settings: Settings,
    sink: Callable[[Event], None],
    sha: str,
    hints: RunHints,
) -> Iterator[RunContext]:
    """What a commit is verified with, for a while: no proposer, no store, no key."""
    place = settings.scratch_dir or None
    with (
        launch_sandbox(settings).ready() as sandbox,
        tempfile.TemporaryDirectory(prefix="heal-bot-", dir=place) as scratch,
    ):
        run = Run(sink)
        run = replace(run, deadline=run.clock() + settings.max_minutes * 60)
        repository = Repository.of(run, repo, Path(scratch))
        places = repository, Path(scratch), python
        workspace = _workspace(run, settings, Trust.KEYLESS, sandbox, *places)
        tree = workspace.checkout(run, sha)
        env = workspace.provision(run, tree, hints)
        yield RunContext(run, _runner(settings, sandbox, workspace), workspace, tree, env)


def _runner(settings: Settings, sandbox: Sandbox, workspace: LocalWorkspace) -> Runner:
    """pytest, with the options that are asked for, or the command that takes its place."""
    options = pytest_options.find_options(settings.test_command)
    passes = pytest_options.find_variables(settings.test_command)
    passes |= {pytest_options.VARIABLE: options} if options else {}
    suite = SuiteRunner(
        sandbox, loopback=settings.loopback, below=settings.working_directory,
        passes=passes, changed=workspace.changed,
    )  # fmt: skip
    command = settings.other_command
    return (
        CommandRunner(sandbox, suite, command, command_results.read_results) if command else suite
    )


def _paths(patterns: tuple[str, ...], command: str) -> tuple[str, ...]:
    """Where a repair may go: not into the scripts that the test command names."""
    scripts = (word for word in re.split(r"[^\w./-]+", command) if word.endswith(".py"))
    return (*patterns, *dict.fromkeys(f"!{script.removeprefix('./')}" for script in scripts))


def _workspace(
    run: Run,
    settings: Settings,
    trust: Trust,
    sandbox: Sandbox,
    repository: Repository,
    scratch: Path,
    python: Path | None,
) -> LocalWorkspace:
    """Where tests run; code of an untrusted head meets neither credentials nor a host."""
    settings, lost = (settings, ()) if trust is Trust.TRUSTED else close_untrusted(settings)
    for name in lost:
        message = f"{name} is not used: what is verified, or of an untrusted head, never meets it"
        run.warn("workspace", message)
    return LocalWorkspace(
        repository, scratch, cache=_cache(settings),
        builder=SandboxBuilder(sandbox, settings.build_hosts),
        given=python, candidates=_interpreters(settings, repository.source),
        folder=settings.working_directory, wanted=_wanted(run, settings, repository.source),
    )  # fmt: skip


def _run(
    settings: Settings,
    store: BundleStore,
    sink: Callable[[Event], None],
    stopped: Callable[[], bool],
) -> Run:
    """The run: events go to the bundle and to whoever listens, without any secret."""

    def both(event: Event) -> None:
        clean = _redacted(event, settings.secrets)
        if not isinstance(clean, Underway):
            store.events.append(clean)
        sink(clean)

    run = Run(both, stopped=stopped)
    return replace(run, deadline=run.clock() + settings.max_minutes * 60)


def _redacted(event: Event, secrets: Sequence[Secret]) -> Event:
    texts: dict[str, Any] = {
        part.name: redact(value, secrets)
        for part in fields(event)
        if part.init and isinstance(value := getattr(event, part.name), str)
    }
    return replace(event, **texts)


def _request(
    run: Run, job: HealJob, settings: Settings, repository: Repository, scratch: Path
) -> HealRequest:
    """The request in the file, or one for the HEAD of the repository, which must be clean."""
    if job.request_file is not None:
        return requests.load(job.request_file)
    if changed := list_dirty(
        repository.source, list_committed(run, repository, repository.head, scratch)
    ):
        raise UsageError(
            f"{count(len(changed), 'file')} changed since commit {repository.head[:12]}, such as"
            f" {changed[0]}; commit or stash first: a patch needs a fixed base"
        )
    return HealRequest(
        repo=settings.github_repository,
        base_sha=repository.head,
        base_ref=repository.branch,
        tested_sha=repository.head,
        reports=tuple(locate_pattern(given, job.repo) for given in job.junit),
        only=job.only,
        good=repository.resolve(run, job.good) if job.good else "",
        targets=job.targets,
        instruction=settings.instruction,
    )


def locate_pattern(pattern: str, repo: Path) -> str:
    """A pattern as an absolute one: relative to here when that matches, else to the repository."""
    if Path(pattern).is_absolute():
        return pattern
    here = Path.cwd()
    try:
        matches = any(here.glob(pattern))
    except ValueError:  # such as an empty pattern, which the reader of reports names
        matches = False
    return os.path.normpath((here if matches else repo.resolve()) / pattern)


def _interpreters(settings: Settings, source: Path) -> tuple[Path, ...]:
    """Where the target's Python may be: the active environment, then the repository's own."""
    active = (Path(settings.virtual_env),) if settings.virtual_env else ()
    inner = source / settings.working_directory
    places = (inner / ".venv", inner / "venv", source / ".venv", source / "venv")
    return (*active, *dict.fromkeys(places))


def _wanted(run: Run, settings: Settings, source: Path) -> Wanted:
    """What is said of the environment."""
    top = Path(settings.workspace) if settings.workspace else source
    return Wanted(
        python=settings.python_version,
        setup=settings.setup,
        freeze=pip_freeze.choose_freeze(run, settings.freeze, settings.setup),
        # Where the failing run may have left its environment: in the project, then at the top.
        folders=tuple(dict.fromkeys((top / settings.working_directory, top))),
        programs=find_programs(settings.test_command),
        access=Access(settings.index_url, settings.ca_file, settings.proxy),
    )


def _cache(settings: Settings) -> Path:
    """Where copies of interpreters are kept between runs; every uid must be able to reach it."""
    if settings.cache_dir:
        return Path(settings.cache_dir)
    return Path(tempfile.gettempdir()) / f"heal-bot-cache-{os.getuid()}"


def _lines(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)
