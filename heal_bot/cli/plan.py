"""`heal-bot plan`: red tests dealt to the jobs of a matrix, without running anything."""

from __future__ import annotations

import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heal_bot.core.errors import UsageError

if TYPE_CHECKING:
    from heal_bot.core.events import Run
    from heal_bot.core.model import Failure, HealRequest

# GitHub runs at most this many jobs of one matrix.
_MOST = 256
PLAN = "plan.json"


@click.command("plan")
@click.option("--repo", type=click.Path(path_type=Path), default=Path(), show_default="here",
              help="The git repository whose tests are red.")  # fmt: skip
@click.option("--junit", "patterns", multiple=True, required=True, metavar="GLOB",
              help="JUnit XML of the failed run; repeatable.")  # fmt: skip
@click.option("--shards", type=click.IntRange(1, _MOST), default=8, show_default=True,
              help="How many jobs at most.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), required=True,
              help="Folder for one request per job.")  # fmt: skip
def command(repo: Path, patterns: tuple[str, ...], shards: int, out: Path) -> None:
    """Deal the failing tests of a report to jobs, and print the matrix as one line of JSON.

    Failures of one place, the innermost function of the project or else the file of the test, go
    to one job, which finds out whether they have one cause. OUT gets `shard-N.json` for
    `heal-bot heal --request`: names of tests travel in files alone, the matrix holds numbers. In a
    workflow it is the output `matrix` too, and the number of jobs the output `shards`.
    Nothing of the repository is run.
    """
    from heal_bot.action import secret_vault
    from heal_bot.cli.console_output import print_events
    from heal_bot.core import request_file as requests
    from heal_bot.core.events import Run
    from heal_bot.github import actions_runner

    run = Run(print_events(err=True))
    failures, request = _failures(run, repo, patterns)
    # What no name can be given to is found out by one job, which runs the test-command.
    dealt = ((),) if failures is None else deal(failures, shards)
    try:
        out.mkdir(parents=True, exist_ok=True)
        for number, part in enumerate(dealt):
            only = tuple(failure.test for failure in part)
            text = requests.dump(replace(request, only=only))
            (out / f"shard-{number}.json").write_text(text, encoding="utf-8")
        named = sum(map(len, dealt))
        summary = {"base_sha": request.base_sha, "failures": named, "shards": len(dealt)}
        (out / PLAN).write_text(json.dumps(summary), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}; give a writable folder") from error
    matrix = json.dumps({"shard": list(range(len(dealt)))})
    if told := secret_vault.copy_environment().get("GITHUB_OUTPUT"):
        actions_runner.write_outputs(Path(told), {"matrix": matrix, "shards": str(len(dealt))})
    click.echo(matrix)


def deal(failures: Sequence[Failure], shards: int) -> tuple[tuple[Failure, ...], ...]:
    """At most `shards` parts of about equal size; failures that may have one cause stay together.

    Several failing tests vouch for a change that one alone does not. The largest group goes to the
    emptiest part (longest processing time first). The order of the failures decides ties, so that
    equal reports are dealt equally.
    """
    groups: dict[str, list[Failure]] = defaultdict(list)
    for failure in failures:
        groups[_site(failure)].append(failure)
    parts: list[list[Failure]] = [[] for _ in range(min(shards, len(groups)))]
    for group in sorted(groups.values(), key=len, reverse=True):
        min(parts, key=len).extend(group)
    return tuple(tuple(part) for part in parts)


def _site(failure: Failure) -> str:
    """Where it was raised: the innermost function of the project, else the test's file."""
    from heal_bot.core.model import Origin

    inner = [frame for frame in failure.frames if frame.origin is Origin.PROJECT]
    if inner:
        return f"{inner[-1].path}:{inner[-1].function}"
    return failure.test.partition("::")[0]


def _failures(
    run: Run, repo: Path, patterns: tuple[str, ...]
) -> tuple[tuple[Failure, ...] | None, HealRequest]:
    """The report's failures by what can be read off the sources, and the request they are for.

    None where a test-command reports by names that the sources do not have.
    """
    from heal_bot import wiring
    from heal_bot.checkout.bare_repository import Repository
    from heal_bot.checkout.checkout_tree import checkout
    from heal_bot.checkout.subproject_tree import narrow_tree
    from heal_bot.core import settings
    from heal_bot.core.model import Collection, HealRequest
    from heal_bot.junit import reader, reported_tests

    chosen = settings.from_process(None, {})
    found = [wiring.locate_pattern(pattern, repo) for pattern in patterns]
    report = reader.read_reports(run, repo.resolve(), found, absolute=True)
    place = chosen.scratch_dir or None
    if place and not os.access(place, os.W_OK | os.X_OK):
        raise UsageError(f"HEAL_BOT_SCRATCH {place}: no folder that can be written; name another")
    with tempfile.TemporaryDirectory(prefix="heal-bot-plan-", dir=place) as name:
        repository = Repository.of(run, repo, Path(name))
        tree = checkout(run, repository, repository.head, Path(name))
        folder = chosen.working_directory
        project = narrow_tree(tree, folder).paths()
        # Tests are collected there alone, and named from the top of the repository.
        paths = tuple(f"{folder}/{path}" for path in project) if folder else project
        request = HealRequest(
            repo=chosen.github_repository,
            base_sha=repository.head,
            base_ref=repository.branch,
            tested_sha=repository.head,
        )
        resolved = reported_tests.resolve(run, report, Collection(()), paths, tree.read)
    if resolved.failures or not chosen.other_command or reported_tests.is_green(report):
        return resolved.failures, request
    said = resolved.nothing or f"the report is {reported_tests.doubt_green(report)}"
    run.warn("intake", f"{said}; one job heals what is red in the test-command")
    return None, request
